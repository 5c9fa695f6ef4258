"""What people wrote about an item when they gave it up: reports of a problem, and notes."""

from __future__ import annotations

import leaseq


def end_reason(item: leaseq.Item) -> leaseq.Grant | None:
    """The latest grant whose holder reported a problem, or gave the item back with a note."""
    return next((one for one in reversed(item.history) if one.reason and _has_remark(one)), None)


def last_note(item: leaseq.Item) -> leaseq.Grant | None:
    """The latest grant with a text for the next person: the note with which its holder gave the item back, or
    a manager's reason for reopening it."""
    endings = ("abandoned", "reopened")
    return next((one for one in reversed(item.history) if one.reason and one.how in endings), None)


def _has_remark(grant: leaseq.Grant) -> bool:
    return grant.how in ("abandoned", "failed")
