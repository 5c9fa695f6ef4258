"""The managers' pages for webhooks: the endpoints, and the deliveries to each."""

from leaseq.webapp.webhooks import pages
from leaseq.webapp.webhooks.blueprint import bp

__all__ = ["bp"]
