"""The pages about people: the list, invitations, and the audit log."""

from flask import Blueprint

bp = Blueprint("people", __name__)

from leaseq.webapp.people import bulk, detail, erasing, index, log  # noqa: E402, F401  # these register routes on bp
