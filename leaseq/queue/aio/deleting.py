"""The queue's method delete.

Made of leaseq/queue/deleting.py by ``python -m tests.meta.asynchronous``; not to be edited.
"""

from __future__ import annotations

from leaseq.engine import replies
from leaseq.engine.keys import WEBHOOK_STATE
from leaseq.errors import PolicyChanged
from leaseq.policy import Policy
from leaseq.queue.aio.base import Base
from leaseq.queue.base import expected_version


class Deleting(Base):
    async def delete(self, *, expected: Policy | str | None = None) -> None:
        """Delete the queue with its policy, items, answers, drafts and journal.

        No other call finds it from the beginning on: a person who holds an item of it, or waits for one,
        gets QueueNotFound. Its keys then go in bounded steps. Where that is broken off, the next delete
        finishes it, or whatever makes a queue of this name. Such a queue shares nothing with this one, and
        its tokens are above all that were ever granted.

        ``expected``, a policy or its ``version``: only where it is in force; else raises PolicyChanged, and
        nothing changed. Raises QueueNotFound.
        """
        await self._look_for_keys(0)
        await self._connection.ask_all([("HEXISTS", WEBHOOK_STATE, f"follows {self.name}")])
        if (await self._commands.delete(expected_version(expected))).code == replies.CHANGED:
            raise PolicyChanged(self.name, await self.policy)
        await self._delete_keys()
