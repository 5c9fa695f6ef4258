"""Items enter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from leaseq import arguments, ids, strict
from leaseq.errors import Invalid
from leaseq.model import Counts, Enqueued, Json, NewItem
from leaseq.policy import Policy
from leaseq.queue.base import Base

# How much one call to the server adds at most, which takes it about a millisecond.
_BATCH = 250  # items
_BATCH_BYTES = 1_000_000


class Filling(Base):
    def enqueue(
        self,
        payload: Json,
        *,
        id: str | None = None,
        priority: int = 100,
        delay: float = 0,
        requires: Sequence[str] = (),
        due: datetime | None = None,
        max_attempts: int | None = None,
    ) -> Enqueued:
        """Add one item. With an id that the queue already has, nothing changes and ``added`` is False."""
        needs = strict.skills(requires, "requires")
        new = NewItem(payload, id, priority, delay, needs, due, max_attempts)
        row = arguments.row(new, id if id is not None else ids.item_ids(1)[0])
        return Enqueued(row[0], self._enqueue(row) == 1)

    def enqueue_many(self, items: Iterable[Json | NewItem]) -> Counts:
        """Add any number of payloads or NewItems, in chunks that are each all in or not at all.

        An Invalid item raises with its place in ``field`` (``items[17].priority``); the chunks before
        it are in, its own and those after it are not. With ids of your own, sending all of it again
        adds only what is missing.
        """
        if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
            raise Invalid("items", "a list or another iterable of payloads or NewItems")
        added = total = size = 0
        rows: list[str] = []
        spare: list[str] = []
        for item in items:
            new = item if isinstance(item, NewItem) else None
            if not spare:
                spare = ids.item_ids(_BATCH)[::-1]
            try:
                if new is None:
                    row = [spare.pop(), "", strict.dump_json(item, "payload")]
                else:
                    row = arguments.row(new, new.id if new.id is not None else spare.pop())
            except Invalid as error:
                raise Invalid(f"items[{total}].{error.field}", error.limit) from None
            rows += row
            total += 1
            size += len(row[2])
            if len(rows) == 3 * _BATCH or size > _BATCH_BYTES:
                added += self._enqueue(rows)
                rows, size = [], 0
        if rows:
            added += self._enqueue(rows)
        return Counts(added, total - added)

    def _enqueue(self, rows: Sequence[str]) -> int:
        request = ids.request_id()
        reply = self._moves.enqueue(request, rows)
        if reply.code == b"no-queue":
            self._make(Policy())
            reply = self._moves.enqueue(request, rows)
        self._rows(reply)
        return int(reply.rest[0])
