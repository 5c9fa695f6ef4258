"""The charts of a queue's page: items added, finished and waiting over time, and the forecast."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal, TypeAlias, get_args

from flask import request
from flask_babel import format_date, format_decimal
from flask_babel import gettext as _

import leaseq
from leaseq import validation
from leaseq.webapp.context import existing_queue, state
from leaseq.webapp.manage.answers import first_question_of
from leaseq.webapp.manage.blueprint import bp, queue_page
from leaseq.webapp.realtime.rates import PACE_MINUTES, Pace, RateCounter
from leaseq.webapp.rendering.filters import span
from leaseq.webapp.security.authorization import needs
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


Range: TypeAlias = Literal["1h", "1d", "7d", "30d"]
RANGES: tuple[Range, ...] = get_args(Range)
_X_TICKS = 6
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
    buckets, waiting_count = buckets_of(queue, range_name, now, rates), queue.stats().inbound
    buckets[-1] = replace(buckets[-1], waiting=waiting_count)
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
        "per_bucket": _per_bucket(_PLANS[range_name]),
        "time_zone_name": str(zone),
        "figures": state().snapshots.get(queue).figures(),
        "first_question": first_question_of(queue),
        "forecast": forecast_of(waiting_count, rates.pace(now)),
    }


def _per_bucket(plan: _Plan) -> str:
    """What a point of a line counts: items per minute, for instance."""
    seconds = plan.each * SECONDS[plan.unit]
    words: dict[int, str] = {60: _("per minute"), 86_400: _("per day")}
    return words.get(seconds) or str(_("per %(time)s", time=span(seconds)))


def forecast_of(waiting: int, pace: Pace | None) -> str:
    """When the queue will be empty at this pace, that it grows, or why that can't be told. '' if nothing
    waits."""
    if not waiting:
        return ""
    if pace is None:
        return str(_("No forecast yet"))
    if pace.came > pace.finished:
        rate = (pace.came - pace.finished) / pace.minutes
        return str(_("Growing by %(rate)s a minute", rate=format_decimal(max(round(rate, 1), 0.1))))
    if not pace.finished:
        return str(_("No forecast: nothing finished in the last %(minutes)s min", minutes=PACE_MINUTES))
    lower_by = pace.finished - pace.came
    seconds = 60 * pace.minutes * waiting / lower_by if lower_by else None
    if seconds is None or seconds > _LONGEST_FORECAST:
        return str(_("Not getting shorter"))
    return str(_("Empty in about %(time)s at this pace", time=span(_round(seconds))))


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
