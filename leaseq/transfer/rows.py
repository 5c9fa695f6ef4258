"""Rows of a file: its format, their fields, and the new items that they become."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from json import JSONEncoder
from pathlib import PurePath
from typing import Any, Literal, TypeAlias, get_args

from leaseq import validation
from leaseq.engine import arguments
from leaseq.errors import Invalid, TooLarge
from leaseq.models import Answer, Item, Json, NewItem
from leaseq.names import nearest
from leaseq.sentences import sentence
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
    raise Invalid("format", "file_format", what="name", choices=FORMATS, name=name, endings=list(_ENDINGS))


def too_many_columns(count: int) -> Invalid:
    """The error of a row with more than MAX_COLUMNS cells."""
    return Invalid("row", "maximum", what="row_columns", maximum=MAX_COLUMNS, count=count)


_FOREIGN = {**dict.fromkeys((".xlsm", ".xls", ".ods", ".numbers"), "sheet"), ".parquet": "parquet"}


def foreign(name: str) -> Invalid | None:
    """The error of a file that is in none of the formats, such as an old spreadsheet; None for others."""
    what = "url" if "://" in name else _FOREIGN.get(PurePath(name).suffix.lower())
    return Invalid("format", "file_format", what=what, choices=FORMATS, name=name) if what else None


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
        return Invalid(field, "format", what="day_or_time", value=text)
    return Invalid(field, "format", what="day_or_time_in", zone=str(zone), value=text)


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
        raise Invalid(field, "format", what="years") from None
    if moment.tzinfo is zone and local_moment.replace(tzinfo=None) != moment.replace(tzinfo=None):
        raise Invalid(field, "skipped_time", zone=str(zone), day=f"{moment:%Y-%m-%d}", time=f"{moment:%H:%M}")
    return utc_moment


ANSWER_FIELDS = (*(field.name for field in fields(Answer) if field.name != "changed"), "seconds", "changed")
# The fields that an item can be enqueued with, and the other fields of an exported item.
ITEM_FIELDS = ("id", "payload", "priority", "requires", "due", "at", "max_attempts", "form", "expires", "to")
KNOWN_FIELDS = (
    "state",
    "since",
    "attempts",
    "failures",
    "last_error",
    "died_of",
    "enqueued_at",
    "held_by",
    "assigned_to",
)


def item_shape(item: Item, max_attempts: int) -> dict[str, Any]:
    """An item as a row of an export: first the fields of an equal new item, as `from_envelope` accepts them,
    then the item's state. ``max_attempts`` is the policy's, which a new item gets by default."""
    own_values = {
        "at": item.state_since if item.state == "scheduled" else None,
        "max_attempts": None if item.max_attempts == max_attempts else item.max_attempts,
        "to": next(iter(item.assigned_to), None),
        "since": item.state_since,
        "held_by": tuple(lease.person for lease in item.leases),
    }
    names = (*ITEM_FIELDS, *KNOWN_FIELDS)
    return {name: _shown(own_values[name] if name in own_values else getattr(item, name)) for name in names}


ITEM_ANSWER_FIELDS = tuple(name for name in ANSWER_FIELDS if name not in ("id", "payload"))


def item_answer_shape(answer: Answer) -> dict[str, Any]:
    """An answer as a part of an item's row."""
    return {name: _shown(getattr(answer, name)) for name in ITEM_ANSWER_FIELDS}


def answer_shape(answer: Answer) -> dict[str, Any]:
    """An answer as a row of an export."""
    return {name: _shown(getattr(answer, name)) for name in ANSWER_FIELDS}


def _shown(value: Any) -> Json:
    if isinstance(value, datetime):
        return rfc3339(value)
    return list(value) if isinstance(value, tuple) else value


Dates: TypeAlias = Literal["day-first", "month-first"]
DATES: tuple[Dates, ...] = get_args(Dates)

_WITH_SLASHES = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?:[ T](\d{1,2}:\d{2}(?::\d{2})?))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """A mapping of the columns of a table, or the fields of JSON objects, to the parts of an item."""

    payload: Sequence[str] | None = None  # these columns, in this order; None: all
    id: str | None = None
    priority: str | None = None  # 0 to 1,000,000
    due: str | None = None  # RFC 3339; a date, or a time without an offset, is in ``zone``
    requires: str | None = None  # skills, separated by spaces or commas
    form: str | None = None  # the item's own form, as JSON
    expires: str | None = None  # as ``due``, or seconds from now
    to: str | None = None  # the only person who may reserve it
    zone: tzinfo = UTC  # of dates, and of times without an offset
    dates: Dates | None = None  # how dates such as 3/4/2026 are read; None: they are refused
    words: Mapping[str, int] = field(default_factory=dict)  # for the priority, in lower case: High is 30

    def __post_init__(self) -> None:
        if isinstance(self.payload, str):
            raise Invalid("payload", "type", what="columns", name=self.payload)

    def needs(self) -> tuple[str, ...]:
        """The columns that the file must have."""
        return tuple(dict.fromkeys([*self.roles(), *(self.payload or ())]))

    def roles(self) -> tuple[str, ...]:
        """The columns of the parts other than the payload."""
        columns = (self.id, self.priority, self.due, self.requires, self.form, self.expires, self.to)
        return tuple(dict.fromkeys(name for name in columns if name is not None))

    def item(self, row: Json) -> NewItem:
        """The new item made from a row. An empty cell is ignored, except for the id, which is required."""
        if not isinstance(row, dict):
            raise Invalid("row", "format", what="row_object")
        parts: dict[str, Any] = {}
        if self.id is not None:
            parts["id"] = identity(row, self.id)
        if self.priority is not None and has_content(row.get(self.priority)):
            parts["priority"] = _priority(row[self.priority], self.priority, self.words)
        if self.due is not None and has_content(row.get(self.due)):
            parts["due"] = _due(row[self.due], self.due, self.zone, self.dates)
        if self.requires is not None and has_content(row.get(self.requires)):
            parts["requires"] = validation.skills(_words(row[self.requires]), self.requires)
        if self.form is not None and has_content(row.get(self.form)):
            value = row[self.form]
            parts["form"] = validation.load_json(value, self.form) if isinstance(value, str) else value
        if self.expires is not None and has_content(row.get(self.expires)):
            parts["expires"] = _expires(row[self.expires], self.expires, self.zone, self.dates)
        if self.to is not None and has_content(row.get(self.to)):
            parts["to"] = validation.person_name(row[self.to], self.to)
        payload = row if self.payload is None else {name: row[name] for name in self.payload if name in row}
        return checked_item(NewItem(payload, **parts))


def has_content(value: Json) -> bool:
    """Whether a cell is not empty."""
    return value is not None and not (isinstance(value, str) and not value.strip())


def _priority(value: Json, name: str, words: Mapping[str, int]) -> int:
    number = value
    if isinstance(value, str):
        if (meant := words.get(value.strip().casefold())) is not None:
            return meant
        try:
            number = validation.load_json(value.strip(), name)
        except Invalid:
            number = None
    try:
        return validation.integer(validation.as_integer(number), name, 0, validation.MAX_PRIORITY)
    except Invalid:
        raise Invalid(name, "range", minimum=0, maximum=validation.MAX_PRIORITY, value=value) from None


def _expires(value: Json, name: str, zone: tzinfo, dates: Dates | None) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return float(value)
    except ValueError:
        return _due(value, name, zone, dates)


def _due(value: Json, name: str, zone: tzinfo, dates: Dates | None) -> datetime:
    if not isinstance(value, str):
        raise Invalid(name, "format", what="time_or_date", value=value)
    text = value.strip()
    if match := _WITH_SLASHES.fullmatch(text):
        text = _iso_date(match, name, value, dates)
    if len(text) == len("2026-11-21"):
        return time_of(text, name, zone=zone)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise Invalid(name, "format", what="time_or_date", value=value) from None
    return in_zone(moment, zone, name)


def date_orders(text: str) -> tuple[Dates, ...]:
    """The orders in which a date such as 31/12/2026 can be read: both if it is ambiguous; none if it is not
    written in this way."""
    match = _WITH_SLASHES.fullmatch(text.strip())
    if match is None:
        return ()
    first, second = int(match[1]), int(match[3])
    day_first = 1 <= first <= 31 and 1 <= second <= 12
    month_first = 1 <= first <= 12 and 1 <= second <= 31
    if match[2] == ".":  # 3.4.2026 is written only with the day first
        month_first = False
    return tuple(order for order, fits in zip(DATES, (day_first, month_first), strict=True) if fits)


def _iso_date(match: re.Match[str], name: str, value: Json, dates: Dates | None) -> str:
    orders = date_orders(match[0])
    order = dates if dates in orders else orders[0] if match[2] == "." and orders else None
    if order is None:
        if dates is None:
            raise Invalid(name, "date_order", value=value)
        raise Invalid(
            name, "format", what="day_first" if dates == "day-first" else "month_first", value=value
        )
    day, month = (match[1], match[3]) if order == "day-first" else (match[3], match[1])
    clock = f"T{match[5]:0>5}" if match[5] else ""
    return f"{match[4]}-{int(month):02}-{int(day):02}{clock}"


def _words(value: Json) -> Json:
    return value.replace(",", " ").split() if isinstance(value, str) else value


ENVELOPE_FIELDS = (
    "payload",
    "id",
    "priority",
    "delay",
    "at",
    "requires",
    "due",
    "max_attempts",
    "form",
    "expires",
    "to",
)
_ENVELOPE = f"{{{', '.join(name if name == 'payload' else f'{name}?' for name in ENVELOPE_FIELDS)}}}"


REJECTED = ["rejected_line", "rejected_reason"]
"""The columns that a row has if an import rejected it and wrote it into a file."""

compact_json = JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

Remedy: TypeAlias = Literal["quotes", "delimiter", "encoding", "header", "cells"]

REMEDIES: dict[Remedy, str] = {
    "quotes": "to read quotes as text, use --quotes none",
    "delimiter": "name the separator with --delimiter comma, semicolon, tab or pipe",
    "encoding": "name the file's encoding with --encoding, such as cp1252 or utf-16",
    "header": "name the header's line with --header-line, or use --no-header if the file has none",
    "cells": "to keep the cells of a column as text, name it with --text-field",
}


def column_letter(number: int) -> str:
    """The letter of a column in a spreadsheet: 1 is A, 27 is AA."""
    letters = ""
    while number:
        number, place = divmod(number - 1, 26)
        letters = chr(ord("A") + place) + letters
    return letters


@dataclass(frozen=True, slots=True)
class Row:
    """A valid row; ``line`` is its line, or the first if it spans several."""

    line: int
    value: Json
    span: tuple[int, int] | None = None  # its first and last line; None if it has only one
    raw: bytes | None = None  # for tables, its text, with the line end


@dataclass(frozen=True, slots=True)
class BadRow:
    """A rejected row, and the reason."""

    line: int
    error: Invalid
    value: Json = None  # its content, as far as it could be read: a row, its cells, or a line's text
    remedy: Remedy | None = None  # the option with which it may be readable
    left_out: tuple[int, int] | None = None  # the first and last line left out; None if it is only one
    raw: bytes | None = None  # its text in the file as UTF-8, if kept: for tables, and if it is not JSON
    id: str | None = None  # of a conflict: the id, which an item with another payload has
    is_header: bool = False  # then no row can be read

    @property
    def fault(self) -> str:
        """The problem of the row."""
        fault = sentence(self.error.rule, self.error.values, field=self.column)
        return sentence("header", {"fault": fault}) if self.is_header else fault

    @property
    def column(self) -> str:
        """The column of the refused value; empty if the row itself was refused."""
        return "" if self.error.field == "row" else self.error.field

    @property
    def too_large(self) -> bool:
        """Whether its payload, or the row itself, exceeds the limit."""
        return isinstance(self.error, TooLarge)

    @property
    def message(self) -> str:
        """The reason, what to do about it, and which lines are left out if there are several."""
        return self.message_with(REMEDIES)

    def message_with(self, remedies: Mapping[Remedy, str]) -> str:
        """The same message, with other texts for what to do about it."""
        remedy = f": {remedies[self.remedy]}" if self.remedy else ""
        if self.left_out is None:
            return self.fault + remedy
        first, last = self.left_out
        return f"{self.fault}{remedy} (lines {first:,} to {last:,} are left out)"

    @property
    def lines(self) -> int:
        """The number of lines of the file that are left out with it."""
        return self.left_out[1] - self.left_out[0] + 1 if self.left_out else 1


@dataclass(frozen=True, slots=True, eq=False)
class FileItem(NewItem):
    """A new item with the row that it was read from."""

    row: Row = Row(0, None)

    def conflict(self) -> BadRow:
        """The row as a bad one, because an item with its id and another payload exists."""
        return replace(self.refused(Invalid("id", "row", what="conflict", id=self.id)), id=self.id)

    def refused(self, error: Invalid) -> BadRow:
        """The row as a bad one."""
        return BadRow(self.row.line, error, self.row.value, left_out=self.row.span, raw=self.row.raw)


def from_row(value: Json, id_field: str | None) -> NewItem:
    """The item whose payload is the row itself. If ``id_field`` is given, that field contains its id."""
    if id_field is None:
        return checked_item(NewItem(value))
    if not isinstance(value, dict):
        raise Invalid("id", "format", what="id_object", name=id_field)
    return checked_item(NewItem(value, id=identity(value, id_field)))


def identity(row: dict[str, Json], id_field: str) -> str:
    """The id in a row's field; an integer is converted to text."""
    if id_field not in row:
        raise Invalid("id", "id_field", name=id_field)
    id = row[id_field]
    if isinstance(id, int) and not isinstance(id, bool):
        id = str(id)
    if not isinstance(id, str):
        raise Invalid(id_field, "format", what="id_value", value=id)
    return validation.item_id(id, id_field)


def from_export(value: Json) -> NewItem:
    """A new item from a row of an export of items, or from an envelope."""
    if isinstance(value, dict) and value.keys() - {"answers"} == {*ITEM_FIELDS, *KNOWN_FIELDS}:
        return from_envelope({name: value[name] for name in ITEM_FIELDS})
    return from_envelope(value)


def from_envelope(value: Json) -> NewItem:
    """A new item in the form that REST accepts: an object with payload, id, priority and so on."""
    if not isinstance(value, dict):
        raise Invalid("item", "format", what="item_shape", shape=_ENVELOPE, value=value)
    unknown_names = sorted(set(value) - set(ENVELOPE_FIELDS))
    if "payload" not in value:
        raise _no_payload(unknown_names)
    if unknown_names:
        raise Invalid(
            unknown_names[0],
            "one_of",
            choices=ENVELOPE_FIELDS,
            value=unknown_names[0],
            near=nearest(unknown_names[0], ENVELOPE_FIELDS),
        )
    parts = {name: part for name, part in value.items() if part is not None or name == "payload"}
    for name in {"due", "at"} & set(parts):
        parts[name] = utc_time(parts[name], name)
    if isinstance(parts.get("expires"), str):
        parts["expires"] = utc_time(parts["expires"], "expires")
    if "requires" in parts:
        parts["requires"] = validation.skills(parts["requires"], "requires")
    for name in {"priority", "max_attempts"} & set(parts):
        parts[name] = validation.as_integer(parts[name])
    return checked_item(NewItem(**parts))


def _no_payload(unknown_names: list[str]) -> Invalid:
    """The error of an item without a payload: most often, the payload itself was sent as the item."""
    if not unknown_names:
        return Invalid("payload", "required")
    if near := nearest(unknown_names[0], ("payload",)):
        return Invalid("payload", "required", name=unknown_names[0], near=near)
    wrapped = ", ".join(f'"{name}": …' for name in unknown_names[:5])
    shape = f'{{"payload": {{{wrapped}}}}}'
    return Invalid("payload", "payload_unwrapped", names=unknown_names[:5], shape=shape)


def checked_item(item: NewItem) -> NewItem:
    """Return the item if the queue will accept it; else raise Invalid. One refused item fails its batch."""
    arguments.row(item, "made-later" if item.id is None else item.id)
    return item


def utc_time(value: object, field: str) -> datetime:
    """Parse an RFC 3339 time with an offset, and return it in UTC."""
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
            if moment.tzinfo is not None:
                return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise Invalid(field, "format", what="utc_time", value=value)
