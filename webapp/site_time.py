"""Times as people read and type them on pages: in the site's time zone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from leaseq import Invalid, transfer
from leaseq.webapp.context import state

_DAY = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", re.ASCII)
_CLOCK_TIME = re.compile(r"(\d{4}-\d\d-\d\dT)?\d\d:\d\d(:\d\d(\.\d+)?)?")


def site_zone() -> ZoneInfo:
    return state().settings.zone


def filter_time(text: str, field: str) -> datetime | None:
    """The time in a filter's field, in UTC; None if the field is empty. Raises Invalid."""
    text = text.strip()
    return transfer.time_of(text, field, zone=site_zone()) if text else None


def filter_period(fields: Mapping[str, str]) -> tuple[datetime | None, datetime | None]:
    """The period in the fields ``from`` and ``to`` of a filter, in UTC; None for an empty field. Raises
    Invalid, also if the period ends before it begins."""
    begin, end = (fields.get(name, "").strip() or None for name in ("from", "to"))
    return transfer.period_of(begin, end, site_zone())


def read_moment(text: str, field: str) -> datetime:
    """A typed date and time, in UTC; without an offset it is in the site's time zone. Raises Invalid."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise Invalid(field, "format", what="local_time", zone=str(site_zone()), value=text) from None
    return transfer.in_zone(moment, site_zone(), field)


def read_future_moment(text: str, field: str) -> datetime:
    """Like `read_moment`. Raises Invalid for a time that is not in the future, too."""
    moment = read_moment(text, field)
    if moment <= datetime.now(UTC):
        raise Invalid(field, "format", what="future_time", value=text)
    return moment


def clock_text(moment: datetime) -> str:
    """A time as the value of a ``datetime-local`` field, which accepts milliseconds at most. If the clocks
    show a time twice, the second keeps its offset."""
    local = moment.astimezone(site_zone())
    text = local.replace(tzinfo=None).isoformat(timespec="milliseconds")
    text = re.sub(r"(?::00)?\.000$|(?<=[1-9])0+$", "", text)
    return text + _offset(local) if local.fold else text


def is_clock_time(text: str) -> bool:
    """Whether a browser's own time field can show the text: it can't show an offset."""
    return not text or _CLOCK_TIME.fullmatch(text) is not None


def is_valid_in(text: str, input_type: str) -> bool:
    """Whether a browser's input of this type can show the text; others of its dates and times are lost."""
    if input_type == "date":
        return not text or _DAY.fullmatch(text) is not None
    return input_type not in ("time", "datetime-local") or is_clock_time(text)


def with_site_offset(text: str) -> str:
    """Append the site's current UTC offset to a time of day."""
    return text + _offset(datetime.now(site_zone()))


def time_text(value: str) -> str:
    """A time of day as its field shows it: without its offset if that is the site's in summer or in winter,
    so that people see what they typed."""
    now = datetime.now(site_zone())
    offsets = {_offset(now)} | {_offset(now.replace(month=month, day=1)) for month in (1, 7)}
    spellings = offsets | ({"+00:00"} if "Z" in offsets else set())
    return next((value.removesuffix(spelling) for spelling in spellings if value.endswith(spelling)), value)


def _offset(at: datetime) -> str:
    offset = at.isoformat(timespec="seconds")[len("2026-11-21T10:05:00") :]
    return "Z" if offset == "+00:00" else offset
