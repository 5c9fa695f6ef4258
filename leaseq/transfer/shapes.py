"""The JSON shape of an answer, and times as JSON has them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from leaseq.model import Answer


def rfc3339(time: datetime) -> str:
    """An aware time in UTC with milliseconds: ``2026-11-21T10:05:00.123Z``."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


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
