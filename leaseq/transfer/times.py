"""Parses and formats times: RFC 3339, and the days and clock times of a time zone."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo

from leaseq.errors import Invalid
from leaseq.validation import refusal


def rfc3339(time: datetime) -> str:
    """Format an aware time, in UTC with milliseconds: ``2026-11-21T10:05:00.123Z``."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


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
        raise refusal(field, _expected(zone), text) from None
    if moment.tzinfo is None and zone is None:
        raise refusal(field, _expected(zone), text)
    return in_zone(moment, zone or UTC, field, last=last)


def period_of(
    since: str | None, until: str | None, zone: tzinfo | None = None
) -> tuple[datetime | None, datetime | None]:
    """The period given by a filter's fields ``from`` and ``to``, each parsed by `time_of` with ``zone``, or
    None if it is not given. Raises Invalid unless the period ends after it begins."""
    begin = None if since is None else time_of(since, "from", zone=zone)
    end = None if until is None else time_of(until, "to", last=True, zone=zone)
    if begin and end and begin >= end:
        raise Invalid("from", f"a time before to; this is {since}, and to is {until}")
    return begin, end


def _expected(zone: tzinfo | None) -> str:
    if zone is None:
        return "a day such as 2026-11-21, or a time with its zone such as 2026-11-21T10:05:00Z"
    return f"a day such as 2026-11-21, or a time such as 2026-11-21T10:05; both in {zone}"


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
        raise Invalid(field, "a time in the years 1 to 9999") from None
    if moment.tzinfo is zone and local_moment.replace(tzinfo=None) != moment.replace(tzinfo=None):
        raise Invalid(
            field,
            f"a time that exists in {zone}: on {moment:%Y-%m-%d} its clocks skip {moment:%H:%M}, "
            "when they are put forward",
        )
    return utc_moment
