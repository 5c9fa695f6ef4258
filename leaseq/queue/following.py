"""The queue's methods for programs that follow its journal, such as the bridge and the webhooks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from leaseq import validation
from leaseq.engine import arguments, codec
from leaseq.errors import Invalid
from leaseq.models import Outcome
from leaseq.queue.base import Base

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}\Z")
_BATCH = 250  # items of one call
_ENTRY_END = 999_999_999  # behind the last event of any entry


class Following(Base):
    def follow(self, name: str, *, read: str | None = None, keep: int | None = None) -> str:
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
        reply = self._commands.follow(_follower(name), entry, "" if read is None else str(number), keep_text)
        return f"{reply.rest[0].decode()}.{_ENTRY_END}"

    def unfollow(self, name: str) -> None:
        """Forget a follower: nothing is kept for it any more."""
        self._commands.unfollow(_follower(name))

    def outcomes(self, ids: Sequence[str]) -> list[Outcome | None]:
        """The state and the answers of many items; None for each that is not there. Payload and results are
        the JSON texts that the server has."""
        item_ids = [validation.item_id(id, "ids") for id in ids]
        outcomes: list[Outcome | None] = []
        while len(outcomes) < len(item_ids):
            batch = item_ids[len(outcomes) : len(outcomes) + _BATCH]
            reply = self._commands.outcomes(batch)
            outcomes += [
                parts and codec.outcome(id, parts) for id, parts in zip(batch, reply.rest, strict=False)
            ]
        return outcomes


def _follower(name: object) -> str:
    if not isinstance(name, str) or not _NAME.match(name):
        raise Invalid("name", "1 to 64 of a-z, 0-9, - and _, beginning with a letter")
    return name
