"""Maps a file's columns to the parts of an item."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any, Literal, TypeAlias, get_args

from leaseq import validation
from leaseq.errors import Invalid
from leaseq.models import Json, NewItem
from leaseq.transfer.rows import checked_item, identity
from leaseq.transfer.times import in_zone, time_of

Dates: TypeAlias = Literal["day-first", "month-first"]
DATES: tuple[Dates, ...] = get_args(Dates)

_DUE = "a time like 2026-11-21T10:05:00Z, or a date"
_WITH_SLASHES = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?:[ T](\d{1,2}:\d{2}(?::\d{2})?))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """Maps the columns of a table, or the fields of JSON objects, to the parts of an item."""

    payload: Sequence[str] | None = None  # these columns, in this order; None: all
    id: str | None = None
    priority: str | None = None  # 0 to 1,000,000
    due: str | None = None  # RFC 3339; a date, or a time without an offset, is in ``zone``
    requires: str | None = None  # skills, separated by spaces or commas
    zone: tzinfo = UTC  # of dates, and of times without an offset
    dates: Dates | None = None  # how due dates such as 3/4/2026 are read; None: they are refused

    def __post_init__(self) -> None:
        if isinstance(self.payload, str):
            raise Invalid("payload", f"a list of columns, such as [{self.payload!r}]; this is a str")

    def needs(self) -> tuple[str, ...]:
        """The columns that the file must have."""
        return tuple(dict.fromkeys([*self.roles(), *(self.payload or ())]))

    def roles(self) -> tuple[str, ...]:
        """The columns of the parts other than the payload."""
        columns = (self.id, self.priority, self.due, self.requires)
        return tuple(dict.fromkeys(name for name in columns if name is not None))

    def item(self, row: Json) -> NewItem:
        """The new item made from a row. An empty cell is ignored, except for the id, which is required."""
        if not isinstance(row, dict):
            raise Invalid("row", "an object with named fields")
        fields: dict[str, Any] = {}
        if self.id is not None:
            fields["id"] = identity(row, self.id)
        if self.priority is not None and _has_value(row.get(self.priority)):
            fields["priority"] = _priority(row[self.priority], self.priority)
        if self.due is not None and _has_value(row.get(self.due)):
            fields["due"] = _due(row[self.due], self.due, self.zone, self.dates)
        if self.requires is not None and _has_value(row.get(self.requires)):
            fields["requires"] = validation.skills(_words(row[self.requires]), self.requires)
        payload = row if self.payload is None else {name: row[name] for name in self.payload if name in row}
        return checked_item(NewItem(payload, **fields))


def _has_value(value: Json) -> bool:
    return value is not None and not (isinstance(value, str) and not value.strip())


def _priority(value: Json, name: str) -> int:
    number = value
    if isinstance(value, str):
        try:
            number = validation.load_json(value.strip(), name)
        except Invalid:
            number = None
    try:
        return validation.integer(validation.as_integer(number), name, 0, validation.MAX_PRIORITY)
    except Invalid as error:
        raise validation.refusal(name, error.limit, value) from None


def _due(value: Json, name: str, zone: tzinfo, dates: Dates | None) -> datetime:
    if not isinstance(value, str):
        raise validation.refusal(name, _DUE, value)
    text = value.strip()
    if match := _WITH_SLASHES.fullmatch(text):
        text = _iso_date(match, name, value, dates)
    if len(text) == len("2026-11-21"):
        return time_of(text, name, zone=zone)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise validation.refusal(name, _DUE, value) from None
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
        expected = f"{_DUE}; for dates such as 3/4/2026, say whether the day or the month is first"
        if dates is not None:
            expected = f"a date with the {dates.removesuffix('-first')} first"
        raise validation.refusal(name, expected, value)
    day, month = (match[1], match[3]) if order == "day-first" else (match[3], match[1])
    clock = f"T{match[5]:0>5}" if match[5] else ""
    return f"{match[4]}-{int(month):02}-{int(day):02}{clock}"


def _words(value: Json) -> Json:
    return value.replace(",", " ").split() if isinstance(value, str) else value
