"""Threads: what the people who work on an item and its managers write to each other about it.

All keys are in one slot of a cluster. A thread expires 400 days after its last message.

item:       hash: a message's id -> the message (JSON)
unanswered: sorted set, per queue: the items whose last question no manager has answered, by when it was asked
asked:      sorted set, per person: "queue id" of the threads that they wrote in, by when they last wrote
news        stream: the queue and item of each message of a manager, for the open pages
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple, TypeAlias

from leaseq import Invalid
from leaseq.backup import LeftOut, StoredKeys
from leaseq.webapp.store.base import Command, KeyPrefix, Store

MAX_TEXT = 2_000  # characters of a message
MAX_MESSAGES = 200  # messages of a thread
KEPT_SECONDS = 400 * 86_400
Position: TypeAlias = tuple[int, int]
"""The position of a manager's message: milliseconds since the epoch, and a number within the millisecond."""
_BASE = "leaseq:{@threads}:"
_ANSWERS = _BASE + "news"
_item_key = KeyPrefix(_BASE + "item:")  # by queue and id
_unanswered_key = KeyPrefix(_BASE + "unanswered:")  # by queue
_asked_key = KeyPrefix(_BASE + "asked:")  # by person
_MAX_ANSWERS = 1_000
_ASKED_KEPT = 50
_AT_ONCE = 50  # threads per read
STORED = (
    StoredKeys(_item_key("*"), "hash"),
    StoredKeys(_unanswered_key("*"), "zset"),
    StoredKeys(_asked_key("*"), "zset"),
    LeftOut(_ANSWERS, "it wakes pages that are open"),
)


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a thread. ``manager``: it was written by a manager, on the item's page for managers."""

    person: str
    at: datetime
    text: str
    manager: bool


class Question(NamedTuple):
    """The last message of a person who waits for an answer."""

    id: str  # of the item
    message: Message


class AnswerNotice(NamedTuple):
    """The notice that a manager wrote about an item."""

    position: Position
    queue: str
    id: str


def new_message_id() -> str:
    """The id of the next message that a page may send."""
    return secrets.token_urlsafe(9)


class Threads(Store):
    """Reads and writes the threads of all queues."""

    def of_item(self, queue: str, id: str) -> list[Message]:
        """The messages about an item, oldest first."""
        return sorted(map(_read, self._redis.hvals(_item_key(queue, id))), key=lambda message: message.at)

    def ask(self, queue: str, id: str, person: str, text: str, *, message: str) -> None:
        """Write to the managers. ``message`` is the message's id: if it is sent again, it is written only
        once. Raises Invalid if the text is empty or too long, or the thread is full."""
        now, asked_key, unanswered_key = self._clock(), _asked_key(person), _unanswered_key(queue)
        self._add(
            queue,
            id,
            message,
            _Record(person, now, text, manager=False),
            ("ZADD", unanswered_key, now, id),
            ("ZADD", asked_key, now, f"{queue} {id}"),
            ("ZREMRANGEBYRANK", asked_key, 0, -_ASKED_KEPT - 1),
            ("EXPIRE", unanswered_key, KEPT_SECONDS),
            ("EXPIRE", asked_key, KEPT_SECONDS),
        )

    def answer(self, queue: str, id: str, person: str, text: str, *, message: str) -> None:
        """Write as a manager, which answers the question. Raises the same as `ask`."""
        self._add(
            queue,
            id,
            message,
            _Record(person, self._clock(), text, manager=True),
            ("ZREM", _unanswered_key(queue), id),
            ("XADD", _ANSWERS, "MAXLEN", "~", _MAX_ANSWERS, "*", "queue", queue, "id", id),
        )

    def settle(self, queue: str, id: str) -> None:
        """Mark the question as one that needs no answer."""
        self._client.ask(("ZREM", _unanswered_key(queue), id))

    def forget(self, queue: str, id: str) -> None:
        """Delete the thread of an item that is removed."""
        self._client.ask(("ZREM", _unanswered_key(queue), id), ("DEL", _item_key(queue, id)))

    def forget_queue(self, queue: str) -> None:
        """Delete all threads of a queue that is deleted."""
        for keys in self._keys_like(_item_key(queue, "*")):
            self._client.ask(*(("UNLINK", key) for key in keys))
        self._client.ask(("UNLINK", _unanswered_key(queue)))
        for keys in self._keys_like(_asked_key("*")):
            replies = self._client.ask(*(("ZRANGE", key, 0, -1) for key in keys))
            for key, members in zip(keys, replies, strict=True):
                if stale_members := [member for member in members if member.startswith(f"{queue} ".encode())]:
                    self._client.ask(("ZREM", key, *stale_members))
        entries = self._redis.xrange(_ANSWERS)
        if entry_ids := [at for at, fields in entries if fields[b"queue"] == queue.encode()]:
            self._client.ask(("XDEL", _ANSWERS, *entry_ids))

    def of_person(self, person: str) -> Iterator[tuple[str, str, Message]]:
        """The queue, the item and each message that a person wrote."""
        for keys in self._keys_like(_item_key("*", "*")):
            for key, values in self._batches(keys):
                queue, _, id = key.removeprefix(_item_key).partition(":")
                yield from (
                    (queue, id, message)
                    for message in map(_read, values.values())
                    if message.person == person
                )

    def rename_person(self, person: str, to: str) -> None:
        """Replace a person's name. What they wrote stays."""
        for keys in self._keys_like(_item_key("*", "*")):
            for key, values in self._batches(keys):
                for message, value in values.items():
                    record = _Record(*json.loads(value))
                    if record.person == person:
                        new_value = json.dumps(record._replace(person=to), ensure_ascii=False)
                        self._client.ask(("HSET", key, message, new_value))
        self._client.ask(("UNLINK", _asked_key(person)))

    def _batches(self, keys: Sequence[str]) -> Iterator[tuple[str, dict[str, bytes]]]:
        """The messages of each thread, by their ids."""
        for start in range(0, len(keys), _AT_ONCE):
            batch = keys[start : start + _AT_ONCE]
            for key, values in zip(batch, self._hashes(batch), strict=True):
                yield key, {message.decode(): value for message, value in values.items()}

    def unanswered(self, queue: str, limit: int) -> list[Question]:
        """The questions that no manager has answered, the oldest first."""
        ids = [id.decode() for id in self._redis.zrange(_unanswered_key(queue), 0, limit - 1)]
        return self._questions(queue, ids)

    def latest_unanswered(self, queue: str, until: float | None, limit: int) -> list[Question]:
        """The questions that no manager has answered, the newest first. ``until``: only those asked by this
        time, in seconds since the epoch, to the microsecond."""
        maximum = "+inf" if until is None else repr(until + 1e-6)
        members = self._redis.zrevrangebyscore(_unanswered_key(queue), maximum, "-inf", start=0, num=limit)
        return self._questions(queue, [member.decode() for member in members])

    def _questions(self, queue: str, ids: list[str]) -> list[Question]:
        threads = self._client.ask(*(("HVALS", _item_key(queue, id)) for id in ids)) if ids else []
        pairs = zip(ids, (_last_asked(values) for values in threads), strict=True)
        return [Question(id, message) for id, message in pairs if message]

    def count_unanswered(self, queue: str) -> int:
        """The number of items whose question no manager has answered."""
        (count,) = self._client.ask(("ZCARD", _unanswered_key(queue)))
        return int(count)

    def is_unanswered(self, queue: str, id: str) -> bool:
        """Whether somebody waits for an answer."""
        (score,) = self._client.ask(("ZSCORE", _unanswered_key(queue), id))
        return score is not None

    def asked_by(self, person: str, limit: int = 10) -> list[tuple[str, str]]:
        """The queue and item of the threads that a person wrote in, latest first."""
        members = self._redis.zrevrangebyscore(_asked_key(person), "+inf", "-inf", start=0, num=limit)
        pairs = (member.decode().partition(" ") for member in members)
        return [(queue, id) for queue, _, id in pairs]

    def latest_answer(self) -> Position:
        """The position of the latest message of a manager, for `answered_since`."""
        latest = self._redis.xrevrange(_ANSWERS, count=1)
        return _position(latest[0][0]) if latest else (0, 0)

    def answered_since(self, position: Position) -> list[AnswerNotice]:
        """The later messages of managers, oldest first."""
        milliseconds, number = position
        entries = self._redis.xrange(_ANSWERS, min=f"({milliseconds}-{number}")
        return [
            AnswerNotice(_position(at), entry[b"queue"].decode(), entry[b"id"].decode())
            for at, entry in entries
        ]

    def _add(self, queue: str, id: str, message: str, record: _Record, *commands: Command) -> None:
        """Write a message, unless it is already stored, and send the commands in either case, since an
        earlier reply may have been lost. A different text under the same id is another message."""
        text, key = record.text.replace("\r\n", "\n").strip(), _item_key(queue, id)
        if not text or len(text) > MAX_TEXT:
            raise Invalid("message", "length", minimum=1, maximum=MAX_TEXT, count=len(text))
        count, stored_value = self._client.ask(("HLEN", key), ("HGET", key, message))
        if stored_value is not None and _read(stored_value).text != text:
            message, stored_value = new_message_id(), None
        if stored_value is None and count >= MAX_MESSAGES:
            raise Invalid("message", "maximum", what="messages", maximum=MAX_MESSAGES, count=count)
        value = json.dumps(record._replace(text=text), ensure_ascii=False)
        self._client.ask(("HSETNX", key, message, value), ("EXPIRE", key, KEPT_SECONDS), *commands)


class _Record(NamedTuple):
    """The stored form of a message."""

    person: str
    at: float  # seconds since the epoch
    text: str
    manager: bool


def _read(value: bytes) -> Message:
    record = _Record(*json.loads(value))
    return Message(record.person, datetime.fromtimestamp(record.at, UTC), record.text, record.manager)


def _position(entry: bytes) -> Position:
    milliseconds, _, number = entry.decode().partition("-")
    return int(milliseconds), int(number)


def _last_asked(values: list[bytes]) -> Message | None:
    questions = (message for message in map(_read, values) if not message.manager)
    return max(questions, key=lambda message: message.at, default=None)
