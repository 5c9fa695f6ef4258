"""A person's day: the figures, the items, the breaks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from babel.dates import format_skeleton
from flask import redirect, render_template, url_for
from flask_babel import format_date, format_decimal, get_locale
from flask_babel import gettext as _
from werkzeug.wrappers import Response

import leaseq
from leaseq.webapp.context import person, queue_names, state
from leaseq.webapp.item_title import title_of
from leaseq.webapp.rendering.filters import pace
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.store.activity import DayFigures, RecentItem
from leaseq.webapp.store.threads import Message
from leaseq.webapp.work.blueprint import bp
from leaseq.webapp.work.endings import SECONDS

SHOWN_DAYS = 14
BAR = 100  # the height of the highest bar, in the chart's units


@dataclass(frozen=True, slots=True)
class Bar:
    """A day in the chart."""

    short: str
    day: str
    figures: DayFigures
    height: float


@bp.get("/day")
@needs("worker")
def day() -> str:
    activity, person_name, access = state().activity, person().name, state().access
    figures_by_day = activity.of_person(person_name, SHOWN_DAYS)
    today = next(iter(figures_by_day.values()))
    queues, _errors = leaseq.read_queues(
        state().client,
        lambda queue: (queue.policy.title or queue.name, queue.mine(person_name)),
        queue_names(),
    )
    titles = {name: title for name, (title, _leases) in queues.items()}
    threads = _threads(person_name, titles)
    recent = [act for act in activity.recent(person_name) if act.queue in titles]
    item_keys = {*((act.queue, act.id) for act in recent), *((queue, id) for queue, id, _messages in threads)}
    return render_template(
        "work/day.html",
        by_queue={name: figures for name, figures in today.items() if access.get(name).lets_work(person())},
        total=_total(today.values()),
        bars=_bars({day: _total(figures.values()) for day, figures in figures_by_day.items()}),
        leases=[lease for _title, leases in queues.values() for lease in leases],
        threads=threads,
        recent=recent,
        item_titles={
            (queue, id): title_of(leaseq.Queue(state().client, queue), id) or id for queue, id in item_keys
        },
        undo_until=datetime.now(UTC) - timedelta(seconds=SECONDS),
        titles=titles,
        zone=state().settings.time_zone,
    )


def _threads(person: str, titles: Mapping[str, str]) -> list[tuple[str, str, list[Message]]]:
    """The latest threads with messages by the person: queue, item and messages."""
    threads = state().threads
    keys = [(queue, id) for queue, id in threads.asked_by(person) if queue in titles]
    rows = [(queue, id, threads.of_item(queue, id)) for queue, id in keys]
    return [row for row in rows if row[2]]


@bp.app_template_filter("figures_text")
def figures_text(figures: DayFigures) -> str:
    """The figures in a few words: *37 done · 41 s each · 2 given back*."""
    parts = []
    if figures.finished or not figures:
        parts.append(_("%(n)s done", n=format_decimal(figures.finished)))
    if figures.seconds_each:
        parts.append(_("%(time)s each", time=pace(figures.seconds_each)))
    if figures.abandoned:
        parts.append(_("%(n)s given back", n=format_decimal(figures.abandoned)))
    if figures.failed:
        parts.append(_("%(n)s reported", n=format_decimal(figures.failed)))
    return " · ".join(parts)


@bp.app_template_test("undoable")
def undoable(item: RecentItem, since: datetime) -> bool:
    return item.how == "finished" and item.at > since


def _total(figures: Iterable[DayFigures]) -> DayFigures:
    return sum(figures, DayFigures())


def _bars(days: dict[date, DayFigures]) -> list[Bar]:
    """The chart's bars, oldest day first."""
    maximum = max(figures.finished for figures in days.values()) or 1
    return [
        Bar(
            format_date(day, "d"),
            format_skeleton("MMMEd", datetime.combine(day, time.min), locale=get_locale()),
            figures,
            round(BAR * max(figures.finished, 0) / maximum, 1),
        )
        for day, figures in reversed(days.items())
    ]


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
