"""The admins' pages: people, invitations, and the log of who changed what."""

from flask import Blueprint

bp = Blueprint("people", __name__)

from leaseq.webapp.people import detail, erasing, index, log, many  # noqa: E402, F401  # they add their routes to bp
