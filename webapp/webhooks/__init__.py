"""The managers' pages for webhooks: the endpoints, and the deliveries to each."""

from leaseq.webapp.webhooks.pages import bp

__all__ = ["bp"]
