"""The formats of files and of times, and the fields of rows."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from pathlib import PurePath
from typing import Any, Literal, TypeAlias, get_args

from leaseq.errors import Invalid
from leaseq.models import Answer, Item
from leaseq.validation import rfc3339

Format: TypeAlias = Literal["csv", "tsv", "json", "jsonl", "xlsx"]
FORMATS: tuple[Format, ...] = get_args(Format)
TEXT_TABLES: tuple[Format, ...] = ("csv", "tsv")
TABLES: tuple[Format, ...] = (*TEXT_TABLES, "xlsx")
MAX_COLUMNS = 16_384  # of a table: the limit of common spreadsheets; it also bounds the memory for one

CONTENT_TYPES: dict[Format, str] = {
    "csv": "text/csv; charset=utf-8; header=present",
    "tsv": "text/tab-separated-values; charset=utf-8",
    "json": "application/json",
    "jsonl": "application/x-ndjson",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}

_ENDINGS: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".xlsx": "xlsx",
}


def format_of(name: str) -> Format:
    """The format that matches a file name's ending. Raises Invalid if there is none."""
    ending = PurePath(name).suffix.lower()
    if ending in _ENDINGS:
        return _ENDINGS[ending]
    if (refusal := foreign(name)) is not None:
        raise refusal
    raise Invalid("format", "format", choices=FORMATS, name=name, endings=list(_ENDINGS))


def too_many_columns(count: int) -> Invalid:
    """The error of a row with more than MAX_COLUMNS cells."""
    return Invalid("row", "row_columns", maximum=MAX_COLUMNS, count=count)


_FOREIGN = {
    **dict.fromkeys((".xlsm", ".xls", ".ods", ".numbers"), "format_sheet"),
    ".parquet": "format_parquet",
}


def foreign(name: str) -> Invalid | None:
    """The error of a file that is in none of the formats, such as an old spreadsheet; None for others."""
    rule = "format_url" if "://" in name else _FOREIGN.get(PurePath(name).suffix.lower())
    return Invalid("format", rule, choices=FORMATS, name=name) if rule else None


def time_of(text: str, field: str, *, last: bool = False, zone: tzinfo | None = None) -> datetime:
    """Parse a filter's time, and return it in UTC. The text is an RFC 3339 time with an offset, or a day,
    which means its beginning, or with ``last`` its end. Days are days in ``zone``, by default UTC. With a
    ``zone``, a time without an offset is also in that zone, and is converted by `in_zone`."""
    try:
        if len(text) == len("2026-11-21"):
            day = date.fromisoformat(text) + timedelta(days=last)
            return datetime.combine(day, time(), zone or UTC).astimezone(UTC)
        moment = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        raise _no_time(field, zone, text) from None
    if moment.tzinfo is None and zone is None:
        raise _no_time(field, zone, text)
    return in_zone(moment, zone or UTC, field, last=last)


def _no_time(field: str, zone: tzinfo | None, text: str) -> Invalid:
    if zone is None:
        return Invalid(field, "day_or_time", value=text)
    return Invalid(field, "day_or_time_in", zone=str(zone), value=text)


def period_of(
    since: str | None, until: str | None, zone: tzinfo | None = None
) -> tuple[datetime | None, datetime | None]:
    """The period given by a filter's fields ``from`` and ``to``, each parsed by `time_of` with ``zone``, or
    None if it is not given. Raises Invalid unless the period ends after it begins."""
    begin = None if since is None else time_of(since, "from", zone=zone)
    end = None if until is None else time_of(until, "to", last=True, zone=zone)
    if begin and end and begin >= end:
        raise Invalid("from", "period", since=since, until=until)
    return begin, end


def in_zone(moment: datetime, zone: tzinfo, field: str, *, last: bool = False) -> datetime:
    """Convert a time to UTC. A time without an offset is a clock time in ``zone``; if the zone's clocks show
    it twice, when they are put back, the first is meant, or with ``last`` the second. Raises Invalid for a
    time that the clocks skip."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone, fold=int(last))
    try:
        utc_moment = moment.astimezone(UTC)
        local_moment = utc_moment.astimezone(zone)
    except OverflowError:
        raise Invalid(field, "years") from None
    if moment.tzinfo is zone and local_moment.replace(tzinfo=None) != moment.replace(tzinfo=None):
        raise Invalid(field, "skipped_time", zone=str(zone), day=f"{moment:%Y-%m-%d}", time=f"{moment:%H:%M}")
    return utc_moment


ANSWER_FIELDS = (
    "id",
    "payload",
    "result",
    "person",
    "token",
    "attempt",
    "finished_at",
    "late",
    "reserved_at",
    "seconds",
)
# The fields that an item can be enqueued with, and the other fields of an exported item.
ITEM_FIELDS = ("id", "payload", "priority", "requires", "due", "at", "max_attempts")
KNOWN_FIELDS = (
    "state",
    "since",
    "attempts",
    "failures",
    "last_error",
    "enqueued_at",
    "held_by",
    "assigned_to",
)


def item_shape(item: Item, max_attempts: int) -> dict[str, Any]:
    """An item as a row of an export: first the fields of an equal new item, as `from_envelope` accepts them,
    then the item's state. ``max_attempts`` is the policy's, which a new item gets by default."""
    return {
        "id": item.id,
        "payload": item.payload,
        "priority": item.priority,
        "requires": list(item.requires),
        "due": rfc3339(item.due) if item.due else None,
        "at": rfc3339(item.state_since) if item.state == "scheduled" else None,
        "max_attempts": None if item.max_attempts == max_attempts else item.max_attempts,
        "state": item.state,
        "since": rfc3339(item.state_since),
        "attempts": item.attempts,
        "failures": item.failures,
        "last_error": item.last_error,
        "enqueued_at": rfc3339(item.enqueued_at),
        "held_by": [lease.person for lease in item.leases],
        "assigned_to": list(item.assigned_to),
    }


def answer_shape(answer: Answer) -> dict[str, Any]:
    """An answer as a row of an export."""
    return {
        "id": answer.id,
        "payload": answer.payload,
        "result": answer.result,
        "person": answer.person,
        "token": answer.token,
        "attempt": answer.attempt,
        "finished_at": rfc3339(answer.finished_at),
        "late": answer.late,
        "reserved_at": rfc3339(answer.reserved_at) if answer.reserved_at else None,
        "seconds": answer.seconds,
    }
