"""The queue's methods for programs that follow its journal, such as the bridge and the webhooks.

Made of leaseq/queue/following.py by ``python -m tests.meta.asynchronous``; not to be edited.
"""

from __future__ import annotations

from collections.abc import Iterable

from leaseq import validation
from leaseq.engine import arguments, codec, replies
from leaseq.errors import ItemNotFound, QueueNotFound
from leaseq.models import GivenAnswer, GivenAnswerRow, Outcome, OutcomeRow
from leaseq.queue.aio.base import Base
from leaseq.queue.following import _BATCH, _ENTRY_END, _follower


class Following(Base):
    async def follow(self, name: str, *, read: str | None = None, keep: int | None = None) -> str:
        """The position in the journal from which the follower of this name continues: a cursor for the
        ``after`` of `journal`.

        Entries that a follower has not read are kept: the journal is not trimmed past its position, up to
        four million entries, and finished and dead items are not deleted. A new name begins with the oldest
        event. ``read``: the cursor of the last event that the follower has processed.

        The position never moves back, and is always between two journal entries. An entry has the events of
        one call: if only some of them were read, all of them are returned again. So get the position once, at
        the start, and then continue from the cursor of the last event: a call may have more events than a
        page of `journal`. Pass cursors back as they are; don't compare them. ``keep``: keep only about this
        many of the entries that all followers have read.
        """
        keep_text = "" if keep is None else str(validation.integer(keep, "keep", 0, 10**9))
        entry, number = ("", 0) if read is None else arguments.event(read, "read")
        reply = await self._commands.follow(
            _follower(name), entry, "" if read is None else str(number), keep_text
        )
        return f"{reply.rest[0].decode()}.{_ENTRY_END}"

    async def unfollow(self, name: str) -> None:
        """Remove a follower: nothing is kept for it from then on."""
        await self._commands.unfollow(_follower(name))

    async def outcomes(self, ids: Iterable[str]) -> list[Outcome | None]:
        """The state and the answers of many items; None for each that doesn't exist."""
        return [row and codec.outcome(row) for row in await self.outcome_rows(ids)]

    async def outcome_rows(self, ids: Iterable[str]) -> list[OutcomeRow | None]:
        """Like `outcomes`, but payloads and results are JSON texts, exactly as the server has them: for
        programs that store them."""
        item_ids = [validation.item_id(id, "ids") for id in ids]
        rows: list[OutcomeRow | None] = []
        while len(rows) < len(item_ids):
            batch = item_ids[len(rows) : len(rows) + _BATCH]
            reply = await self._commands.outcomes(batch)
            rows += [
                parts and codec.outcome_row(id, parts) for id, parts in zip(batch, reply.rest, strict=False)
            ]
        return rows

    async def remove_read(
        self, id: str, answers: Iterable[GivenAnswer | GivenAnswerRow], *, by: str | None = None
    ) -> bool:
        """Delete an item, unless it has an answer that was given after all of ``answers``. Returns whether
        the item is gone.

        For programs that keep the answers elsewhere and pass those that they have stored: an answer that
        somebody gives in the meantime is not deleted.
        """
        times = (codec.microseconds(one.finished_at) for one in answers)
        condition = ("unread", str(max(times, default=0)))
        try:
            reply = await self._commands.remove(validation.item_id(id), arguments.author(by), *condition)
        except (ItemNotFound, QueueNotFound):
            return True
        return reply.code != replies.UNREAD
