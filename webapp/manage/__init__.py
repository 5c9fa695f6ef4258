"""The manager's pages: queues, their items, their settings, import and export."""

from flask import Blueprint

bp = Blueprint("manage", __name__)

from leaseq.webapp.manage import (  # noqa: E402, F401  # they add their routes to bp
    access,
    answers,
    answers_page,
    bulk,
    charts,
    deleting,
    first_queue,
    imports,
    item,
    items,
    late,
    queues,
    reports,
    settings,
    thread,
    transfers,
    try_out,
    views,
)
