"""The JSON shape of an answer."""

from __future__ import annotations

from typing import Any

from leaseq.models import Answer
from leaseq.transfer.times import rfc3339


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
