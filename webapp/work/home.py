"""Home: the queues."""

from __future__ import annotations

from dataclasses import dataclass

from flask import redirect, render_template, url_for
from werkzeug.wrappers import Response

import leaseq
from webapp.gate import needs
from webapp.state import person, state
from webapp.work import bp


@dataclass(frozen=True, slots=True)
class Line:
    """A queue as it stands in the list."""

    name: str
    title: str
    waiting: int
    held: int  # by this person
    paused: str | None


@bp.get("/")
@needs("worker")
def home() -> str | Response:
    client, me = state().client, person()
    names = leaseq.queues(client)
    if len(names) == 1 and me.role == "worker":
        return redirect(url_for("work.page", q=names[0]), 303)
    lines = [_line(leaseq.Queue(client, name), me.name) for name in names]
    return render_template("work/home.html", lines=lines)


def _line(queue: leaseq.Queue, me: str) -> Line:
    stats = queue.stats()
    title = queue.policy.title or queue.name
    return Line(queue.name, title, stats.inbound, len(queue.mine(me)), stats.paused)
