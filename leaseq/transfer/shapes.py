"""The JSON shape of an answer, and of an item."""

from __future__ import annotations

from typing import Any

from leaseq.models import Answer, Item
from leaseq.transfer.times import rfc3339

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
