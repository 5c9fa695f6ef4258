"""Health checks: liveness and readiness."""

from __future__ import annotations

from flask import Blueprint

from leaseq.webapp.context import accounts

bp = Blueprint("health", __name__)


@bp.get("/healthz")
def healthz() -> dict[str, str]:
    """The process answers."""
    return {"status": "alive"}


@bp.get("/readyz")
def readyz() -> dict[str, str]:
    """The server takes writes; 503 otherwise."""
    accounts().check_writes()
    return {"status": "ready"}
