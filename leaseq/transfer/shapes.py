"""The JSON shape of an answer, and of an item."""

from __future__ import annotations

from typing import Any

from leaseq.models import Answer, Item
from leaseq.transfer.times import rfc3339

ANSWER_FIELDS = ("id", "payload", "result", "person", "token", "attempt", "finished_at", "late")
# What an item may be enqueued with, and what is told of it besides.
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
    """An item as a row of an export: first the fields of a new item like it, as `from_envelope` takes them,
    then what is known of it. ``max_attempts``: the policy's, which the new item has by itself."""
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
