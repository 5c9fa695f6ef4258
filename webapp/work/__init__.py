"""The pages for people who work: home, and the work page."""

from flask import Blueprint

bp = Blueprint("work", __name__)

from leaseq.webapp.work import breaks, commands, day, finishing, give_back, home, live, nothing, page, thread  # noqa: E402, F401  # they add their routes to bp
