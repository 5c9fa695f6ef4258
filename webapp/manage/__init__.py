"""The managers' pages: queues, their items, their settings, import and export."""

from leaseq.webapp.manage import (
    answers,
    charts,
    dashboard,
    item,
    items,
    reports,
    trials,
)
from leaseq.webapp.manage.blueprint import bp
from leaseq.webapp.manage.bulk import export
from leaseq.webapp.manage.bulk import pages as bulk_pages
from leaseq.webapp.manage.importing import new_queue, pages
from leaseq.webapp.manage.settings import access, form

__all__ = ["bp"]
