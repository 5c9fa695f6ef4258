"""The blueprint of the managers' pages."""

from flask import Blueprint

bp = Blueprint("manage", "leaseq.webapp.manage")
