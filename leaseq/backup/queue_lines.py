"""The lines of a queue: one with its policy and state, then one for each item with everything stored for it.

An item's strings are in their stored form, with the grammars in docs/inspecting.md and the schema number in
the file's first line. The journal, people's search positions on each shelf, the waiting list and the payloads
remembered for dedupe_seconds are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from leaseq import form
from leaseq.backup.file import Line, RestoreRefused, Writer
from leaseq.backup.stored_keys import BackupFailed, require_same_server
from leaseq.engine import replies
from leaseq.engine.client import Client, connection_of
from leaseq.engine.commands import Clock, Commands
from leaseq.engine.keys import QUEUES, RESTORED_QUEUES, Keys
from leaseq.errors import QueueNotFound, QueueUnreadable
from leaseq.policy import FIELDS, Policy, to_server
from leaseq.queue import Queue
from leaseq.queue.inspection import COUNTERS

_MAX_ITEMS = 200  # items per call
_LARGE_REPLY = 500_000  # bytes; after a larger reply, fewer items are read per call
_WORDS, _BYTES = 600, 500_000  # limits of a call that restores items
_ASSIGNMENT_FIELDS = ("state", "score", "record", "grant", "history")


def commands_of(client: Client, name: str, clock: Clock | None) -> Commands:
    return Commands(connection_of(client), Keys(name), clock)


def write_queue(client: Client, name: str, writer: Writer, clock: Clock | None) -> None:
    commands = commands_of(client, name, clock)
    try:
        with require_same_server(client, Keys(name).ledger):
            writer.write(_queue(Queue(client, name).find_policy() or Policy(), name, commands))
            for item in _items(commands):
                writer.write(_item(item))
    except QueueNotFound:
        raise BackupFailed(f"the queue {name!r} was deleted during the backup: run it again") from None
    except QueueUnreadable as error:
        raise BackupFailed(f"the queue {name!r} can't be backed up: {error}") from error


def _queue(policy: Policy, name: str, commands: Commands) -> Line:
    at, clock, token, mixed, paused, request, changes, stopped, *counts = commands.run("dump", *COUNTERS).rest
    people = [word.decode() for word in stopped]
    return {
        "queue": name,
        "policy": asdict(policy),
        "at": int(at),
        "clock": int(clock),
        "token": int(token),
        "mixed": bool(mixed),
        "paused": json.loads(paused) if paused else None,
        "request": request.decode(),
        "changes": changes.decode(),
        "stopped": dict(zip(people[::2], people[1::2], strict=True)),
        "counters": {counter: int(count) for counter, count in zip(COUNTERS, counts, strict=True)},
    }


def _items(commands: Commands) -> Iterator[Sequence[Any]]:
    """Yield each item that exists during the whole scan, a few twice. Large ones are read in smaller
    steps."""
    cursor, count = "0", _MAX_ITEMS
    while cursor:
        next_cursor, remaining_ids, *items = commands.run("dump_items", cursor, count).rest
        yield from items
        size = sum(len(part) for item in items for part in item[6:])
        count = max(1, count // 2) if remaining_ids or size > _LARGE_REPLY else min(count * 2, _MAX_ITEMS)
        while remaining_ids:
            _, remaining_ids, *items = commands.run(
                "dump_items", "", "", *(id.decode() for id in remaining_ids)
            ).rest
            yield from items
        cursor = "" if next_cursor == b"0" else next_cursor.decode()


def _item(parts: Sequence[Any]) -> Line:
    id, due, late, relations, decision, drafts, *assignments = parts
    groups = [assignments[at : at + 5] for at in range(0, len(assignments), 5)]
    line: dict[str, Any] = {
        "item": id.decode(),
        "assignments": [
            {name: part.decode() for name, part in zip(_ASSIGNMENT_FIELDS, group, strict=True) if part}
            for group in groups
        ],
    }
    line |= {
        name: part.decode()
        for name, part in (("due", due), ("late", late), ("relations", relations), ("decision", decision))
        if part
    }
    if drafts:
        texts = [text.decode() for text in drafts]
        line["drafts"] = list(zip(texts[::2], texts[1::2], strict=True))
    return line


class QueueLoader:
    """The restore of a queue, unless this restore did it before it was interrupted. Other calls find
    the queue only after `end`. Raises RestoreRefused if another program created a queue of this name."""

    def __init__(self, client: Client, line: Line, clock: Clock | None) -> None:
        self._client, self._queue = client, Queue(client, line["queue"])
        self._commands = commands_of(client, line["queue"], clock)
        self._rows: list[str] = []
        self._bytes = 0
        reply = self._commands.run("load", *_state(line))
        if reply.code == replies.DELETING:
            raise RestoreRefused(
                f"the deletion of the queue {line['queue']!r} did not end: run `leaseq queue delete` again"
            )
        self._exists = reply.code == replies.EXISTS
        if self._exists and not self._is_restored():
            name = line["queue"]
            raise RestoreRefused(
                f"the queue {name!r} was created by another program since the restore began: stop what uses "
                f"this server, run `leaseq queue delete {name}`, then run the restore again"
            )

    def _is_restored(self) -> bool:
        (names,) = self._client.ask(("SMEMBERS", RESTORED_QUEUES))
        return self._queue.name.encode() in names

    def add(self, line: Line) -> None:
        if self._exists:
            return
        rows = list(_rows(line))
        size = sum(map(len, rows))
        if self._rows and (len(self._rows) + len(rows) > _WORDS or self._bytes + size > _BYTES):
            self._send()
        self._rows += rows
        self._bytes += size

    def end(self) -> None:
        """Restore the last items, and let other calls find the queue."""
        if self._exists:
            return
        self._send()
        for key in (RESTORED_QUEUES, QUEUES):  # these are in two slots of a cluster
            self._client.ask(("SADD", key, self._queue.name))
        try:
            self._commands.run("load_items", "end")
        except QueueNotFound:  # possibly sent twice because the first reply was lost
            if not self._queue.exists():
                raise

    def _send(self) -> None:
        if self._rows:
            self._commands.run("load_items", "", *self._rows)
            self._rows, self._bytes = [], 0


def _state(line: Line) -> list[str]:
    """The arguments of the script `load`: seven values, and fields."""
    policy, counters, paused = Policy(**line["policy"]), dict(line["counters"]), line["paused"]
    numbers = (line["at"], line["clock"], line["token"], counters.pop("reserved"), counters.pop("finished"))
    flags = ("1" if flag else "0" for flag in (line["mixed"], paused is not None))
    fields = to_server(policy, sorted(FIELDS), form.version(policy.form))
    if paused is not None:
        fields += ["paused", json.dumps(paused)]
    for name in ("request", "changes"):
        fields += [name, line[name]] if line[name] else []
    for person, text in line.get("stopped", {}).items():
        fields += [f"stopped {person}", text]
    for name, count in counters.items():
        fields += [f"n:{name}", str(count)] if count else []
    return [*map(str, numbers), *flags, *fields]


def _rows(line: Line) -> Iterable[str]:
    drafts, assignments = line.get("drafts", ()), line["assignments"]
    yield line["item"]
    yield from (line.get(name, "") for name in ("due", "late", "relations", "decision"))
    yield from (str(len(drafts)), str(len(assignments)))
    for draft in drafts:
        yield from draft
    for assignment in assignments:
        yield from (assignment.get(name, "") for name in _ASSIGNMENT_FIELDS)
