"""Every key of a queue. The only Python file that spells one.

All keys of a queue carry its name as the hash tag, so that one queue lives in one slot of a cluster.
``docs/inspecting.md`` shows how to read them by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

QUEUES = "leaseq:queues"
"""A set of the names of all queues. A name enters before its queue is made, so none is ever missing."""

UNDECLARED_PROXY = "leaseq:{@web}:undeclared-proxy"
"""A hash that the web app leaves for the doctor, with ``address`` and ``header``; gone after two hours. No
queue can have this name: it has an '@'."""

SCHEMA = 2
"""Of the keys as this version makes them; ``docs/decisions/0010-schema.md`` says when it grows."""


@dataclass(frozen=True)
class Keys:
    """The keys of one queue. With ``dedupe_seconds`` there is also a string for each payload that entered,
    ``…:seen:<digest>``: when, and as which item. The server lets it expire."""

    queue: str

    def _key(self, part: str) -> str:
        return f"leaseq:{{{self.queue}}}:{part}"

    @cached_property
    def ledger(self) -> str:
        """Hash: the queue's clock, token, policy and counters; ``p:<person>``, what the person holds;
        ``g:<id>``, the item's latest grant and, once finished, its answer."""
        return self._key("ledger")

    @cached_property
    def items(self) -> str:
        """Hash: id → the item's head, a newline, its payload."""
        return self._key("items")

    @cached_property
    def inbound(self) -> str:
        """Sorted set: what waits in the normal band, by when it entered. The other shelves of the row
        append their name to it: ``…:inbound:high``, ``…:inbound:normal:returned``."""
        return self._key("inbound")

    @cached_property
    def reserved(self) -> str:
        """Sorted set: what is held, by when its lease runs out."""
        return self._key("reserved")

    @cached_property
    def scheduled(self) -> str:
        """Sorted set: what waits for its time, by when it is due."""
        return self._key("scheduled")

    @cached_property
    def finished(self) -> str:
        """Sorted set: what is done, by when it was finished."""
        return self._key("finished")

    @cached_property
    def dead(self) -> str:
        """Sorted set: what used up its attempts, by when it died."""
        return self._key("dead")

    @cached_property
    def rows(self) -> str:
        """Hash: a set of skills (``fr+legal``) or a person (``@ann``) → the shelves of that row that may
        hold something. The shelves themselves: ``…:inbound:fr+legal:normal``."""
        return self._key("rows")

    @cached_property
    def due(self) -> str:
        """Sorted set: items with a due date that are neither finished nor dead, by that date."""
        return self._key("due")

    @cached_property
    def bars(self) -> str:
        """Hash: id → who answered it (``=``), never gets it again (``-``), gave it back for later (``~``),
        had it assigned (``@``)."""
        return self._key("bars")

    @cached_property
    def cursors(self) -> str:
        """Hash: person → how far they have looked on which shelf. What they passed over and may have
        later is in sorted sets of their own: ``…:later:<row>:<person>``, of rows that the hash names."""
        return self._key("cursors")

    @cached_property
    def line(self) -> str:
        """Sorted set: who waits for an item, by when they began."""
        return self._key("line")

    @cached_property
    def line_until(self) -> str:
        """Hash: waiter → until when they are believed to be there, when they began, and ``late`` for one that
        was woken and did not come."""
        return self._key("line_until")

    @cached_property
    def wake(self) -> str:
        """Channel: the names of those in line whose turn it is."""
        return self._key("wake")

    @cached_property
    def absent(self) -> str:
        """Never there. ``Bound.whole`` says what for."""
        return self._key("absent")

    @cached_property
    def journal(self) -> str:
        """Stream: one entry per call that changed something, one field per move."""
        return self._key("journal")

    @cached_property
    def history(self) -> str:
        """Hash: id → the item's earlier grants, oldest first, with a blank line between."""
        return self._key("history")

    @cached_property
    def drafts(self) -> str:
        """Hash: ``<id>\\t<person>`` → a draft; ``<id>`` → who has one, the latest last."""
        return self._key("drafts")

    @cached_property
    def late(self) -> str:
        """Hash: id → answers that came too late, with a blank line between."""
        return self._key("late")
