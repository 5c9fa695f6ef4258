"""REST under /api/v1."""

from leaseq.webapp.api import (
    enqueue,
    events,
    files,
    items,
    leases,
    people,
    questions,
    queues,
    tokens,
    webhooks,
)
from leaseq.webapp.api.blueprint import ABOUT, SECURITY, VERSION, bp
from leaseq.webapp.api.description.openapi import complete
from leaseq.webapp.api.models.responses import Problem

__all__ = ["ABOUT", "SECURITY", "VERSION", "Problem", "bp"]

complete(bp)
