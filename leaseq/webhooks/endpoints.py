"""The endpoints to which events are sent, by whom the endpoints were made, and their end with a queue;
and the stream of events that are in no journal.
"""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.metadata import entry_points
from typing import Any, NamedTuple, TypeAlias

from leaseq import validation
from leaseq.engine import codec
from leaseq.engine.client import Client, check_client
from leaseq.engine.codec import to_datetime
from leaseq.engine.keys import WEBHOOK_EVENTS, WEBHOOK_STATE, WEBHOOKS
from leaseq.errors import Invalid, LeaseqError
from leaseq.models import Json
from leaseq.webhooks.sending import NO_NETWORKS, Networks, refuse_url

TYPES = (
    "item.finished",
    "item.failed",
    "item.dead",
    "item.cancelled",
    "item.expired",
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

MAX_ENDPOINTS = 100
MAX_QUEUES = 100  # named by one endpoint
FAILING = timedelta(hours=24)
"""An endpoint is disabled after every try has failed for this long."""

ROTATION = timedelta(hours=24)
"""How long the previous secret is also used for signing after a new one is created."""

Clock = Callable[[], int]
_SECRET_BYTES = 32
_STATES = ("since", "failing", "disabled")  # the first words of the names of an endpoint's fields


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
        raise Invalid("events", "each_one_of", choices=(*_FAMILIES, *TYPES))
    for name in types:
        if name not in TYPES and name not in _FAMILIES:
            raise Invalid("events", "each_one_of", choices=(*_FAMILIES, *TYPES), value=name)
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


class EndpointNotFound(LeaseqError):
    """There is no webhook endpoint with this id."""

    def __init__(self, id: str) -> None:
        self.tell("not_found", what="endpoint", id=id)
        self.id = id


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A webhook endpoint, without its secrets."""

    id: str
    url: str
    events: tuple[str, ...]  # types, and families such as item.*
    queues: tuple[str, ...]  # empty: all
    created_at: datetime
    created_by: str
    since: datetime  # when it was added or enabled again; events from then on are sent
    failing_since: datetime | None  # the time since which every try has failed
    disabled_at: datetime | None
    disabled_why: str | None
    rotating_until: datetime | None  # until then the previous secret is also used for signing

    def wants(self, type: str, queue: str | None, at: datetime) -> bool:
        """Whether an event of this type, queue (None: no queue) and time is sent to this endpoint."""
        if self.disabled_at is not None or at < self.since or not matches(type, self.events):
            return False
        return queue is None or not self.queues or queue in self.queues


def receivers_of(endpoints: Iterable[Endpoint], type: str, queue: str | None, at: datetime) -> list[Endpoint]:
    """Those of the endpoints to which an event of this type, queue and time is sent."""
    return [endpoint for endpoint in endpoints if endpoint.wants(type, queue, at)]


@dataclass(frozen=True, slots=True)
class NewSecret:
    """An endpoint and its new secret, which is not shown again."""

    endpoint: Endpoint
    secret: str


class Endpoints:
    """The endpoints of a server.

    Their definitions and their state are in two hashes. Each field of the state is written separately, so
    processes that deliver at the same time don't overwrite each other's changes. ``clock`` (microseconds
    since the epoch) is for tests; by default the server's clock is used.
    """

    def __init__(self, client: Client, *, clock: Clock | None = None) -> None:
        self._client = check_client(client)
        self._clock = clock

    def all(self) -> list[Endpoint]:
        """All endpoints, oldest first."""
        definitions, state = self._client.ask(("HGETALL", WEBHOOKS), ("HGETALL", WEBHOOK_STATE))
        texts = texts_of(state)
        endpoints = [_endpoint(id, json.loads(text), texts) for id, text in texts_of(definitions).items()]
        return sorted(endpoints, key=lambda endpoint: (endpoint.created_at, endpoint.id))

    def find(self, id: str) -> Endpoint | None:
        fields = [f"{word} {id}" for word in _STATES]
        text, state = self._client.ask(("HGET", WEBHOOKS, id), ("HMGET", WEBHOOK_STATE, *fields))
        if text is None:
            return None
        pairs = zip(fields, state, strict=True)
        state_fields = {field: value.decode() for field, value in pairs if value is not None}
        return _endpoint(id, json.loads(text), state_fields)

    def get(self, id: str) -> Endpoint:
        endpoint = self.find(id)
        if endpoint is None:
            raise EndpointNotFound(id)
        return endpoint

    def add(
        self,
        url: str,
        *,
        events: Sequence[str] = DEFAULT_TYPES,
        queues: Sequence[str] = (),
        by: str,
        allow: Networks = NO_NETWORKS,
    ) -> NewSecret:
        """Add an endpoint; events from now on are sent to it. ``allow``: networks to which webhooks may be
        sent although they are not public. Raises Invalid for a URL that a delivery would refuse."""
        types = checked_types(events)
        names = _checked_queues(queues)
        refuse_url(url, allow)
        if len(self.all()) >= MAX_ENDPOINTS:
            raise Invalid("url", "maximum", what="endpoints", maximum=MAX_ENDPOINTS)
        id, secret = f"wh-{secrets.token_hex(6)}", _new_secret()
        now = self._now(id, "added")
        definition = {
            "url": url,
            "events": types,
            "queues": names,
            "created_at": now,
            "created_by": by,
            "secrets": [{"secret": secret, "until": None}],
        }
        self._client.ask(
            ("HSET", WEBHOOK_STATE, f"since {id}", now), ("HSET", WEBHOOKS, id, json.dumps(definition))
        )
        return NewSecret(self.get(id), secret)

    def rotate(self, id: str) -> NewSecret:
        """Create a new secret. The previous one is also used for signing during ROTATION; older ones are
        dropped now."""
        definition = self._definition(id)
        now, secret = self._now(id, "rotated"), _new_secret()
        old_secret = {**definition["secrets"][0], "until": now + ROTATION // timedelta(microseconds=1)}
        definition["secrets"] = [{"secret": secret, "until": None}, old_secret]
        self._client.ask(("HSET", WEBHOOKS, id, json.dumps(definition)))
        return NewSecret(self.get(id), secret)

    def secrets(self, id: str, at: datetime) -> list[str]:
        """The secrets used for signing at this time, newest first. For the deliverer."""
        records = self._definition(id)["secrets"]
        return [
            record["secret"]
            for record in records
            if record["until"] is None or to_datetime(record["until"]) > at
        ]

    def enable(self, id: str, *, by: str | None = None) -> Endpoint:
        """Send again: deliveries that wait, and events from now on. From then on, what is sent is what ``by``
        may see."""
        if self.get(id).disabled_at is not None:
            now = self._now(id, "enabled")
            if by is not None:
                definition = {**self._definition(id), "created_by": by}
                self._client.ask(("HSET", WEBHOOKS, id, json.dumps(definition)))
            self._client.ask(
                ("HSET", WEBHOOK_STATE, f"since {id}", now),
                ("HDEL", WEBHOOK_STATE, f"failing {id}", f"disabled {id}"),
            )
        return self.get(id)

    def disable(self, id: str, why: str, *, at: datetime | None = None) -> Endpoint:
        """Stop sending. Waiting deliveries are kept; events while it is disabled are never sent. Emits
        ``webhook.disabled``."""
        endpoint = self.get(id)
        if endpoint.disabled_at is None:
            now = self._now(id, "stopped") if at is None else codec.microseconds(at)
            self._client.ask(("HSET", WEBHOOK_STATE, f"disabled {id}", json.dumps({"at": now, "why": why})))
            emit(self._client, "webhook.disabled", {"id": id, "url": endpoint.url, "why": why})
        return self.get(id)

    def remove(self, id: str) -> None:
        """Delete an endpoint and its secrets."""
        self.get(id)
        states = [f"{word} {id}" for word in _STATES]
        self._client.ask(("HDEL", WEBHOOKS, id), ("HDEL", WEBHOOK_STATE, *states))

    def forget_queue(self, queue: str) -> None:
        """Remove a deleted queue from the endpoints' lists. An endpoint for this queue alone is disabled,
        since an empty list would mean all queues, and keeps the name until it is removed."""
        for endpoint in self.all():
            other_names = [name for name in endpoint.queues if name != queue]
            if other_names and len(other_names) < len(endpoint.queues):
                definition = {**self._definition(endpoint.id), "queues": other_names}
                self._client.ask(("HSET", WEBHOOKS, endpoint.id, json.dumps(definition)))
            elif endpoint.queues and not other_names:
                self.disable(endpoint.id, "its queue was deleted")

    def note_failure(self, endpoint: Endpoint, at: datetime) -> None:
        """Note a failed try: store when failures began, or disable the endpoint if that is too long ago."""
        if endpoint.failing_since is None:
            self._client.ask(("HSET", WEBHOOK_STATE, f"failing {endpoint.id}", codec.microseconds(at)))
        elif at - endpoint.failing_since >= FAILING:
            since = endpoint.failing_since
            self.disable(endpoint.id, f"every try since {since:%Y-%m-%d %H:%M} UTC failed", at=at)

    def note_success(self, endpoint: Endpoint) -> None:
        if endpoint.failing_since is not None:
            self._client.ask(("HDEL", WEBHOOK_STATE, f"failing {endpoint.id}"))

    def _definition(self, id: str) -> dict[str, Any]:
        text = self._client.ask(("HGET", WEBHOOKS, id))[0]
        if text is None:
            raise EndpointNotFound(id)
        definition: dict[str, Any] = json.loads(text)
        return definition

    def _now(self, id: str, action: str) -> int:
        """The server's time in microseconds since the epoch, taken from a new entry of the event stream: so
        events after this entry in the stream are also later in time."""
        if self._clock is not None:
            return self._clock()
        milliseconds = emit(self._client, f"webhook.{action}", {"id": id}).partition("-")[0]
        return int(milliseconds) * 1_000


def _endpoint(id: str, definition: Mapping[str, Any], state: Mapping[str, str]) -> Endpoint:
    disabled_record = json.loads(state.get(f"disabled {id}", "null"))
    failing_text, since = state.get(f"failing {id}"), state.get(f"since {id}")
    older_secrets = definition["secrets"][1:]
    return Endpoint(
        id=id,
        url=definition["url"],
        events=tuple(definition["events"]),
        queues=tuple(definition["queues"]),
        created_at=to_datetime(definition["created_at"]),
        created_by=definition["created_by"],
        since=to_datetime(int(since) if since else definition["created_at"]),
        failing_since=to_datetime(int(failing_text)) if failing_text else None,
        disabled_at=to_datetime(disabled_record["at"]) if disabled_record else None,
        disabled_why=disabled_record["why"] if disabled_record else None,
        rotating_until=to_datetime(older_secrets[0]["until"]) if older_secrets else None,
    )


def _checked_queues(queues: object) -> tuple[str, ...]:
    if isinstance(queues, str) or not isinstance(queues, Sequence) or len(queues) > MAX_QUEUES:
        raise Invalid("queues", "format", what="queue_names", maximum=MAX_QUEUES)
    try:
        return tuple(sorted({validation.queue_name(name) for name in queues}))
    except Invalid:
        raise Invalid("queues", "format", what="queue_names", maximum=MAX_QUEUES) from None


def _new_secret() -> str:
    return "whsec_" + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def texts_of(flat: Any) -> dict[str, str]:
    """Decode a hash's fields and values, as the server sent them."""
    if isinstance(flat, Mapping):  # RESP 3
        return {name.decode(): value.decode() for name, value in flat.items()}
    words = [word.decode() for word in flat]
    return dict(zip(words[::2], words[1::2], strict=True))


GROUP = "leaseq.webhook_makers"
Question: TypeAlias = Callable[[Client, str, str, str | None], str | None]
"""Why this person may not see a webhook of this type and queue; None if they may."""


def questions() -> Sequence[Question]:
    """The questions that are asked before each delivery. Raises LeaseqError if that can't be asked in this
    process."""
    try:
        loaded = [entry.load() for entry in entry_points(group=GROUP)]
    except ImportError as error:
        raise _cannot_ask(str(error)) from error
    if not loaded:
        raise _cannot_ask(f"no package with the entry point {GROUP}")
    return loaded


def why_not_sent(
    questions: Sequence[Question], client: Client, endpoint: Endpoint, content: Any
) -> str | None:
    """The reason why the person who added the endpoint, or enabled it last, may not see this webhook; None if
    they may."""
    queue = content["data"].get("queue")
    answers = (ask(client, endpoint.created_by, content["type"], queue) for ask in questions)
    return next((reason for reason in answers if reason), None)


def _cannot_ask(reason: str) -> LeaseqError:
    return LeaseqError(
        "nothing is sent, since nobody can say whether those who added the webhooks may still see it: "
        f"expected an installed leaseq with its accounts, got {reason}; install leaseq again"
    )


def forget_queue(client: Client, queue: str) -> None:
    """Remove a queue from the endpoints' lists; disable an endpoint whose only queue it is."""
    Endpoints(client).forget_queue(queue)
