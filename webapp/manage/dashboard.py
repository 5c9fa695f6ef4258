"""The list of queues, the dashboard of one, and its charts."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, TypeAlias, get_args

from flask import flash, jsonify, redirect, render_template, request, url_for
from flask_babel import format_date, format_decimal, ngettext
from flask_babel import gettext as _
from werkzeug.wrappers import Response

import leaseq
from leaseq import Invalid, validation, webhooks
from leaseq.webapp.context import existing_queue, person, queue_names, state
from leaseq.webapp.manage.answers import first_question_of
from leaseq.webapp.manage.blueprint import bp, queue_page
from leaseq.webapp.manage.items import warn_of_lookalike
from leaseq.webapp.realtime.poller import QueueChannel, Watcher, message
from leaseq.webapp.realtime.rates import RateCounter
from leaseq.webapp.realtime.snapshot import Snapshots
from leaseq.webapp.refusals import in_words
from leaseq.webapp.rendering.downloads import stream_events, with_time
from leaseq.webapp.rendering.filters import span
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.services import queues
from leaseq.webapp.store.samples import SECONDS, Sample, Unit

SIZE = 100
_STEPS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True, slots=True)
class Tick:
    """A tick of an axis."""

    at: float  # 0 to 100, from the left or from the top
    label: str


@dataclass(frozen=True, slots=True)
class Line:
    """A series as the path of its line and of the area below it; with gaps for unknown values."""

    name: str
    path: str
    area: str


def scale_of(maximum: float, lines: int = 4) -> tuple[float, list[float]]:
    """The top of an axis from 0, and its ticks, which are round whole numbers."""
    rough_step = max(maximum, 1) / lines
    power = 10.0 ** math.floor(math.log10(rough_step))
    step = next(power * step for step in _STEPS if power * step >= rough_step * (1 - 1e-9))
    step = max(step, 1)
    count = math.ceil(max(maximum, 1) / step - 1e-9)
    return count * step, [n * step for n in range(count + 1)]


def line_of(name: str, values: Sequence[float | None], top: float) -> Line:
    """The line through the values, each in the middle of its part of the width."""
    width = SIZE / len(values)
    path, area, run = [], [], list[tuple[float, float]]()

    def end() -> None:
        if not run:
            return
        points = [f"{x:.4g} {y:.4g}" for x, y in run]
        if len(run) == 1:  # a single point would be invisible
            x, y = run[0]
            points = [f"{x - width / 2:.4g} {y:.4g}", f"{x + width / 2:.4g} {y:.4g}"]
        path.append("M" + "L".join(points))
        area.append(f"M{points[0].split()[0]} {SIZE}L" + "L".join(points) + f"V{SIZE}z")
        run.clear()

    for number, value in enumerate(values):
        if value is None:
            end()
        else:
            run.append((width * (number + 0.5), SIZE - SIZE * value / top))
    end()
    return Line(name, "".join(path), "".join(area))


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


Range: TypeAlias = Literal["1h", "1d", "7d", "30d"]
RANGES: tuple[Range, ...] = get_args(Range)
_X_TICKS = 6
_PACE_MINUTES = 10  # minutes of known rates needed for a forecast
_LONGEST_FORECAST = 30 * 86_400  # seconds


@dataclass(frozen=True, slots=True)
class _Plan:
    """The division of a range into buckets."""

    unit: Unit
    each: int  # units per bucket
    buckets: int


_PLANS: dict[Range, _Plan] = {
    "1h": _Plan("minute", 1, 60),
    "1d": _Plan("minute", 15, 96),
    "7d": _Plan("hour", 3, 56),
    "30d": _Plan("hour", 24, 30),
}


@dataclass(frozen=True, slots=True)
class Bucket:
    """A part of the range, with its figures; None: unknown."""

    start: datetime
    label: str
    added: int | None
    done: int | None
    waiting: int | None


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines on one scale, with the ticks of both axes."""

    title: str
    lines: list[Line]
    y: list[Tick]
    x: list[Tick]


@bp.get("/manage/<q>/charts")
@needs("manager")
def charts(q: str) -> str:
    """The charts as a fragment, which the queue's page reloads every minute."""
    queue = existing_queue(q)
    return queue_page("manage/charts.html", queue, **charts_of(queue))


def charts_of(queue: leaseq.Queue) -> dict[str, object]:
    """The context of the charts' template, for the range in the URL."""
    range_name: Range = validation.one_of(request.args.get("range") or "1h", RANGES, "range")
    now, zone = datetime.now(state().settings.zone), state().settings.zone
    rates = state().snapshots.get(queue).rates()
    buckets = buckets_of(queue, range_name, now, rates)
    known_buckets = [bucket for bucket in buckets if bucket.added is not None]
    return {
        "selected_range": range_name,
        "range_names": {"1h": _("1 hour"), "1d": _("1 day"), "7d": _("7 days"), "30d": _("30 days")},
        "buckets": buckets,
        "known_count": len(known_buckets),
        "throughput_chart": _chart(
            _("In and done"),
            buckets,
            {_("In"): lambda bucket: bucket.added, _("Done"): lambda bucket: bucket.done},
        ),
        "waiting_chart": _chart(_("Waiting"), buckets, {_("Waiting"): lambda bucket: bucket.waiting}),
        "bucket_span": span(_PLANS[range_name].each * SECONDS[_PLANS[range_name].unit]),
        "time_zone_name": str(zone),
        "figures": state().snapshots.get(queue).figures(),
        "first_question": first_question_of(queue),
        "forecast": forecast_of(
            queue.stats().inbound, rates.enqueued_per_minute(now), rates.finished_per_minute(now)
        ),
    }


def forecast_of(waiting: int, enqueued: Sequence[int | None], finished: Sequence[int | None]) -> str:
    """A sentence: when the queue will be empty at the current pace, or that it grows; '' if unknown."""
    pairs = [
        (added, done)
        for added, done in zip(enqueued, finished, strict=True)
        if added is not None and done is not None
    ]
    if len(pairs) < _PACE_MINUTES or not waiting:
        return ""
    each_minute = sum(done - added for added, done in pairs) / len(pairs)
    period = _("over the last %(minutes)s min", minutes=len(pairs))
    if each_minute < 0:
        rate = format_decimal(round(-each_minute, 1))
        return str(_("Growing by %(rate)s a minute, %(over)s.", rate=rate, over=period))
    if not any(two for _one, two in pairs):
        return ""
    seconds = 60 * waiting / each_minute if each_minute else None
    if seconds is None or seconds > _LONGEST_FORECAST:
        return str(_("Not getting shorter, %(over)s.", over=period))
    return str(_("Empty in about %(time)s at this pace, %(over)s.", time=span(_round(seconds)), over=period))


def _round(seconds: float) -> float:
    """Round to ten minutes from two hours on, below that to the minute."""
    step = 600 if seconds >= 7_200 else 60
    return max(round(seconds / step), 1) * step


def buckets_of(queue: leaseq.Queue, range_name: Range, now: datetime, rates: RateCounter) -> list[Bucket]:
    """The range's buckets up to the current one. Days are in the time zone of ``now``."""
    plan, zone = _PLANS[range_name], now.tzinfo
    samples = state().samples.get(queue.name, plan.unit)
    end = _end(plan, now)
    numbers = [end - plan.each * back for back in range(plan.buckets, -1, -1)]
    latest = [_latest(samples, number, plan.each) for number in numbers]
    enqueued, finished = rates.enqueued_per_minute(now), rates.finished_per_minute(now)
    buckets = []
    for place, (number, previous, sample) in enumerate(zip(numbers, latest, latest[1:], strict=False)):
        start = datetime.fromtimestamp((number + 1) * SECONDS[plan.unit], zone)
        flows = (enqueued[place], finished[place]) if range_name == "1h" else _flows_between(previous, sample)
        label = _label(start, plan)
        buckets.append(Bucket(start, label, *flows, sample.waiting if sample else None))
    return buckets


def _end(plan: _Plan, now: datetime) -> int:
    """The number of the current bucket's last minute or hour. Days end at midnight in the site's zone, other
    buckets at multiples of their length."""
    present = int(now.timestamp() // SECONDS[plan.unit])
    if plan.each == 24:
        midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
        return int(midnight.timestamp() // SECONDS[plan.unit]) - 1
    return present - present % plan.each + plan.each - 1


def _latest(samples: Mapping[int, Sample], number: int, each: int) -> Sample | None:
    """The last sample of the bucket that ends with minute or hour ``number``."""
    candidates = (samples.get(number - back) for back in range(each))
    return next((candidate for candidate in candidates if candidate is not None), None)


def _flows_between(previous: Sample | None, sample: Sample | None) -> tuple[int | None, int | None]:
    """The numbers of items added and done between two samples."""
    if previous is None or sample is None:
        return None, None
    return max(sample.added - previous.added, 0), max(sample.done - previous.done, 0)


def _label(start: datetime, plan: _Plan) -> str:
    """The bucket's time in the site's zone by the 24-hour clock, with the day unless a bucket is a minute."""
    day = str(format_date(start.date(), "d MMM"))
    if plan.each == 24 and plan.unit == "hour":
        return day
    end = start + timedelta(seconds=plan.each * SECONDS[plan.unit])
    times = f"{start:%H:%M} – {end:%H:%M}"
    return times if plan.unit == "minute" and plan.each == 1 else f"{day}, {times}"


def _chart(
    title: str, buckets: Sequence[Bucket], series: Mapping[str, Callable[[Bucket], int | None]]
) -> Chart:
    values = {name: [value(bucket) for bucket in buckets] for name, value in series.items()}
    top, ticks = scale_of(max((value or 0 for row in values.values() for value in row), default=0))
    lines = [line_of(name, row, top) for name, row in values.items()]
    y = [Tick(SIZE - SIZE * tick / top, format_decimal(round(tick, 2))) for tick in ticks]
    return Chart(title, lines, y, _times(buckets))


def _times(buckets: Sequence[Bucket]) -> list[Tick]:
    """About six ticks of the time axis, at the beginnings of buckets."""
    every = max(len(buckets) // _X_TICKS, 1)
    first = next((n for n, bucket in enumerate(buckets[:every]) if bucket.start.minute % 10 == 0), 0)
    days = (buckets[-1].start - buckets[0].start) > timedelta(days=2)
    return [
        Tick(SIZE * n / len(buckets), _mark(buckets[n].start, days))
        for n in range(first, len(buckets), every)
        if n < 0.95 * len(buckets)  # a later label would not fit
    ]


def _mark(start: datetime, days: bool) -> str:
    return str(format_date(start.date(), "d MMM")) if days else f"{start:%H:%M}"


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
        summaries=summaries,
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
    flash(_("The queue %(name)s is created. Set up its form, then import a file.", name=name))
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


@bp.post("/manage/<q>/unassign")
@needs("manager")
def unassign_person(q: str) -> Response:
    """Let anybody have what is assigned to one person."""
    name = validation.person_name(request.form.get("person", ""))
    count = queues.unassign_person(existing_queue(q), name)
    flash(ngettext("Anybody can get %(num)s item now.", "Anybody can get %(num)s items now.", count))
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
