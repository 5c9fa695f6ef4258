"""The managers' dashboards, of all queues and of one, and the streams that update them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from flask import Response, jsonify, render_template, request

import leaseq
from leaseq import webhooks
from leaseq.transfer import rfc3339
from leaseq.webapp.context import existing_queue, person, queue_names, state
from leaseq.webapp.manage import bp
from leaseq.webapp.manage.charts import charts_of
from leaseq.webapp.realtime.poller import QueueChannel, Watcher, message
from leaseq.webapp.realtime.snapshot import Snapshots
from leaseq.webapp.rendering.event_stream import stream_events
from leaseq.webapp.rendering.filters import ago, seconds_until, time_until
from leaseq.webapp.security.authorization import needs

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
        data = message("figures", _with_time(figures)) if stale_watchers else b""
        for watcher in stale_watchers:
            watcher.figures = figures
            watcher.stream.put(data)


@bp.get("/manage")
@needs("manager")
def overview() -> str | Response:
    """The overview, as a page or as JSON, by the Accept header."""
    if request.accept_mimetypes.best == "application/json":
        summaries, _errors = leaseq.read_queues(state().client, _summary_reader(), queue_names("manage"))
        return jsonify(_with_time({"queues": summaries}))
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
        summaries=summaries,
        unreadable=errors,
        ago=ago,
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
    return render_template(
        "manage/queue.html",
        queue=queue,
        policy=queue.policy,
        time_until=time_until,
        seconds_until=seconds_until,
        **charts_of(queue),
    )


@bp.get("/manage/<q>/live")
@needs("manager")
def live(q: str) -> Response:
    """The figures of a queue's page, as an event stream or as JSON, by the Accept header."""
    queue = existing_queue(q)
    if "text/event-stream" not in request.headers.get("Accept", ""):
        return jsonify(_with_time(state().live.snapshots.get(queue).figures()))

    return stream_events(DashboardChannel(queue, state().live.snapshots), DashboardWatcher)


def _summary_reader() -> Callable[[leaseq.Queue], dict[str, Any]]:
    """A function that reads a queue's row. If its events can't all be read in time, the row has no sparkline
    yet; the next call continues from there."""
    snapshots, until = state().live.snapshots, time.monotonic() + READING
    return lambda queue: snapshots.get(queue).summary(read=time.monotonic() < until)


def _with_time(figures: dict[str, Any]) -> dict[str, Any]:
    """The figures with the server's time, so that browsers can correct for their own clock."""
    return {"now": rfc3339(datetime.now(UTC)), **figures}
