"""The queue's methods that restore what a server lost.

Made of leaseq/queue/restoring.py by ``python -m tests.meta.asynchronous``; not to be edited.
"""

from __future__ import annotations

from collections.abc import Iterable

from leaseq import validation
from leaseq.engine import arguments
from leaseq.errors import Invalid
from leaseq.models import GivenAnswer, GivenAnswerRow, NewItem
from leaseq.policy import Policy
from leaseq.queue.aio.base import Base
from leaseq.queue.restoring import _words


class Restoring(Base):
    async def restore(
        self,
        item: NewItem,
        answers: Iterable[GivenAnswer | GivenAnswerRow] = (),
        *,
        dead: bool = False,
        answers_needed: int | None = None,
        failures: int = 0,
        assigned_to: Iterable[str] = (),
        by: str | None = None,
    ) -> bool:
        """Restore an unfinished item, with the answers that it has; the people who gave them don't get it
        again. ``answers``, ``answers_needed``, ``failures``, ``assigned_to``: as `outcomes` or `outcome_rows`
        return them. It waits, is scheduled, or is dead if it was. Returns False if the queue has the item.

        For programs that rebuild a queue from stored data. Creates the queue if there is none. Raises
        Invalid.
        """
        if item.id is None:
            raise Invalid("id", "required: the id that the item had")
        id, head, payload = arguments.row(item, item.id)
        if answers_needed is not None:
            head += f" n{validation.integer(answers_needed, 'answers_needed', 1, 100)}"
        if validation.integer(failures, "failures", 0, 2**53):
            head += f" f{failures}"
        people = [validation.person_name(person, "assigned_to") + "\t" for person in assigned_to]
        answer_words = [word for one in answers for word in _words(one)]
        await self._create_if_missing()
        state = "dead" if dead else ""
        reply = await self._commands.restore(
            arguments.author(by), 0, [id, head, payload, state, "".join(people), *answer_words]
        )
        return bool(reply.rest[0]) or reply.resent

    async def raise_tokens(self, above: int, *, by: str | None = None) -> None:
        """Make the tokens of all later grants higher than this one. Tokens are never lowered."""
        token = validation.integer(above, "above", 0, 2**52)
        await self._create_if_missing()
        await self._commands.restore(arguments.author(by), token, ())

    async def _create_if_missing(self) -> None:
        if await self._is_new():
            await self._create(Policy())
