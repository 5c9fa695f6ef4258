"""The pages about people: the list, invitations, and the audit log."""

from leaseq.webapp.people import bulk, detail, index, log
from leaseq.webapp.people.blueprint import bp

__all__ = ["bp"]
