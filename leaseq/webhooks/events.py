"""The events of webhooks, and the bodies that tell of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any, NamedTuple

from leaseq import validation
from leaseq.engine import codec
from leaseq.engine.client import Client, check_client
from leaseq.engine.keys import WEBHOOK_EVENTS
from leaseq.errors import Invalid
from leaseq.events import Event
from leaseq.models import GivenAnswer, Json, Outcome
from leaseq.transfer import rfc3339

TYPES = (
    "item.finished",
    "item.failed",
    "item.dead",
    "item.late",
    "queue.empty",
    "alert.raised",
    "alert.resolved",
    "person.set-up",
    "person.added",
    "person.joined",
    "person.changed",
    "person.disabled",
    "person.enabled",
    "person.removed",
    "webhook.disabled",
)
"""Every type that an endpoint can subscribe to; ``webhook.test`` can be sent to any endpoint."""

DEFAULT_TYPES = ("item.*", "queue.empty", "alert.*")
TEST = "webhook.test"

_FAMILIES = tuple(dict.fromkeys(f"{name.partition('.')[0]}.*" for name in TYPES))
_MAX_EVENTS = 10_000  # events kept in the stream
_PAGE = 500  # events per read


class StreamEvent(NamedTuple):
    """An event of the stream. Its id begins with the server's time in milliseconds."""

    id: str
    type: str
    data: Json

    @property
    def at(self) -> int:
        """Microseconds since the epoch."""
        return int(self.id.partition("-")[0]) * 1_000


def checked_types(types: object) -> tuple[str, ...]:
    """Check the types that an endpoint subscribes to: from TYPES, or families such as ``item.*``. Returns
    them sorted, each once."""
    if isinstance(types, str) or not isinstance(types, Sequence) or not types:
        raise Invalid("events", f"a list of one or more of {', '.join((*_FAMILIES, *TYPES))}")
    for name in types:
        if name not in TYPES and name not in _FAMILIES:
            raise Invalid("events", f"each one of {', '.join((*_FAMILIES, *TYPES))}; {name!r} is not")
    return tuple(sorted(set(types)))


def matches(type: str, names: Iterable[str]) -> bool:
    """Whether an endpoint that subscribes to ``names`` gets events of this type."""
    return any(type == name or (name.endswith(".*") and type.startswith(name[:-1])) for name in names)


def emit(client: Client, type: str, data: Mapping[str, Json]) -> str:
    """Record an event for the endpoints that subscribe to its type; returns its id. The latest 10,000 are
    kept, so this costs little if no endpoint does."""
    text = validation.dump_json(dict(data), "data")
    with check_client(client).translating():
        id = client.redis.xadd(
            WEBHOOK_EVENTS, {"type": type, "data": text}, maxlen=_MAX_EVENTS, approximate=True
        )
    return id.decode() if isinstance(id, bytes) else str(id)


def read_events(client: Client, after: str) -> list[StreamEvent]:
    """The next events in the stream after the one with this id; with '' the oldest ones."""
    with client.translating():
        entries: Any = client.redis.xrange(WEBHOOK_EVENTS, min=f"({after}" if after else "-", count=_PAGE)
    return [
        StreamEvent(name.decode(), fields[b"type"].decode(), json.loads(fields[b"data"]))
        for name, fields in entries
    ]


_TYPES = {
    "finished": "item.finished",
    "adopted": "item.finished",
    "corrected": "item.finished",
    "failed": "item.failed",
    "died": "item.dead",
    "late": "item.late",
    "alert.raised": "alert.raised",
    "alert.resolved": "alert.resolved",
}
"""The type of a webhook, by the kind of the journal event. An adopted or corrected answer becomes the item's
answer, so it is sent as finished."""

_LARGE = ("payload", "result")
Body = dict[str, Any]


def type_of(event: Event) -> str | None:
    """The type of the webhook that is sent for an event; None if none is sent."""
    return _TYPES.get(str(event.what))


def delivery_id(endpoint: str, *parts: object) -> str:
    """The id of the delivery of this event to this endpoint, the same in every process and at any time. It
    contains no '.', which separates the parts of the signed content."""
    return "msg_" + sha256("\0".join(map(str, (endpoint, *parts))).encode()).hexdigest()[:32]


def event_key(queue: str, event: Event) -> tuple[str, ...]:
    """The parts of an event's delivery id. One call may record an answer both as finished and as adopted, or
    the death of each assignment of an item: only one webhook is sent for these."""
    type = type_of(event)
    token = "" if type == "item.dead" else str(event.token or "")
    return queue, str(type), event.cursor.partition(".")[0], event.id or str(event.detail), token


def body(type: str, at: datetime, data: Json) -> Body:
    """A body within the size limit: a payload or result that is too large is left out and listed in
    ``left_out``."""
    content = {"type": type, "timestamp": rfc3339(at), "data": data}
    for name in _LARGE:
        if _fits(content):
            break
        if data.get(name) is not None:
            data = {**data, name: None, "left_out": [*data.get("left_out", ()), name]}
            content = {**content, "data": data}
    return content


def data_of(queue: str, event: Event, outcome: Outcome | None, batch: Sequence[Event]) -> Json:
    """The data sent for a journal event. ``outcome``: its item's, or None if the item has been removed.
    ``batch``: the events around it."""
    type = type_of(event)
    if type in ("alert.raised", "alert.resolved"):
        return {"queue": queue, **_alert(event.detail)}
    payload = outcome.payload if outcome else None
    data = {"queue": queue, "id": event.id, "payload": payload}
    if type in ("item.finished", "item.late"):
        return {**data, **_answer(event, outcome)}
    times = {"failed_at" if type == "item.failed" else "died_at": rfc3339(event.at)}
    failure = _failure(event, batch)
    return {**data, "person": event.person, "token": event.token, "error": failure, **times}


def _answer(event: Event, outcome: Outcome | None) -> Json:
    answer: GivenAnswer | None = None
    if outcome is not None:
        answer = next((one for one in outcome.answers if one.token == event.token), None)
    if answer is None:  # the item has been removed, or the answer undone
        person = event.person if event.what != "adopted" else None
        late = event.what in ("late", "adopted")
        at = rfc3339(event.at)
        return {"result": None, "person": person, "token": event.token, "finished_at": at, "late": late}
    return {
        "result": answer.result,
        "person": answer.person,
        "token": answer.token,
        "finished_at": rfc3339(answer.finished_at),
        "late": answer.late,
    }


def _failure(event: Event, batch: Sequence[Event]) -> Json:
    """The error text of a failure. If the item died, an event of the same call says of what."""
    if event.what == "failed":
        return event.detail
    call = event.cursor.partition(".")[0]
    for one in batch:
        if one.id == event.id and one.cursor.partition(".")[0] == call and one.what in ("failed", "expired"):
            return one.detail if one.what == "failed" else codec.EXPIRED
    return None


def _alert(detail: Json) -> Json:
    return detail if isinstance(detail, dict) else {"alert": detail}


def _fits(content: Body) -> bool:
    try:
        validation.dump_json(content, "body")
    except Invalid:
        return False
    return True
