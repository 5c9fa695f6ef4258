"""All queues of a server: list, restore, delete, and erase a person."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from leaseq import validation
from leaseq.engine import arguments, codec, replies
from leaseq.engine.connection import Connection, ServerMarker
from leaseq.engine.keys import QUEUES, STATUS, WEBHOOK_STATE, Keys
from leaseq.errors import Invalid, LeaseqError
from leaseq.models import (
    SIGNS,
    DiedOf,
    Erased,
    GivenAnswer,
    GivenAnswerRow,
    Item,
    NewItem,
    PersonItem,
    Relation,
)
from leaseq.policy import Policy, PolicyChanged
from leaseq.queue.base import Base, expected_version

_BATCH = 1_000  # queues looked up in one round trip


def names(connection: Connection) -> list[str]:
    """The names of the queues, sorted. Adds again those that the list has lost: see `leaseq.queues`."""
    (members,) = connection.ask_all([("SMEMBERS", QUEUES)])
    listed_names = {name.decode() if isinstance(name, bytes) else name for name in members}
    missing_names = connection.names - listed_names
    existing_names = _existing_names(connection, sorted(listed_names | missing_names))
    if lost_names := missing_names.intersection(existing_names):
        with suppress(LeaseqError):  # a read-only user gets the list nevertheless
            connection.ask_all([("SADD", QUEUES, *lost_names)])
    connection.names.update(existing_names)
    connection.names.difference_update(missing_names - lost_names)
    return existing_names


def _existing_names(connection: Connection, candidates: Sequence[str]) -> list[str]:
    """The names of the candidates that exist."""
    statuses: list[bytes | None] = []
    for start in range(0, len(candidates), _BATCH):
        batch = candidates[start : start + _BATCH]
        statuses += connection.ask_all([("HGET", Keys(name).ledger, STATUS) for name in batch])
    return [name for name, status in zip(candidates, statuses, strict=True) if status is not None]


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
        if self._commands.run("delete", expected_version(expected)).code == replies.CHANGED:
            raise PolicyChanged(self.name, self.policy)
        self._delete_keys()


_STEP = 50  # items per call, about: half a millisecond of the server's time
_ROUNDS = 5


class Erasing(Base):
    def person_items(self, person: str) -> Iterator[PersonItem]:
        """Each item that names a person, in no particular order, with their leases, answers and draft of it.
        The items are read in bounded steps."""
        return self._person_items(validation.person_name(person))

    def _person_items(self, person: str) -> Iterator[PersonItem]:
        for item, (sign, is_assigned, *draft) in self._scan(
            lambda step: self._commands.run("person_items", person, step, _STEP)
        ):
            relation = SIGNS.get(sign.decode())
            yield _person_item(item, person, relation, bool(is_assigned), draft[0] if draft else None)

    def erase_person(self, person: str, to: str, *, by: str | None = None) -> Erased:
        """Replace a person's name with another, ``to``, in every item, in bounded steps.

        ``to`` must be nobody else's name, such as a new random one: their answers still belong to one person,
        and nobody gets an item twice. Their leases end, their drafts are deleted, and items that were
        assigned to them may go to anybody. The journal is not changed, so it contains the name until it is
        trimmed; texts that they wrote stay. If this is interrupted, call it again with the same ``to``.
        Raises Invalid if they continue to reserve items, or are assigned some, while this runs.
        """
        person, new_name = validation.person_name(person), validation.person_name(to, "to")
        if new_name == person:
            raise Invalid("to", "format", what="other_name")
        manager, items, leases = arguments.author(by), 0, 0
        marker = ServerMarker(self._connection, self._keys.ledger)
        for _ in range(_ROUNDS):
            marker.load()
            step: str | None = ""
            while step is not None:
                reply = self._commands.run("erase_person", person, new_name, manager, step, _STEP)
                if reply.code == replies.AGAIN:
                    break
                next_step, item_count, lease_count = reply.rest
                items, leases = items + int(item_count), leases + int(lease_count)
                step = next_step.decode() or None
            if step is None and marker.is_present():
                return Erased(items, leases)
        raise Invalid("person", "still_reserving", person=person, count=_ROUNDS)


def _person_item(
    item: Item, person: str, relation: Relation | None, is_assigned: bool, draft: bytes | None
) -> PersonItem:
    return PersonItem(
        item.id,
        item.state,
        tuple(grant for grant in item.history if grant.person == person),
        tuple(answer for answer in item.answers if answer.person == person),
        tuple(answer for answer in item.late_answers if answer.person == person),
        relation,
        is_assigned,
        draft is not None,
        None if draft is None else json.loads(draft),
    )


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
        died_of: DiedOf | None = None,
        reason: str | None = None,
        asked_by: str | None = None,
        by: str | None = None,
    ) -> bool:
        """Restore an unfinished item, with the answers that it has; the people who gave them don't get it
        again. The other arguments that are fields of `Outcome`: as `outcomes` or `outcome_rows` return them.
        ``item.to`` is the same as one person in ``assigned_to``: give one of the two. It waits, is
        scheduled, or is dead if it was; if its deadline is over, it dies as any item that waits. Returns
        False if the queue has the item.

        For programs that rebuild a queue from stored data. Creates the queue if there is none. Raises
        Invalid.
        """
        if item.id is None:
            raise Invalid("id", "required")
        people = [validation.person_name(person, "assigned_to") for person in assigned_to]
        if item.to is not None:
            if people:
                raise Invalid("assigned_to", "not_together", other="to")
            people = [validation.person_name(item.to, "to")]
        id, head, payload = arguments.row(replace(item, to=None), item.id)
        if answers_needed is not None:
            head += f" n{validation.integer(answers_needed, 'answers_needed', 1, 100)}"
        if validation.integer(failures, "failures", 0, 2**53):
            head += f" f{failures}"
        head += arguments.ending(died_of if dead else None, reason) + arguments.asked(asked_by)
        answer_words = [word for answer in answers for word in _words(answer)]
        self._create_if_missing()
        words = (
            id,
            head,
            payload,
            "dead" if dead else "",
            "".join(f"{person}\t" for person in people),
            *answer_words,
        )
        reply = self._commands.run("restore", arguments.author(by), 0, *words)
        return bool(reply.rest[0]) or reply.resent  # if resent, it finds its own

    def raise_tokens(self, above: int, *, by: str | None = None) -> None:
        """Make the tokens of all later grants higher than this one. Tokens are never lowered."""
        token = validation.integer(above, "above", 0, 2**52)
        self._create_if_missing()
        self._commands.run("restore", arguments.author(by), token)

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
