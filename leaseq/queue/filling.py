"""Items enter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from leaseq import arguments, digest, ids, strict
from leaseq.errors import Invalid
from leaseq.model import Counts, Enqueued, Json, NewItem
from leaseq.policy import Policy
from leaseq.queue.base import Base

# How much one call to the server adds at most, which takes it about a millisecond.
_BATCH = 250  # items
_BATCH_BYTES = 1_000_000


class Filling(Base):
    _digests = False  # whether the policy wanted digests of the payloads when something last entered

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
        request_id: str | None = None,
    ) -> Enqueued:
        """Add one item. With an id that the queue already has, nothing changes and ``added`` is False.

        So with a payload that entered within the policy's ``dedupe_seconds``: ``id`` is that item's then.
        ``request_id`` names this call, so that sending it again soon answers the same.
        """
        needs = strict.skills(requires, "requires")
        new = NewItem(payload, id, priority, delay, needs, due, max_attempts)
        row = arguments.row(new, id if id is not None else ids.item_ids(1)[0])
        added, twin = self._enqueue(row, arguments.request(request_id))
        return Enqueued(twin or row[0], added == 1)

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
                added += self._enqueue(rows, ids.request_id())[0]
                rows, size = [], 0
        if rows:
            added += self._enqueue(rows, ids.request_id())[0]
        return Counts(added, total - added)

    def _enqueue(self, rows: Sequence[str], request: str) -> tuple[int, str]:
        """How many were added, and the id of the item that has the first one's payload, or ''.

        The server asks for digests where the policy wants them, and answers so that they are known to be of
        use or not: nobody relies on a policy that was read before.
        """
        while True:
            reply = self._moves.enqueue(request, digest.with_digests(rows) if self._digests else rows)
            if reply.code == b"no-queue":
                self._make(Policy())
            elif reply.code == b"digests":
                self._digests = True
            else:
                break
        self._rows(reply)
        self._digests = len(reply.rest) > 1
        return int(reply.rest[0]), reply.rest[1].decode() if self._digests else ""
