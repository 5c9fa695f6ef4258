"""The home page: a row for each queue."""

from __future__ import annotations

from flask import redirect, render_template, request, url_for
from werkzeug.wrappers import Response

import leaseq
from leaseq.webapp.context import person, queue_names, state
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.store.accounts import at_least
from leaseq.webapp.store.day_figures import DayFigures
from leaseq.webapp.work import bp
from leaseq.webapp.work.queue_lines import line_of, title_of


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
        client, lambda queue: line_of(queue, today.get(queue.name, DayFigures())), names
    )
    # Queues with work for the person come first.
    lines = sorted(lines_by_queue.values(), key=lambda line: (not line.held, not line.has_item))
    return render_template("work/home.html", lines=lines, unreadable=errors)


@bp.get("/queues")
@needs("worker")
def queues_menu() -> str:
    """The queues as links, fetched when the menu at the top of a queue's page is opened."""
    manage = request.args.get("manage") == "yes"
    titles, errors = leaseq.read_queues(state().client, title_of, queue_names("manage" if manage else "work"))
    titles |= {name: name for name in errors}  # its page explains the error
    return render_template("work/queues_menu.html", queues=sorted(titles.items()), manage=manage)
