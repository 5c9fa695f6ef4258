"""The figures of people over a period, as a table and as CSV, by person, team, queue, day or week."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from babel.dates import format_skeleton
from flask import Response, render_template, request
from flask_babel import get_locale
from flask_babel import gettext as _

from leaseq import Invalid, transfer, validation
from leaseq.webapp.context import person, queue_names, queue_titles, state
from leaseq.webapp.people.blueprint import bp
from leaseq.webapp.refusals import in_words
from leaseq.webapp.rendering.downloads import download
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.serving.bodies import whole_number
from leaseq.webapp.serving.time_slices import in_slices, run_beside
from leaseq.webapp.site_time import site_zone
from leaseq.webapp.store.activity import KEPT_DAYS, DayFigures
from leaseq.webapp.store.queue_access import sees

PAGE = 200
DAYS = 7  # that the page shows by default
_KEYS: dict[str, Callable[[date, str, str, str], str]] = {
    "person": lambda _day, name, _queue, _team: name,
    "team": lambda _day, _name, _queue, team: team,
    "queue": lambda _day, _name, queue, _team: queue,
    "day": lambda day, _name, _queue, _team: day.isoformat(),
    "week": lambda day, _name, _queue, _team: (day - timedelta(days=day.weekday())).isoformat(),
}
KINDS = tuple(_KEYS)
"""What a row may be about. A week begins on Monday, and is named by its first day."""
ARGUMENTS = ("from", "to", "team", "queue", "by", "and", "sort", "order")
COLUMNS: dict[str, Callable[[DayFigures], float | None]] = {
    "done": lambda figures: figures.finished,
    "each": lambda figures: figures.seconds_each,
    "back": lambda figures: figures.abandoned,
    "failed": lambda figures: figures.failed,
    "reopened": lambda figures: figures.reopened,
    "corrected": lambda figures: figures.corrected,
    "active": lambda figures: figures.active_seconds,
    "held": lambda figures: figures.held_seconds,
}
"""The columns of numbers, by their name in `sort`."""
_CSV_NAMES = (
    "finished",
    "seconds_each",
    "given_back",
    "failed",
    "reopened",
    "corrected",
    "active_seconds",
    "held_seconds",
)


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of one person, team, queue, day or week, or of two of these together."""

    keys: tuple[str, ...]  # one for each kind; "": no team
    figures: DayFigures


@dataclass(frozen=True, slots=True)
class Visible:
    """The people whose work somebody sees, with their teams, and the queues on which."""

    teams: Mapping[str, str]
    queues: Sequence[str]

    @classmethod
    def to_caller(cls) -> Visible:
        """What the request's person sees."""
        viewer, queues = person(), queue_names("manage")
        managed = [state().access.get(queue) for queue in queues]
        accounts = in_slices(state().accounts.people())
        return cls(
            {account.name: account.team for account in accounts if sees(viewer, account, managed)}, queues
        )


@dataclass(frozen=True, slots=True)
class Report:
    """What somebody asked for."""

    first: date
    last: date
    by: tuple[str, ...]  # one or two of KINDS
    team: str
    queue: str
    sort: str  # a kind, or a name of COLUMNS
    is_descending: bool

    @classmethod
    def of_request(cls) -> Report:
        """The report that the URL asks for. Raises Invalid."""
        arguments = {name: request.args.get(name, "").strip() for name in ARGUMENTS}
        today = datetime.now(site_zone()).date()
        last = _day(arguments, "to") or today
        first = _day(arguments, "from") or last - min(timedelta(days=DAYS - 1), last - date.min)
        if first > last:
            raise Invalid("from", "period", since=str(first), until=str(last))
        if (last - first).days >= KEPT_DAYS:
            raise Invalid(
                "from", "maximum", what="figure_days", maximum=KEPT_DAYS, count=(last - first).days + 1
            )
        kinds = [
            validation.one_of(arguments[name] or default, KINDS, name)
            for name, default in (("by", "person"), ("and", arguments["by"] or "person"))
        ]
        by = tuple(dict.fromkeys(kinds))
        sort = arguments["sort"] if arguments["sort"] in (*by, *COLUMNS) else by[0]
        is_descending = {"up": False, "down": True}.get(arguments["order"], sort in COLUMNS)
        return cls(first, last, by, arguments["team"], arguments["queue"], sort, is_descending)

    def rows(self, visible: Visible) -> list[Row]:
        """The rows, in order."""
        teams = {name: team for name, team in visible.teams.items() if self.team in ("", team)}
        queues = {queue for queue in visible.queues if self.queue in ("", queue)}
        of_kinds = [_KEYS[kind] for kind in self.by]

        def keys_of(day: date, name: str, queue: str) -> tuple[str, ...] | None:
            if name not in teams or queue not in queues:
                return None
            return tuple([key_of(day, name, queue, teams[name]) for key_of in of_kinds])

        return self.in_order(state().activity.sums(self.first, self.last, keys_of, in_slices))

    def in_order(self, sums: Mapping[tuple[str, ...], DayFigures]) -> list[Row]:
        """The rows of these sums, sorted."""
        rows = [Row(keys, figures) for keys, figures in in_slices(sums.items())]
        return run_beside(self._sorted, rows)

    def _sorted(self, rows: list[Row]) -> list[Row]:
        by_name = sorted(rows, key=lambda row: _folded(row.keys))
        return sorted(by_name, key=self._sort_key, reverse=self.is_descending)

    def _sort_key(self, row: Row) -> Any:
        if self.sort in self.by:
            return row.keys[self.by.index(self.sort)].casefold()
        return COLUMNS[self.sort](row.figures) or 0


def _folded(keys: Sequence[str]) -> tuple[str, ...]:
    return tuple(key.casefold() for key in keys)


def _day(arguments: Mapping[str, str], name: str) -> date | None:
    text = arguments[name]
    return transfer.time_of(text, name, zone=site_zone()).astimezone(site_zone()).date() if text else None


@bp.get("/figures")
@needs("manager")
def figures() -> str | tuple[str, int]:
    """The figures as a page."""
    arguments = {name: request.args[name] for name in ARGUMENTS if request.args.get(name)}
    error, report, rows, visible = None, None, list[Row](), Visible.to_caller()
    try:
        report = Report.of_request()
        rows = report.rows(visible)
    except Invalid as refusal:
        error = in_words(refusal)
    start = min(whole_number(request.args.get("start")) or 0, max(len(rows) - 1, 0))
    page = render_template(
        "people/table.html",
        report=report,
        error=error,
        arguments=arguments,
        rows=rows[start : start + PAGE],
        count=len(rows),
        start=start,
        previous_start=max(start - PAGE, 0),
        next_start=start + PAGE if start + PAGE < len(rows) else None,
        total=sum((row.figures for row in in_slices(rows)), DayFigures()),
        periods=_periods(),
        kinds=_kind_names(),
        teams=sorted({team for team in visible.teams.values() if team}),
        titles=queue_titles(visible.queues),
        days=KEPT_DAYS,
    )
    return (page, 400) if error else page


def _kind_names() -> dict[str, str]:
    return {"person": _("person"), "team": _("team"), "queue": _("queue"), "day": _("day"), "week": _("week")}


def _periods() -> list[tuple[str, dict[str, str]]]:
    """The usual periods: label and query arguments."""
    today = datetime.now(site_zone()).date()
    monday = today - timedelta(days=today.weekday())
    month = today.replace(day=1)
    periods = (
        (_("Today"), today, today),
        (_("This week"), monday, today),
        (_("Last week"), monday - timedelta(days=7), monday - timedelta(days=1)),
        (_("This month"), month, today),
        (_("Last month"), (month - timedelta(days=1)).replace(day=1), month - timedelta(days=1)),
    )
    return [(label, {"from": first.isoformat(), "to": last.isoformat()}) for label, first, last in periods]


@bp.app_template_filter("day_text")
def day_text(day: str) -> str:
    """A day of the table, with its weekday."""
    return format_skeleton("yMMMEd", date.fromisoformat(day), locale=get_locale())


@bp.get("/figures.csv")
@needs("manager")
def figures_file() -> Response:
    """The same rows as a file."""
    report = Report.of_request()
    name = f"figures-{report.first}-{report.last}.csv"
    return download(_csv(report), transfer.CONTENT_TYPES["csv"], name)


def _csv(report: Report) -> Iterator[bytes]:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow([*report.by, *_CSV_NAMES])
    for row in in_slices(report.rows(Visible.to_caller())):
        numbers = (column(row.figures) for column in COLUMNS.values())
        rounded = ("" if number is None else round(number, 1) for number in numbers)
        writer.writerow([*map(transfer.cell, row.keys), *rounded])
        yield buffer.getvalue().encode()
        buffer.seek(0)
        buffer.truncate()
    yield buffer.getvalue().encode()
