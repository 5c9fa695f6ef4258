"""Conflicts of an enqueue: new items whose id exists with another payload."""

from __future__ import annotations

from typing import Any, NoReturn

import leaseq
from leaseq.webapp.serving.problem import Problem

MAX_LISTED = 100


def refuse(conflict: leaseq.Conflict) -> NoReturn:
    """Raise the problem for the conflict of one item."""
    raise Problem(
        409,
        "conflict",
        f"there is already an item with the id {conflict.id!r} and a different payload, and nothing was "
        f"changed. "
        "Use another id for a new item; to replace the existing item, remove it first",
        id=conflict.id,
    )


class Conflicts:
    """The conflicts of an enqueue of many items. All others are added."""

    def __init__(self) -> None:
        self._count = 0
        self._entries: list[dict[str, Any]] = []

    def add(self, conflict: leaseq.Conflict) -> None:
        self._count += 1
        if len(self._entries) < MAX_LISTED:
            self._entries.append({"number": conflict.place + 1, "id": conflict.id})

    def members(self, counts: leaseq.EnqueuedMany) -> dict[str, Any]:
        """The members of the problem: the items that were added, and those that were not."""
        return {
            "added": counts.added,
            "duplicates": counts.duplicates,
            "conflicts": self._count,
            "items": self._entries,
        }

    def answer(self, counts: leaseq.EnqueuedMany) -> dict[str, int]:
        """The response if every item could be read. Raises Problem if there are conflicts."""
        if self._count == 0:
            return {"added": counts.added, "duplicates": counts.duplicates}
        total = counts.added + counts.duplicates + counts.conflicts
        first = ", ".join(f"item {one['number']} ({one['id']!r})" for one in self._entries[:3])
        ellipsis = ", …" if self._count > 3 else ""
        raise Problem(
            409,
            "conflict",
            f"{self._count:,} of {total:,} items were not added: there are already items with their ids and "
            f"different payloads: {first}{ellipsis}. All others were added",
            **self.members(counts),
        )
