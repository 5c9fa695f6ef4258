"""The managers' pages: queues, their items, their settings, import and export."""

from flask import Blueprint

bp = Blueprint("manage", __name__)

from leaseq.webapp.manage import (  # noqa: E402, F401  # these register routes on bp
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
