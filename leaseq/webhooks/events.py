"""The types of events that webhooks are sent for, and the stream of events that are in no queue's journal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from leaseq import validation
from leaseq.engine.client import Client, check_client
from leaseq.engine.keys import WEBHOOK_EVENTS
from leaseq.errors import Invalid
from leaseq.models import Json

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
