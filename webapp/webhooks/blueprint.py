"""The blueprint of the managers' pages for webhooks."""

from flask import Blueprint

bp = Blueprint("webhooks", "leaseq.webapp.webhooks")
