"""The list of queues; the dashboard of one, and its announcement."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from flask import flash, jsonify, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

import leaseq
from leaseq import Invalid, webhooks
from leaseq.webapp.context import existing_queue, person, queue_names, state
from leaseq.webapp.manage.blueprint import bp, queue_page
from leaseq.webapp.manage.charts import charts_of
from leaseq.webapp.manage.items import warn_of_lookalike
from leaseq.webapp.realtime.poller import QueueChannel, Watcher, message
from leaseq.webapp.realtime.snapshot import Snapshots
from leaseq.webapp.refusals import in_words
from leaseq.webapp.rendering.downloads import stream_events, with_time
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.services import queues
from leaseq.webapp.site_time import read_moment
from leaseq.webapp.store.announcements import MAX_TEXT

MIN_FINISHED = 20  # finished items, at least, for a suggestion
_TIMES = (30, 60, 120, 180, 300, 600, 900, 1_200, 1_800, 2_700, 3_600, 7_200, 14_400, 28_800, 86_400)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Figures of the last hour, and the lease time they suggest. Durations are in seconds."""

    count: int  # finished items
    p95: float  # 95 % of them were held for at most this long
    expired: int  # expired leases
    seconds: int


def suggestion_of(queue: leaseq.Queue, current_seconds: float) -> Suggestion | None:
    """The suggestion; None if there are too few figures or the current time is already right."""
    rates = state().snapshots.get(queue).rates()
    handling = rates.handling()
    if handling is None or handling.count < MIN_FINISHED:
        return None
    seconds = lease_time(handling.p95)
    return (
        Suggestion(handling.count, handling.p95, rates.expired(), seconds)
        if seconds != current_seconds
        else None
    )


def lease_time(p95: float) -> int:
    """The first usual time of at least twice the 95th percentile: one lease in twenty takes longer than the
    percentile, some much longer, but an item that somebody left should not wait much longer either."""
    return next((time for time in _TIMES if time >= 2 * p95), _TIMES[-1])


READING = 0.5  # seconds for reading the events of all queues


class DashboardWatcher(Watcher):
    """A client that watches a queue's page."""

    figures: Any = None  # the figures it was sent last


class DashboardChannel(QueueChannel):
    """Sends the page's figures whenever they change."""

    def __init__(self, queue: leaseq.Queue, snapshots: Snapshots) -> None:
        super().__init__(queue)
        self._snapshots = snapshots

    def serve(self, watchers: Sequence[DashboardWatcher]) -> None:
        figures = self._snapshots.get(self.queue).figures()
        stale_watchers = [watcher for watcher in watchers if watcher.figures is not figures]
        data = message("figures", with_time(figures)) if stale_watchers else b""
        for watcher in stale_watchers:
            watcher.figures = figures
            watcher.stream.put(data)


@bp.get("/manage")
@needs("manager")
def overview() -> str | Response:
    """The overview, as a page or as JSON, by the Accept header."""
    if request.accept_mimetypes.best == "application/json":
        summaries, _errors = leaseq.read_queues(state().client, _summary_reader(), queue_names("manage"))
        return jsonify(with_time({"queues": summaries}))
    return overview_page()


def overview_page(error: str | None = None) -> str:
    """All queues, one per row, with the error of a queue that could not be created."""
    summary_of = _summary_reader()
    summaries, errors = leaseq.read_queues(
        state().client,
        lambda queue: {"title": queue.policy.title or queue.name, **summary_of(queue)},
        queue_names("manage"),
    )
    return render_template(
        "manage/overview.html",
        summaries=dict(sorted(summaries.items(), key=lambda entry: entry[1]["title"].casefold())),
        unreadable=errors,
        error=error,
        form_values=request.form,
        may_manage_all=state().access.lets_manage_all(person()),
        broken_endpoints=_broken_webhooks(),
    )


def _broken_webhooks() -> list[webhooks.Endpoint]:
    """Endpoints that are disabled or whose latest tries failed; only for managers of all queues, who can
    manage webhooks."""
    if not state().access.lets_manage_all(person()):
        return []
    return [
        endpoint
        for endpoint in webhooks.Endpoints(state().client).all()
        if endpoint.disabled_at or endpoint.failing_since
    ]


@bp.get("/manage/<q>")
@needs("manager")
def one_queue(q: str) -> str:
    queue = existing_queue(q)
    return queue_page("manage/queue.html", queue, **charts_of(queue))


@bp.get("/manage/<q>/live")
@needs("manager")
def live(q: str) -> Response:
    """The figures of a queue's page, as an event stream or as JSON, by the Accept header."""
    queue = existing_queue(q)
    if "text/event-stream" not in request.headers.get("Accept", ""):
        return jsonify(with_time(state().snapshots.get(queue).figures()))

    return stream_events(DashboardChannel(queue, state().snapshots), DashboardWatcher)


def _summary_reader() -> Callable[[leaseq.Queue], dict[str, Any]]:
    """A function that reads a queue's row. If its events can't all be read in time, the row has no sparkline
    yet; the next call continues from there."""
    snapshots, until = state().snapshots, time.monotonic() + READING
    return lambda queue: snapshots.get(queue).summary(read=time.monotonic() < until)


@bp.post("/manage")
@needs("manager")
def create() -> Response | tuple[str, int]:
    """Create a queue."""
    name, title = request.form.get("name", "").strip(), request.form.get("title", "").strip()
    try:
        queue = queues.create(name, title=title)
    except leaseq.QueueExists:
        return overview_page(_("There is already a queue %(name)s.", name=name)), 400
    except Invalid as error:
        return overview_page(in_words(error)), 400
    flash(_("The queue %(name)s is created. Set up its form, then import a file.", name=title or name))
    warn_of_lookalike(queue, title)
    return redirect(url_for("manage.settings", q=name), 303)


@bp.post("/manage/<q>/pause")
@needs("manager")
def pause(q: str) -> Response:
    queues.pause(existing_queue(q), request.form.get("reason", "").strip() or None)
    flash(_("Paused. Nobody gets new items; people may finish the items they hold."))
    return redirect(url_for("manage.one_queue", q=q), 303)


@bp.post("/manage/<q>/resume")
@needs("manager")
def resume(q: str) -> Response:
    queues.resume(existing_queue(q))
    flash(_("The queue is resumed."))
    return redirect(url_for("manage.one_queue", q=q), 303)


@bp.get("/manage/<q>/announcement")
@needs("manager")
def announcement(q: str) -> str:
    return _announcement_page(existing_queue(q))


def _announcement_page(queue: leaseq.Queue, error: str | None = None) -> str:
    current = state().announcements.get(queue.name)
    return queue_page(
        "manage/announcement.html",
        queue,
        announcement=current,
        counts=queues.seen_counts(queue.name, current) if current else None,
        error=error,
        form_values=request.form,
        max_text=MAX_TEXT,
    )


@bp.post("/manage/<q>/announcement")
@needs("manager")
def announce(q: str) -> Response | tuple[str, int]:
    """Show a line on the work pages of the queue."""
    queue, until = existing_queue(q), request.form.get("until", "").strip()
    try:
        queues.announce(queue, request.form.get("text", ""), read_moment(until, "until") if until else None)
    except Invalid as error:
        return _announcement_page(queue, in_words(error)), 400
    flash(_("Announced. People see it on their pages."))
    return redirect(url_for("manage.one_queue", q=q), 303)


@bp.post("/manage/<q>/announcement/end")
@needs("manager")
def end_announcement(q: str) -> Response:
    queues.end_announcement(existing_queue(q))
    flash(_("The announcement is ended."))
    return redirect(url_for("manage.one_queue", q=q), 303)


@bp.post("/manage/<q>/clear")
@needs("manager")
def clear(q: str) -> Response:
    """Return expired leases and release due items now, without waiting for the clear job."""
    result = queues.clear(existing_queue(q))
    counts = {name: f"{getattr(result, name):,}" for name in ("returned", "released", "died", "forgotten")}
    if result.forgotten:
        text = _(
            "%(returned)s returned, %(released)s released, %(died)s failed, %(forgotten)s deleted.", **counts
        )
    else:
        text = _("%(returned)s returned, %(released)s released, %(died)s failed.", **counts)
    flash(text)
    return redirect(url_for("manage.one_queue", q=q), 303)
