"""The blueprint of the workers' pages."""

from flask import Blueprint

bp = Blueprint("work", "leaseq.webapp.work")
