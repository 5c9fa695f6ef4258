"""The command menu (Ctrl K): links to every page that this person can open, filtered by a script."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from flask import render_template, request, url_for
from flask_babel import gettext as _

import leaseq
from leaseq.webapp.context import person, queue_names, state
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.serving.time_slices import in_slices
from leaseq.webapp.store.accounts import at_least
from leaseq.webapp.work import bp


@dataclass(frozen=True, slots=True)
class Command:
    """A link, and the queue it is about, shown next to it."""

    label: str
    url: str
    queue_title: str = ""


@bp.get("/commands")
@needs("worker")
def commands() -> str:
    """The links as a fragment, fetched when the menu is opened. Those about the page's queue are first."""
    titles, errors = leaseq.read_queues(
        state().client, lambda queue: queue.policy.title or queue.name, queue_names()
    )
    titles |= {name: name for name in errors}  # its page explains the error
    queue_name = request.args.get("queue", "")
    links = [*(_of_queue(queue_name, titles[queue_name]) if queue_name in titles else ()), *_pages()]
    for name, title in in_slices(sorted(titles.items(), key=lambda pair: pair[1].casefold())):
        if name != queue_name:
            links += _of_queue(name, title)
    return render_template("work/commands.html", commands=links)


def _pages() -> Iterator[Command]:
    yield Command(_("All queues"), url_for("work.home"))
    yield Command(_("My day"), url_for("work.day"))
    yield Command(_("Take a break"), url_for("work.break_page"))
    yield Command(_("Your account"), url_for("auth.account"))
    if at_least(person().role, "manager"):
        yield Command(_("Manage"), url_for("manage.overview"))
        if state().access.lets_manage_all(person()):
            yield Command(_("Webhooks"), url_for("webhooks.index"))
        yield Command(_("People"), url_for("people.index"))
    if at_least(person().role, "admin"):
        yield Command(_("Audit log"), url_for("people.log"))


def _of_queue(name: str, title: str) -> Iterator[Command]:
    yield Command(_("Work"), url_for("work.page", q=name), title)
    if state().access.get(name).lets_manage(person()):
        yield Command(_("Dashboard"), url_for("manage.one_queue", q=name), title)
        yield Command(_("Items"), url_for("manage.items", q=name), title)
        yield Command(_("Answers"), url_for("manage.answers", q=name), title)
        yield Command(_("Settings"), url_for("manage.settings", q=name), title)
        yield Command(_("Import"), url_for("manage.import_page", q=name), title)
        yield Command(_("Export"), url_for("manage.export", q=name), title)
        yield Command(_("Access"), url_for("manage.access", q=name), title)
        yield Command(_("Try it out"), url_for("manage.try_out", q=name), title)
