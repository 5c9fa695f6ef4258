"""The exceptions that the library raises, except PolicyChanged. No redis exception leaves it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leaseq.models import Item


class LeaseqError(Exception):
    """The base of every error that leaseq raises. Each can be pickled, with all its attributes."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Needed because Exception's own method passes only the message to the constructor."""
        return _unpickle, (type(self), self.args, self.__dict__)


def _unpickle(kind: type[LeaseqError], args: tuple[Any, ...], attributes: dict[str, Any]) -> LeaseqError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(attributes)
    return error


class Invalid(LeaseqError):
    """An argument was refused before anything changed.

    ``field`` names it, ``limit`` says what is allowed; ``errors`` maps the path of each answer
    that doesn't fit the queue's form to what is wrong with it, and is empty otherwise.
    """

    def __init__(
        self, field: str, limit: str, message: str = "", *, errors: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message or f"{field}: {limit}")
        self.field = field
        self.limit = limit
        self.errors: dict[str, str] = dict(errors or {})


class TooLarge(Invalid):
    """A payload, result or draft has more bytes of JSON than allowed."""


class LeaseLost(LeaseqError):
    """The caller no longer holds the lease (or never did), and the call had no effect on it.

    ``item`` is the item's current state. ``answer_kept`` is true if the refused answer was kept on
    the item as a late answer, which a manager can see and adopt.
    """

    def __init__(self, message: str, *, item: Item, answer_kept: bool = False) -> None:
        super().__init__(message)
        self.item = item
        self.answer_kept = answer_kept


class ItemNotFound(LeaseqError):
    """The queue has no item with this id: it never existed, or it was removed."""

    def __init__(self, queue: str, id: str) -> None:
        super().__init__(f"queue {queue!r} has no item {id!r}: it was never there, or was removed")
        self.queue = queue
        self.id = id


class ItemFinished(LeaseqError):
    """``remove(unless="finished")`` was called for an item that somebody finished, and nothing changed.
    ``item`` is the item, with its answers. If several people are to answer it, one answer is enough."""

    def __init__(self, queue: str, item: Item) -> None:
        count = len(item.answers)
        answers = f"{count} answer{'' if count == 1 else 's'}"
        super().__init__(f"item {item.id!r} of queue {queue!r} has {answers}, and was not removed")
        self.queue = queue
        self.item = item


class QueueNotFound(LeaseqError):
    """No queue has this name. ``deleted``: there was one, and it was deleted with all its items and leases;
    also False if that is not known."""

    def __init__(self, queue: str, *, deleted: bool = False) -> None:
        note = ": it was deleted, with its items" if deleted else ""
        super().__init__(f"there is no queue {queue!r}{note}")
        self.queue = queue
        self.deleted = deleted


class QueueExists(LeaseqError):
    """``configure(create_only=True)`` was called for a queue that exists; nothing changed."""

    def __init__(self, queue: str) -> None:
        super().__init__(f"there is already a queue {queue!r}; it was not changed")
        self.queue = queue


class ServerUnavailable(LeaseqError):
    """The server could not be reached, or the connection broke. Calls work again when it is back.
    ``taken``: the server made the change, but did not confirm it as the policy's ``durable`` requires."""

    def __init__(self, message: str, *, taken: bool = False) -> None:
        super().__init__(message)
        self.taken = taken


class ServerRefused(LeaseqError):
    """The server answered with an error: it is out of memory or read-only, the user lacks a permission, or a
    script failed."""


class QueueUnreadable(ServerRefused):
    """A newer version of leaseq wrote the queue, and this one can't read it. Nothing changed; other queues
    are not affected."""
