"""The managers' pages: queues, their items, their settings, import and export."""

from leaseq.webapp.manage import (
    access,
    answers,
    charts,
    dashboard,
    item,
    items,
    reports,
    settings,
    trials,
)
from leaseq.webapp.manage.blueprint import bp
from leaseq.webapp.manage.bulk import export
from leaseq.webapp.manage.bulk import pages as bulk_pages
from leaseq.webapp.manage.importing import new_queue, pages

__all__ = ["bp"]
