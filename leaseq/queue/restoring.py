"""The queue's methods that restore what a server lost."""

from __future__ import annotations

from collections.abc import Iterable

from leaseq import validation
from leaseq.engine import arguments, codec
from leaseq.errors import Invalid
from leaseq.models import GivenAnswer, GivenAnswerRow, NewItem
from leaseq.policy import Policy
from leaseq.queue.base import Base


class Restoring(Base):
    def restore(
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
        self._create_if_missing()
        state = "dead" if dead else ""
        reply = self._commands.restore(
            arguments.author(by), 0, [id, head, payload, state, "".join(people), *answer_words]
        )
        return bool(reply.rest[0]) or reply.resent  # if resent, it finds its own

    def raise_tokens(self, above: int, *, by: str | None = None) -> None:
        """Make the tokens of all later grants higher than this one. Tokens are never lowered."""
        token = validation.integer(above, "above", 0, 2**52)
        self._create_if_missing()
        self._commands.restore(arguments.author(by), token, ())

    def _create_if_missing(self) -> None:
        if self._is_new():
            self._create(Policy())


def _words(answer: GivenAnswer | GivenAnswerRow) -> tuple[str, ...]:
    return (
        validation.person_name(answer.person),
        str(validation.integer(answer.token, "token", 1, 2**53)),
        str(codec.microseconds(answer.finished_at)),
        "1" if answer.late else "0",
        "1" if answer.stands else "0",
        _result(answer),
    )


def _result(answer: GivenAnswer | GivenAnswerRow) -> str:
    """The result as JSON text; that of a row is kept exactly."""
    if not isinstance(answer, GivenAnswerRow):
        return validation.dump_json(answer.result, "result")
    validation.load_json(answer.result, "result")
    return answer.result
