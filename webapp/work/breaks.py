"""Breaks: they tell managers why somebody is not working. A button or taking an item ends a break."""

from __future__ import annotations

from flask import redirect, render_template, url_for
from werkzeug.wrappers import Response

import leaseq
from leaseq.webapp.context import person, queue_names, state
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.work import bp


@bp.get("/break")
@needs("worker")
def break_page() -> str:
    name = person().name
    leases_by_queue, _errors = leaseq.read_queues(
        state().client, lambda queue: queue.mine(name), queue_names()
    )
    leases = [lease for leases in leases_by_queue.values() for lease in leases]
    return render_template("work/break.html", since=state().breaks.get(name), leases=leases)


@bp.post("/break")
@needs("worker")
def take_break() -> Response:
    state().breaks.take(person().name)
    return redirect(url_for("work.break_page"), 303)


@bp.post("/break/end")
@needs("worker")
def end_break() -> Response:
    state().breaks.end(person().name)
    return redirect(url_for("work.home"), 303)
