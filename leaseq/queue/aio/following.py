"""The queue's methods for programs that follow its journal, such as the bridge and the webhooks.

Made of leaseq/queue/following.py by ``python -m tests.meta.asynchronous``; not to be edited.
"""

from __future__ import annotations

from collections.abc import Sequence

from leaseq import validation
from leaseq.engine import arguments, codec
from leaseq.models import Outcome
from leaseq.queue.aio.base import Base
from leaseq.queue.following import _BATCH, _ENTRY_END, _follower


class Following(Base):
    async def follow(self, name: str, *, read: str | None = None, keep: int | None = None) -> str:
        """Where the follower of this name goes on in the journal: a cursor for `journal`'s ``after``.

        What a follower has not read is kept: the journal is not trimmed past it, up to four million entries,
        and finished and dead items are not deleted. A new name begins with the oldest event. ``read``: the
        cursor of the last event that the follower has processed.

        The position never moves back, and is always between two journal entries, each of which has the events
        of one call: if only some events of an entry were read, all of them come again. So ask for the
        position once, at the start, and continue from the cursor of the last event: a call may have more
        events than a page of `journal`. Cursors are to be passed back, not compared. ``keep``: of what all
        followers have read, keep only about so many entries.
        """
        keep_text = "" if keep is None else str(validation.integer(keep, "keep", 0, 10**9))
        entry, number = ("", 0) if read is None else arguments.event(read, "read")
        reply = await self._commands.follow(
            _follower(name), entry, "" if read is None else str(number), keep_text
        )
        return f"{reply.rest[0].decode()}.{_ENTRY_END}"

    async def unfollow(self, name: str) -> None:
        """Forget a follower: nothing is kept for it any more."""
        await self._commands.unfollow(_follower(name))

    async def outcomes(self, ids: Sequence[str]) -> list[Outcome | None]:
        """The state and the answers of many items; None for each that is not there. Payload and results are
        the JSON texts that the server has."""
        item_ids = [validation.item_id(id, "ids") for id in ids]
        outcomes: list[Outcome | None] = []
        while len(outcomes) < len(item_ids):
            batch = item_ids[len(outcomes) : len(outcomes) + _BATCH]
            reply = await self._commands.outcomes(batch)
            outcomes += [
                parts and codec.outcome(id, parts) for id, parts in zip(batch, reply.rest, strict=False)
            ]
        return outcomes
