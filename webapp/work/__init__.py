"""The workers' pages: home, and the work page."""

from leaseq.webapp.work import announcements, commands, day, endings, home, live, page
from leaseq.webapp.work.blueprint import bp

__all__ = ["bp"]
