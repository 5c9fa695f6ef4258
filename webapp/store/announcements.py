"""Announcements: one line on the work pages of a queue, until it ends, and who has seen it.

Hash: queue -> announcement (JSON). Hash, per queue: person -> "id of the announcement, seen or dismissed".
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

from leaseq import Invalid, validation
from leaseq.backup import StoredKeys
from leaseq.webapp.store.base import CachedHash, KeyPrefix

MAX_TEXT = 200  # characters
FRESH_SECONDS = 0.5
"""How long the announcements are used once they are read; then those of other processes take effect."""

_KEY = "leaseq:{@announcements}:queues"  # no queue can have this name: it has an '@'
_seen_key = KeyPrefix("leaseq:{@announcements}:seen:")  # by queue
STORED = (StoredKeys(_KEY, "hash"), StoredKeys(_seen_key("*"), "hash"))

Response: TypeAlias = Literal["seen", "dismissed"]
RESPONSES: tuple[Response, ...] = ("seen", "dismissed")


@dataclass(frozen=True, slots=True)
class Announcement:
    """A line of plain text by a manager."""

    id: str  # of this text: a changed one is new to everybody
    text: str
    by: str
    at: datetime
    until: datetime | None  # when it ends by itself


class Announcements(CachedHash):
    """The announcements of all queues."""

    key = _KEY
    fresh_seconds = FRESH_SECONDS

    def get(self, queue: str) -> Announcement | None:
        """A queue's announcement; None if there is none, or it has ended."""
        raw = self._read().get(queue.encode())
        announcement = _loaded(raw) if raw else None
        if announcement and announcement.until and announcement.until.timestamp() <= self._clock():
            return None
        return announcement

    def announce(self, queue: str, text: str, *, by: str, until: datetime | None = None) -> Announcement:
        """Announce a line, in place of an earlier one, which nobody has seen yet. Raises Invalid."""
        now = datetime.fromtimestamp(self._clock(), UTC)
        line = validation.label(text, "text", MAX_TEXT).strip()
        if not line or not line.isprintable():
            raise Invalid("text", "printable", minimum=1, maximum=MAX_TEXT, value=text)
        if until is not None and until <= now:
            raise Invalid("until", "format", what="future_time", value=until)
        announcement = Announcement(secrets.token_hex(8), line, by, now, until)
        self._client.ask(("HSET", _KEY, queue, _dumped(announcement)), ("UNLINK", _seen_key(queue)))
        self.expire()
        return announcement

    def end(self, queue: str) -> bool:
        """End a queue's announcement. False if there was none."""
        removed_count, _ = self._client.ask(("HDEL", _KEY, queue), ("UNLINK", _seen_key(queue)))
        self.expire()
        return bool(removed_count)

    def respond(self, queue: str, id: str, person: str, response: Response) -> None:
        """Note that a person has seen or dismissed this announcement; nothing if it is no longer there."""
        announcement = self.get(queue)
        if announcement is None or announcement.id != id:
            self.expire()  # another process may have announced it just now
            announcement = self.get(queue)
        if announcement is None or announcement.id != id:
            return
        if response == "dismissed" or self.response_of(queue, announcement, person) is None:
            self._redis.hset(_seen_key(queue), person, f"{id} {response}")

    def response_of(self, queue: str, announcement: Announcement, person: str) -> Response | None:
        """Whether a person has seen or dismissed the announcement."""
        return _response(self._redis.hget(_seen_key(queue), person), announcement)

    def seen_by(self, queue: str, announcement: Announcement) -> set[str]:
        """The people who have seen the announcement."""
        fields = self._redis.hgetall(_seen_key(queue))
        return {name.decode() for name, raw in fields.items() if _response(raw, announcement)}

    def forget_queue(self, queue: str) -> None:
        """Delete the announcement of a queue that is deleted."""
        self.end(queue)

    def of_person(self, person: str) -> Iterator[tuple[str, Announcement, Response | None]]:
        """The queue and the announcement of each that a person made, has seen or dismissed, also of one that
        has ended by itself."""
        announcements = {name.decode(): _loaded(raw) for name, raw in self._read().items()}
        reads = [("HGET", _seen_key(queue), person) for queue in announcements]
        responses = self._client.ask(*reads) if reads else []
        for (queue, announcement), raw in zip(announcements.items(), responses, strict=True):
            response = _response(raw, announcement)
            if announcement.by == person or response:
                yield queue, announcement, response

    def rename_person(self, person: str, to: str) -> None:
        """Replace a person's name as the author, and forget what they have seen."""

        def transaction(pipe: Any) -> None:
            entries = pipe.hgetall(_KEY)
            pipe.multi()
            for name, raw in entries.items():
                announcement = _loaded(raw)
                if announcement.by == person:
                    pipe.hset(_KEY, name, _dumped(replace(announcement, by=to)))
                pipe.hdel(_seen_key(name.decode()), person)

        self._redis.transaction(transaction, _KEY)
        self.expire()


def _response(raw: bytes | None, announcement: Announcement) -> Response | None:
    id, _, response = (raw or b"").decode().partition(" ")
    return next((known for known in RESPONSES if (id, response) == (announcement.id, known)), None)


def _dumped(announcement: Announcement) -> str:
    until = announcement.until.timestamp() if announcement.until else None
    fields = {**asdict(announcement), "at": announcement.at.timestamp(), "until": until}
    return json.dumps(fields, ensure_ascii=False)


def _loaded(raw: bytes) -> Announcement:
    fields: dict[str, Any] = json.loads(raw)
    at, until = fields.pop("at"), fields.pop("until")
    return Announcement(
        **fields,
        at=datetime.fromtimestamp(at, UTC),
        until=None if until is None else datetime.fromtimestamp(until, UTC),
    )
