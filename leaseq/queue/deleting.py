"""The queue's method `delete`."""

from __future__ import annotations

from leaseq.engine import replies
from leaseq.engine.keys import WEBHOOK_STATE
from leaseq.errors import PolicyChanged
from leaseq.policy import Policy
from leaseq.queue.base import Base, expected_version


class Deleting(Base):
    def delete(self, *, expected: Policy | str | None = None) -> None:
        """Delete the queue with its policy, items, answers, drafts and journal.

        As soon as this begins, no other call finds the queue: a person who holds or waits for an item of it
        gets QueueNotFound. Its keys are then deleted in bounded steps. If that is interrupted, the next
        delete, or the next call that creates a queue of this name, finishes it. The new queue shares nothing
        with this one, and its tokens are higher than all that this one granted.

        ``expected``, a policy or its ``version``: delete only if this one is in force; otherwise raises
        PolicyChanged, and nothing changes. Raises QueueNotFound if there is no queue.
        """
        self._scan_keys(0)  # if the user lacks the rights, this fails before anything changes
        self._connection.ask_all([("HEXISTS", WEBHOOK_STATE, f"follows {self.name}")])
        if self._commands.delete(expected_version(expected)).code == replies.CHANGED:
            raise PolicyChanged(self.name, self.policy)
        self._delete_keys()
