"""Times as people read and type them on pages: by the clocks of the site's time zone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from zoneinfo import ZoneInfo

from leaseq import Invalid, transfer
from leaseq.webapp.context import state

_CLOCK_TIME = re.compile(r"(\d{4}-\d\d-\d\dT)?\d\d:\d\d(:\d\d(\.\d+)?)?")


def site_zone() -> ZoneInfo:
    return state().settings.zone


def filter_time(text: str, field: str) -> datetime | None:
    """The time that a filter's field means, in UTC; None where it is empty. Raises Invalid."""
    text = text.strip()
    return transfer.time_of(text, field, zone=site_zone()) if text else None


def filter_period(fields: Mapping[str, str]) -> tuple[datetime | None, datetime | None]:
    """The period that the fields ``from`` and ``to`` of a filter mean, in UTC; None where one is empty.
    Raises Invalid, also where it ends before it begins."""
    begin, end = (fields.get(name, "").strip() or None for name in ("from", "to"))
    return transfer.period_of(begin, end, site_zone())


def typed_moment(text: str, field: str) -> datetime:
    """A date and a time as they were typed, in UTC; without an offset they are the site's. Raises Invalid."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise Invalid(field, f"a date and a time in {site_zone()}, such as 2026-11-24T17:00") from None
    return transfer.in_zone(moment, site_zone(), field)


def clock_text(moment: datetime) -> str:
    """A time as the field that asks for one has it: what browsers write into a ``datetime-local``, which
    takes no more than milliseconds. Of a time that the clocks show twice, the second keeps its offset."""
    local = moment.astimezone(site_zone())
    text = local.replace(tzinfo=None).isoformat(timespec="milliseconds")
    text = re.sub(r"(?::00)?\.000$|(?<=[1-9])0+$", "", text)
    return text + _offset(local) if local.fold else text


def is_clock_time(text: str) -> bool:
    """Whether a browser's own field for a time can show the text: it has no place for an offset."""
    return not text or _CLOCK_TIME.fullmatch(text) is not None


def typed_time(text: str) -> str:
    """A time of day with the offset that the site's clocks have now."""
    return text + _offset(datetime.now(site_zone()))


def time_text(value: str) -> str:
    """A time of day as its field has it: without an offset where it is one of the site's, in summer or in
    winter, so that what was typed is what is shown."""
    now = datetime.now(site_zone())
    offsets = {_offset(now)} | {_offset(now.replace(month=month, day=1)) for month in (1, 7)}
    spellings = offsets | ({"+00:00"} if "Z" in offsets else set())
    return next((value.removesuffix(one) for one in spellings if value.endswith(one)), value)


def _offset(at: datetime) -> str:
    offset = at.isoformat(timespec="seconds")[len("2026-11-21T10:05:00") :]
    return "Z" if offset == "+00:00" else offset
