"""The names of a queue's keys in the server. No other Python file contains one.

The queue's name is the hash tag of its keys, so that all of them are in one slot of a cluster.
``docs/inspecting.md`` shows how to read them by hand.
"""

from __future__ import annotations

from dataclasses import dataclass

NO_QUEUES = "leaseq:{@"
"""The prefix of all keys except those of queues and their list: no queue name contains an '@'."""

QUEUES = "leaseq:queues"
"""Set: the names of all queues. A name is added before its queue is created, so none is ever missing."""

STATUS = "status"
"""The field of a queue's ledger that exists as long as the queue."""

UNDECLARED_PROXY = "leaseq:{@web}:undeclared-proxy"
"""Hash: ``address`` and ``header`` of a proxy that the web app's settings do not declare, for the doctor.
Expires after two hours. No queue can have this name: it contains an '@'."""

WEBHOOKS = "leaseq:{@webhooks}:endpoints"
"""Hash: id → a webhook endpoint with its secrets (JSON)."""

WEBHOOK_STATE = "leaseq:{@webhooks}:state"
"""Hash: ``since <id>`` and ``failing <id>`` → a time in microseconds, ``disabled <id>`` → the time and why
(JSON), ``follows <queue>`` → 1 if its journal is followed, ``read`` → the last entry that was read from the
stream."""

WEBHOOK_EVENTS = "leaseq:{@webhooks}:events"
"""Stream: events that are in no queue's journal, such as those of people: ``type`` and ``data`` (JSON)."""

RESTORING = "leaseq:{@restore}:file"
"""String: the SHA-256 of the backup that is being restored. Deleted at the end of the restore."""

RESTORING_KEYS = "leaseq:{@restore}:keys"
"""String: exists once the keys that don't belong to queues have been restored."""

RESTORED_QUEUES = "leaseq:{@restore}:queues"
"""Set: the queues that have been restored. Each is added before other calls can find the queue."""

SCHEMA = 1
"""The schema number of the stored data; ``docs/decisions/0010-schema.md`` describes when to raise it."""


def of_queue(queue: str, part: str = "*") -> str:
    """A key of a queue; without ``part``, a pattern that matches all its keys and no others."""
    return f"leaseq:{{{queue}}}:{part}"


class _Key:
    """The name of a key, made at its first use. The attribute's name is the key's last part."""

    def __set_name__(self, _owner: type, name: str) -> None:
        self._name = name

    def __get__(self, keys: Keys, _owner: type) -> str:
        key: str = keys.__dict__.setdefault(self._name, of_queue(keys.queue, self._name))
        return key


@dataclass(frozen=True)
class Keys:
    """The keys of one queue. With ``dedupe_seconds``, there is also a string for each added payload,
    ``…:seen:<digest>``, which contains the time and the item's id, and expires."""

    queue: str

    ledger = _Key()
    """Hash: the queue's clock, last token, policy and counters; ``p:<person>``: the leases of a person;
    ``g:<id>``: the latest grant of an item and, once it is finished, its answer."""
    items = _Key()
    """Hash: id → the item's head, a newline, and its payload."""
    inbound = _Key()
    """Sorted set: the inbound items of the normal band, by the time they were added. The keys of the
    row's other shelves have a suffix: ``…:inbound:high``, ``…:inbound:normal:returned``."""
    reserved = _Key()
    """Sorted set: the reserved items, by the time their lease expires."""
    scheduled = _Key()
    """Sorted set: the scheduled items, by the time from which they may be reserved."""
    finished = _Key()
    """Sorted set: the finished items, by the time they were finished."""
    dead = _Key()
    """Sorted set: the dead items, by the time they died."""
    rows = _Key()
    """Hash: a row, which is a set of skills (``fr+legal``) or a person (``@ann``) → those of its shelves
    that may have items. A shelf of such a row has the key ``…:inbound:fr+legal:normal``."""
    due = _Key()
    """Sorted set: items with a due date that are neither finished nor dead, by that date."""
    expiring = _Key()
    """Sorted set: items whose answer is needed until some time, by that time, until it is over."""
    questions = _Key()
    """Sorted set: open questions, by until when the answer is needed. They are not in ``expiring``."""
    answer_times = _Key()
    """Hash: 0 to 99 → how long one of the latest 100 answered questions took to get its first answer, in
    microseconds; ``count``: how many were answered."""
    forms = _Key()
    """Hash: the forms of items' own, each by its version; ``n:<version>``: how many items have it."""
    relations = _Key()
    """Hash: id → the people who answered the item (``=``), may never reserve it again (``-``), gave it
    back for later (``~``), or to whom it is assigned (``@``)."""
    cursors = _Key()
    """Hash: person → how far each shelf has been searched for them. Items that were skipped, but that
    they may reserve later, are in sorted sets ``…:later:<row>:<person>``."""
    passed = _Key()
    """Hash: row and shelf → how far anybody's cursors on it are; exists as long as anybody has one."""
    waiters = _Key()
    """Sorted set: the waiting list, by the time at which each waiter began to wait."""
    waiter_times = _Key()
    """Hash: waiter → the time until which it is presumed alive, the time it began to wait, and ``late``
    if it was woken and has not called since."""
    wake = _Key()
    """Pub/sub channel: the names of woken waiters."""
    ended = _Key()
    """Pub/sub channel: the items that somebody asked about and that got an answer, or will get none."""
    decisions = _Key()
    """Hash: id → the decision on the item: what its answer is, and who or what settled that."""
    stopped = _Key()
    """Hash: person → when they were stopped, by whom, and why (JSON), separated by tabs."""
    absent = _Key()
    """A key that never exists; ``BoundScript.for_cluster`` explains why scripts are passed it."""
    deleted = _Key()
    """Hash: ``token``, the last token of a deleted queue of this name, so that a new queue grants higher
    ones. Nothing else is left of the queue."""
    journal = _Key()
    """Stream: the journal. Each call that changed something adds an entry, with a field for each
    change."""
    history = _Key()
    """Hash: id → the item's earlier grants, oldest first, separated by blank lines."""
    drafts = _Key()
    """Hash: ``<id>\\t<person>`` → a draft; ``<id>`` → the people with a draft of it, the latest last."""
    late = _Key()
    """Hash: id → the item's late answers, separated by blank lines."""
