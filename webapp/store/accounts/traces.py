"""The traces of an account elsewhere: leases, sign-ins, actions."""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import leaseq
from leaseq import Client, Lease, Queue
from leaseq.webapp.store.accounts import model
from leaseq.webapp.store.accounts.log import dump_values
from leaseq.webapp.store.accounts.sessions import AccountChange
from leaseq.webapp.store.base import Store

_READ_TOGETHER = 500  # up to this many leases, a queue's are all read; above it, each person's are read


def held_by(client: Client, name: str) -> list[Lease]:
    """A person's leases, by queue, oldest first."""
    leases_by_queue, _errors = leaseq.read_queues(client, lambda queue: queue.mine(name))
    return [lease for leases in leases_by_queue.values() for lease in leases]


@dataclass(frozen=True, slots=True)
class HeldItem:
    """An item that somebody holds."""

    queue: str
    queue_title: str  # its name if it has none
    id: str
    payload: leaseq.Json
    since: datetime


def held_by_each(client: Client, names: Sequence[str]) -> dict[str, list[HeldItem]]:
    """The items that each of these people holds, over all queues, the latest first."""
    entries_by_queue, _errors = leaseq.read_queues(client, lambda queue: _held_items(queue, names))
    items_by_person: dict[str, dict[tuple[str, int], HeldItem]] = {name: {} for name in names}
    for queue, entries in entries_by_queue.items():
        for person, token, item in entries:
            if person in items_by_person:
                items_by_person[person][queue, token] = item
    return {
        name: sorted(items.values(), key=lambda item: item.since, reverse=True)
        for name, items in items_by_person.items()
    }


def release_all(client: Client, name: str, *, by: str) -> int:
    """End a person's leases; their input stays as drafts. Returns the number of leases."""
    leases = held_by(client, name)
    for lease in leases:
        with contextlib.suppress(leaseq.ItemNotFound):  # it was removed just now
            Queue(client, lease.queue).release(lease.id, person=name, by=by)
    return len(leases)


def _held_items(queue: Queue, names: Sequence[str]) -> list[tuple[str, int, HeldItem]]:
    """Person, token and item of each lease, possibly repeated: an item with several assignments is listed
    once for each, with all its leases."""
    page = queue.page("reserved", limit=_READ_TOGETHER)
    if not page.items:
        return []
    title = queue.policy.title or queue.name
    if page.after is None:
        return [
            (lease.person, lease.token, HeldItem(queue.name, title, item.id, item.payload, lease.reserved_at))
            for item in page.items
            for lease in item.leases
        ]
    return [
        (name, lease.token, HeldItem(queue.name, title, lease.id, lease.payload, lease.reserved_at))
        for name in names
        for lease in queue.mine(name)
    ]


_CODES = 12  # half minutes for which a used code is stored, and a few more
_BATCH = 100


def redacted(text: str, name: str, to: str) -> str:
    """A text with each occurrence of a name as a separate word replaced: ``ann`` is not found in
    ``ann-marie``, nor ``erased`` in a pseudonym."""
    return re.sub(rf"(?<![\w@-])(?<!\w\.){re.escape(name)}(?![\w@-]|\.\w)", lambda _: to, text)


class Traces(Store):
    """Deletes and renames traces. Every call may be repeated, and proceeds in steps of limited size."""

    def end_sign_in(self, name: str) -> None:
        """Delete what let a person sign in whose record is deleted: sessions, factor, links and invitations,
        including those that they created for others."""
        now = int(time.time()) // 30
        codes = [model.code_used_key(step, name) for step in range(now - _CODES, now + _CODES)]
        own = [
            model.recovery_key(name),
            model.factor_offered_key(name),
            model.link_permission_key(name),
            *codes,
        ]
        hashes = (model.FACTORS, model.SUBJECTS, model.FAILED, model.SIGNED_IN)
        self._client.ask(*(("HDEL", key, name) for key in hashes), *(("UNLINK", key) for key in own))
        self._delete_strings(model.session_key("*"), lambda raw: raw.decode().partition(" ")[2] == name)
        for pattern in (model.link_key("*"), model.link_permission_key("*")):
            self._delete_strings(pattern, lambda raw: _concerns(name, raw))
        (invitations,) = self._client.ask(("HVALS", model.INVITATIONS))
        if any(_concerns(name, raw) for raw in invitations):
            self._delete_invitations(name)

    def of_person(self, name: str) -> dict[str, Any]:
        """The number of failed sign-ins since a person's last one, when each session was last used, and the
        notices for the next sign-in, the oldest first."""
        (failed_count, notices) = self._client.ask(
            ("HGET", model.FAILED, name), ("LRANGE", model.notices_key(name), 0, -1)
        )
        seen_times: list[datetime] = []
        for names in self._keys_like(model.session_key("*")):
            for raw in self._client.ask(*(("GET", key) for key in names)):
                at, _, owner = (raw or b"").decode().partition(" ")
                seen_times += [datetime.fromtimestamp(int(at), UTC)] if owner == name else []
        return {
            "failed": int(failed_count or 0),
            "sessions_seen_at": seen_times,
            "notices": [AccountChange.load(notice) for notice in reversed(notices)],
        }

    def rename_in_notices(self, name: str, to: str) -> None:
        """Delete a person's notices, and replace their name in other people's notices."""
        self._client.ask(("UNLINK", model.notices_key(name)))
        for lists in self._keys_like(model.notices_key("*")):
            for key in lists:
                self._redis.transaction(lambda pipe, key=key: _rename(pipe, key, name, to), key)

    def delete_sign_ins(self, name: str) -> None:
        """Delete the entries about a person's sign-ins, which contain addresses."""
        for entries in self._entries(model.SIGN_INS):
            ids = [id for id, entry in entries if name.encode() in (entry[b"about"], entry[b"by"])]
            if ids:
                self._client.ask(("XDEL", model.SIGN_INS, *ids))

    def rename_in_log(self, name: str, to: str) -> None:
        """Replace a name in the managers' log. Entries can't be changed, so a copy with the same ids replaces
        the log; if another erasure replaced it in the meantime, a new copy is made."""
        while any(_mentions(name, entry) for entries in self._entries(model.LOG) for _, entry in entries):
            copy_count = self._redis.get(model.LOG_COPIES)
            copy_key, minimum = model.log_copy_key(to), b"-"
            self._redis.unlink(copy_key)
            for entries in self._entries(model.LOG):
                pipe = self._redis.pipeline(transaction=False)
                for id, entry in entries:
                    pipe.xadd(copy_key, _renamed(entry, name, to), id=id)
                pipe.execute()
                minimum = b"(" + entries[-1][0]
            self._redis.transaction(
                lambda pipe, copy_count=copy_count, copy_key=copy_key, minimum=minimum: _replace_log(
                    pipe, copy_count, copy_key, minimum, name, to
                ),
                model.LOG,
                model.LOG_COPIES,
            )

    def _entries(self, stream: str) -> Iterator[list[tuple[bytes, dict[bytes, bytes]]]]:
        """The entries of a stream in batches, the oldest first."""
        after = "-"
        while True:
            entries = self._redis.xrange(stream, min=after, count=_BATCH)
            if not entries:
                return
            yield entries
            after = f"({entries[-1][0].decode()}"

    def _delete_strings(self, pattern: str, is_match: Callable[[bytes], bool]) -> None:
        for names in self._keys_like(pattern):
            values = self._client.ask(*(("GET", key) for key in names))
            matching_keys = [key for key, raw in zip(names, values, strict=True) if raw and is_match(raw)]
            if matching_keys:
                self._client.ask(*(("UNLINK", key) for key in matching_keys))

    def _delete_invitations(self, name: str) -> None:
        invitations = self._redis.hgetall(model.INVITATIONS)
        for token_hash in (key for key, raw in invitations.items() if _concerns(name, raw)):
            self._redis.delete(model.invitation_key(token_hash.decode()))
            self._redis.hdel(model.INVITATIONS, token_hash)


def _concerns(name: str, raw: bytes) -> bool:
    """Whether a link or an invitation is for a person, or was created by them."""
    record: dict[str, Any] = json.loads(raw)
    return name in (record["name"], record["by"])


def _rename(pipe: Any, key: str, name: str, to: str) -> None:
    notices = [json.loads(raw) for raw in pipe.lrange(key, 0, -1)]
    new_notices = [
        [at, what, to if by == name else by, redacted(detail, name, to)] for at, what, by, detail in notices
    ]
    pipe.multi()
    if new_notices != notices:
        pipe.delete(key)
        pipe.rpush(key, *(json.dumps(notice, ensure_ascii=False) for notice in new_notices))


def _mentions(name: str, entry: dict[bytes, bytes]) -> bool:
    return _renamed(entry, name, "\0") != entry


def _renamed(entry: dict[bytes, bytes], name: str, to: str) -> dict[bytes, bytes]:
    """An entry with a name replaced in its author, its subject and its detail, and without the shown names of
    its subject."""
    name_fields = {
        field: to.encode() if entry[field] == name.encode() else entry[field] for field in (b"by", b"about")
    }
    values = _redacted_value(json.loads(entry[b"detail"]), name, to)
    if entry[b"about"] == name.encode():
        for names in (values, values.get("changes", {})):
            names.pop("shown_name", None)
    return {**entry, **name_fields, b"detail": dump_values(values).encode()}


def _redacted_value(value: Any, name: str, to: str) -> Any:
    """A value of JSON with a name replaced in each text."""
    match value:
        case str():
            return redacted(value, name, to)
        case list():
            return [_redacted_value(inner, name, to) for inner in value]
        case dict():
            return {key: _redacted_value(inner, name, to) for key, inner in value.items()}
    return value


def _replace_log(
    pipe: Any, copy_count: bytes | None, copy_key: str, minimum: bytes, name: str, to: str
) -> None:
    """Replace the log with the copy, after adding the entries written in the meantime."""
    if pipe.get(model.LOG_COPIES) != copy_count:
        pipe.multi()
        pipe.unlink(copy_key)
        return
    entries = pipe.xrange(model.LOG, min=minimum)
    pipe.multi()
    for id, entry in entries:
        pipe.xadd(copy_key, _renamed(entry, name, to), id=id)
    pipe.rename(copy_key, model.LOG)
    pipe.incrby(model.LOG_COPIES, 1)
