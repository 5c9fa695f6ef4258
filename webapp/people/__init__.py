"""The admins' pages: people, invitations, and the log of who changed what."""

from flask import Blueprint

bp = Blueprint("people", __name__)

from leaseq.webapp.people import bulk, detail, erasing, index, log  # noqa: E402, F401  # they add their routes to bp
