"""Is the app alive, and can it reach its server."""

from __future__ import annotations

from flask import Blueprint

from webapp.state import state

bp = Blueprint("health", __name__)


@bp.get("/healthz")
def healthz() -> dict[str, str]:
    """The process answers."""
    return {"status": "alive"}


@bp.get("/readyz")
def readyz() -> dict[str, str]:
    """The server answers too; 503 otherwise."""
    state().client.ping()
    return {"status": "ready"}
