"""The home page: the queues of a person, and what they can do by name."""

from __future__ import annotations

from dataclasses import dataclass

from flask import redirect, render_template, request, url_for
from werkzeug.wrappers import Response

import leaseq
from leaseq.webapp.context import person, queue_names, queue_titles, state
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.store.accounts.model import at_least
from leaseq.webapp.store.activity import DayFigures
from leaseq.webapp.work.blueprint import bp

MAX_NAMED = 3
MAX_ASKED = 30
"""Other queues named on the page without an item, and queues queried to find them."""


@dataclass(frozen=True, slots=True)
class QueueSummary:
    """A queue and what it has for this person."""

    name: str
    title: str
    stats: leaseq.Stats
    why: leaseq.WhyNothing | None  # None: nothing waits, and the queue is not paused
    held: int  # by this person
    available: int  # of the waiting items: those that this person may have
    may_be_answered: bool  # and some of these may be items that they answered already
    today: DayFigures  # this person's

    @property
    def has_item(self) -> bool:
        """Whether there is work for this person now."""
        return self.why is not None and self.why.reason is None


def summary_of(queue: leaseq.Queue, today: DayFigures) -> QueueSummary:
    caller, stats, policy = person(), queue.stats(), queue.policy
    explanation = (
        queue.why_nothing(caller.name, caller.skills) if stats.inbound or stats.paused is not None else None
    )
    return QueueSummary(
        queue.name,
        policy.title or queue.name,
        stats,
        explanation,
        held=len(queue.mine(caller.name)),
        available=_available(queue) if stats.inbound else 0,
        may_be_answered=policy.answers > 1,
        today=today,
    )


def _available(queue: leaseq.Queue) -> int:
    """How many waiting items the person's skills and assignments let them have."""
    caller = person()
    return sum(
        row.waiting
        for row in queue.waiting_rows()
        if row.person in (None, caller.name) and set(row.requires) <= set(caller.skills)
    )


def waiting_elsewhere(queue: str) -> list[QueueSummary]:
    """Some other queues with items for this person. At most MAX_ASKED queues are queried."""
    result: list[QueueSummary] = []
    for name in [name for name in queue_names() if name != queue][:MAX_ASKED]:
        lines, _errors = leaseq.read_queues(
            state().client, lambda other: summary_of(other, DayFigures()), [name]
        )
        result += [line for line in lines.values() if line.has_item or line.held]
        if len(result) == MAX_NAMED:
            break
    return result


@bp.get("/")
@needs("worker")
def home() -> str | Response:
    client, caller = state().client, person()
    names = queue_names()
    if len(names) == 1 and caller.role == "worker":
        return redirect(url_for("work.page", q=names[0]), 303)
    if not names and at_least(caller.role, "manager"):
        return redirect(url_for("manage.overview"), 303)
    today = next(iter(state().activity.of_person(caller.name, days=1).values()))
    lines_by_queue, errors = leaseq.read_queues(
        client, lambda queue: summary_of(queue, today.get(queue.name, DayFigures())), names
    )
    # Queues with work for the person come first, others by title.
    lines = sorted(
        lines_by_queue.values(), key=lambda line: (not line.held, not line.has_item, line.title.casefold())
    )
    return render_template("work/home.html", lines=lines, unreadable=errors)


@bp.get("/queues")
@needs("worker")
def queues_menu() -> str:
    """The queues as links, fetched when the menu at the top of a queue's page is opened."""
    manage = request.args.get("manage") == "yes"
    titles = queue_titles(queue_names("manage" if manage else "work"))
    queues = sorted(titles.items(), key=lambda entry: entry[1].casefold())
    return render_template("work/queues_menu.html", queues=queues, manage=manage)
