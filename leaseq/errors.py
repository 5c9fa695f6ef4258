"""The exceptions that the library raises, except PolicyChanged. No redis exception leaves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Self

from leaseq.sentences import expected, plain, rule_of, sentence

if TYPE_CHECKING:
    from leaseq.models import Answer, Item

NotAnsweredReason = Literal["expired", "cancelled", "dead"]


class LeaseqError(Exception):
    """The base of every error that leaseq raises. Each can be pickled, with all its attributes.

    ``rule`` is the name of its sentence in `leaseq.sentences`, and ``values`` what that mentions, as JSON;
    both are empty if the message has no fixed words.
    """

    rule: str = ""
    values: Mapping[str, Any] = MappingProxyType({})

    def tell(self, rule: str, **values: Any) -> None:
        """Take the message from a rule."""
        self.rule, self.values = rule, {name: plain(value) for name, value in values.items()}
        self.args = (sentence(rule, values),)

    def __reduce__(self) -> tuple[Any, ...]:
        """Needed because Exception's own method passes only the message to the constructor."""
        return _unpickle, (type(self), self.args, self.__dict__)


def _unpickle(kind: type[LeaseqError], args: tuple[Any, ...], attributes: dict[str, Any]) -> LeaseqError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(attributes)
    return error


class Invalid(LeaseqError):
    """An argument was refused before anything changed.

    ``field`` names it, ``rule`` is the name of the rule that it breaks, and ``values`` are what the rule's
    sentence mentions, as JSON: see `leaseq.sentences`. ``errors`` maps the path of each answer that doesn't
    fit the queue's form to what is wrong with it, ``refusals`` to an Invalid of its own, with the rule; both
    are empty otherwise.
    """

    def __init__(
        self, field: str, rule: str, /, *, errors: Mapping[str, str | Invalid] | None = None, **values: Any
    ) -> None:
        self.tell(rule, **values)
        self.field = field
        self.errors: dict[str, str] = {
            path: str(error.args[0] if isinstance(error, Invalid) else error)
            for path, error in (errors or {}).items()
        }
        self.refusals: dict[str, Invalid] = {
            path: error for path, error in (errors or {}).items() if isinstance(error, Invalid)
        }

    @property
    def limit(self) -> str:
        """The limit that was exceeded."""
        return expected(self.rule, self.values)

    def at(self, field: str) -> Self:
        """The same error, of a field with another name."""
        error = copy(self)
        error.field = field
        return error

    def __str__(self) -> str:
        return (
            str(self.args[0]) if rule_of(self.rule, self.values).sentence else f"{self.field}: {self.args[0]}"
        )


class TooLarge(Invalid):
    """A payload, result or draft has more bytes of JSON than allowed."""


class LeaseLost(LeaseqError):
    """The caller no longer holds the lease (or never did), and the call had no effect on it.

    ``item`` is the item's current state. ``answer_kept`` is true if the refused answer was kept on
    the item as a late answer, which a manager can see and adopt.
    """

    def __init__(self, rule: str, *, item: Item, answer_kept: bool = False, **values: Any) -> None:
        self.tell(rule, **{"id": item.id, **values})
        if answer_kept:
            kept = sentence("answer_kept", {})
            self.args = (f"{self}; {kept}",)
        self.item = item
        self.answer_kept = answer_kept


class ItemNotFound(LeaseqError):
    """The queue has no item with this id: it never existed, or it was removed."""

    def __init__(self, queue: str, id: str) -> None:
        self.tell("not_found", what="item", queue=queue, id=id)
        self.queue = queue
        self.id = id


class ItemFinished(LeaseqError):
    """``remove(unless="finished")`` was called for an item that somebody finished, and nothing changed.
    ``item`` is the item, with its answers. If several people are to answer it, one answer is enough."""

    def __init__(self, queue: str, item: Item) -> None:
        self.tell("item_finished", queue=queue, id=item.id, count=len(item.answers))
        self.queue = queue
        self.item = item


class NotAnswered(LeaseqError):
    """Nobody will answer a question. ``reason``: "expired" if nobody did in time, "cancelled" if somebody
    cancelled or removed it, "dead" if too many people failed to answer it. ``answers``: those that it has, if
    it was put to several people."""

    def __init__(self, id: str, reason: NotAnsweredReason, answers: Sequence[Answer] = ()) -> None:
        self.tell("not_answered", what=reason, id=id)
        self.id = id
        self.reason = reason
        self.answers = tuple(answers)


class StillWaiting(LeaseqError):
    """Nobody has answered a question yet, and somebody still may: wait on with `Queue.wait_for`."""

    def __init__(self, id: str) -> None:
        self.tell("still_waiting", id=id)
        self.id = id


class QueueNotFound(LeaseqError):
    """No queue has this name. ``deleted``: there was one, and it was deleted with all its items and leases;
    also False if that is not known."""

    def __init__(self, queue: str, *, deleted: bool = False) -> None:
        self.tell("not_found", what="deleted_queue" if deleted else "queue", name=queue)
        self.queue = queue
        self.deleted = deleted


class QueueExists(LeaseqError):
    """``configure(create_only=True)`` was called for a queue that exists; nothing changed."""

    def __init__(self, queue: str) -> None:
        self.tell("taken", what="queue", name=queue)
        self.queue = queue


class ServerUnavailable(LeaseqError):
    """The server could not be reached, or the connection broke. Calls work again when it is back.
    ``taken``: the server made the change, but did not confirm it as the policy's ``durable`` requires."""

    def __init__(self, rule: str, *, taken: bool = False, **values: Any) -> None:
        self.tell(rule, **values)
        self.taken = taken


class ServerRefused(LeaseqError):
    """The server answered with an error: it is out of memory or read-only, the user lacks a permission, or a
    script failed."""

    def __init__(self, rule: str, **values: Any) -> None:
        self.tell(rule, **values)


class QueueUnreadable(ServerRefused):
    """A newer version of leaseq wrote the queue, and this one can't read it. Nothing changed; other queues
    are not affected."""
