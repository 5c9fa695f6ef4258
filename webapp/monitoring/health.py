"""Health checks: liveness and readiness."""

from __future__ import annotations

from flask import Blueprint

from leaseq.webapp.context import accounts
from leaseq.webapp.serving import shutdown
from leaseq.webapp.serving.problem import Problem

bp = Blueprint("health", __name__)


@bp.get("/healthz")
def healthz() -> dict[str, str]:
    """Return 200 if the process responds."""
    return {"status": "alive"}


@bp.get("/readyz")
def readyz() -> dict[str, str]:
    """Return 200 if the server accepts writes and the process is not stopping; 503 otherwise."""
    if shutdown.has_begun():
        raise Problem(503, "stopping", "this web process is stopping: send no more requests to it")
    accounts().check_writes()
    return {"status": "ready"}
