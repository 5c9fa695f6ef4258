"""The managers' pages for webhooks: the endpoints, and the deliveries to each."""

from flask import Blueprint

bp = Blueprint("webhooks", __name__)

from leaseq.webapp.webhooks import actions, pages  # noqa: E402, F401  # they add their routes to bp
