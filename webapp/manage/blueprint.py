"""The blueprint of the managers' pages, and what the pages of a queue share."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, render_template

from leaseq import Queue

bp = Blueprint("manage", "leaseq.webapp.manage")


def queue_page(template: str, queue: Queue, **values: Any) -> str:
    """A page of a queue: the values of the template, the queue and its policy."""
    return render_template(template, queue=queue, policy=queue.policy, **values)
