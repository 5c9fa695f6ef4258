"""A warning about a queue's title that looks like another queue's."""

from __future__ import annotations

from flask import flash
from flask_babel import gettext as _

import leaseq
from leaseq.names import find_lookalike
from leaseq.webapp.context import queue_names, state


def warn_of_lookalike(queue: leaseq.Queue, title: str) -> None:
    """Flash a warning if another queue has a title that looks like this one."""
    titles, _errors = leaseq.read_queues(
        state().client, lambda queue: queue.policy.title, queue_names("manage")
    )
    for name, other_title in titles.items():
        if name != queue.name and title and (other_title == title or find_lookalike(title, [other_title])):
            flash(
                _(
                    "The title looks like that of %(queue)s: people may confuse the two.",
                    queue=name,
                )
            )
            return
