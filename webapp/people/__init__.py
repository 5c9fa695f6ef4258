"""The pages about people: the list, invitations, figures, and the audit log."""

from leaseq.webapp.people import bulk, detail, figures, index, log
from leaseq.webapp.people.blueprint import bp

__all__ = ["bp"]
