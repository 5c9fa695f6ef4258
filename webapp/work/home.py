"""The home page: a line for each queue."""

from __future__ import annotations

from dataclasses import dataclass

from flask import redirect, render_template, request, url_for
from werkzeug.wrappers import Response

import leaseq
from leaseq.webapp.context import person, queue_names, state
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.store.accounts import at_least
from leaseq.webapp.store.activity import DayFigures
from leaseq.webapp.work import bp


@dataclass(frozen=True, slots=True)
class QueueLine:
    """A line of the list of queues."""

    name: str
    title: str
    stats: leaseq.Stats
    why: leaseq.WhyNothing | None  # None: nothing waits, so there is nothing to ask
    held: int  # by this person
    today: DayFigures  # this person's

    @property
    def has_some(self) -> bool:
        """Whether there is something for this person now."""
        return self.why is not None and self.why.reason is None


@bp.get("/")
@needs("worker")
def home() -> str | Response:
    client, me = state().client, person()
    names = queue_names()
    if len(names) == 1 and me.role == "worker":
        return redirect(url_for("work.page", q=names[0]), 303)
    if not names and at_least(me.role, "manager"):
        return redirect(url_for("manage.overview"), 303)
    today = next(iter(state().activity.of_person(me.name, days=1).values()))
    found, unreadable = leaseq.read_queues(
        client, lambda queue: _line(queue, today.get(queue.name, DayFigures())), names
    )
    # What they can do is on top.
    lines = sorted(found.values(), key=lambda line: (not line.held, not line.has_some))
    return render_template("work/home.html", lines=lines, unreadable=unreadable)


def _line(queue: leaseq.Queue, today: DayFigures) -> QueueLine:
    me, stats = person(), queue.stats()
    why = queue.why_nothing(me.name, me.skills) if stats.inbound or stats.paused is not None else None
    return QueueLine(queue.name, _title(queue), stats, why, len(queue.mine(me.name)), today)


@bp.get("/queues")
@needs("worker")
def queues_menu() -> str:
    """The queues as links, for the menu at the top of a queue's page: fetched when it is opened."""
    manage = request.args.get("manage") == "yes"
    titles, unreadable = leaseq.read_queues(
        state().client, _title, queue_names("manage" if manage else "work")
    )
    titles |= {name: name for name in unreadable}  # its page says what is wrong
    return render_template("work/queues_menu.html", queues=sorted(titles.items()), manage=manage)


def _title(queue: leaseq.Queue) -> str:
    return queue.policy.title or queue.name
