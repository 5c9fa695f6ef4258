"""The blueprint of the pages about people."""

from flask import Blueprint

bp = Blueprint("people", "leaseq.webapp.people")
