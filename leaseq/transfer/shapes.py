"""The JSON shape of an answer, and of times."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from leaseq.errors import Invalid
from leaseq.models import Answer


def rfc3339(time: datetime) -> str:
    """An aware time in UTC with milliseconds: ``2026-11-21T10:05:00.123Z``."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def time_of(text: str, field: str, *, last: bool = False) -> datetime:
    """A time as a filter takes it: RFC 3339 with its zone, or a day of UTC, which is its beginning; its end
    where it is the ``last`` one meant."""
    try:
        if len(text) == len("2026-11-21"):
            day = date.fromisoformat(text) + timedelta(days=last)
            return datetime.combine(day, time(), UTC)
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise Invalid(field, "a day such as 2026-11-21, or a time with its zone such as 2026-11-21T10:05:00Z")


def answer_shape(answer: Answer) -> dict[str, Any]:
    """An answer as a line of an export has it."""
    return {
        "id": answer.id,
        "payload": answer.payload,
        "result": answer.result,
        "person": answer.person,
        "token": answer.token,
        "attempt": answer.attempt,
        "finished_at": rfc3339(answer.finished_at),
        "late": answer.late,
    }
