"""The workers' pages: home, and the work page."""

from flask import Blueprint

bp = Blueprint("work", __name__)

from leaseq.webapp.work import breaks, commands, day, finishing, give_back, home, live, nothing, page, thread  # noqa: E402, F401  # these register routes on bp
