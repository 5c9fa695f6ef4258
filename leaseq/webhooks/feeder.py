"""Creates deliveries from events: those in the queues' journals, and those in the stream of other events.

A delivery's id is derived from the event and the endpoint, and the read position is saved after the
deliveries are in their queue. So a feeder that ends in between creates the same ones again, which changes
nothing, and several feeders may run at the same time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from leaseq.engine import codec
from leaseq.engine.client import Client
from leaseq.engine.keys import WEBHOOK_STATE
from leaseq.errors import QueueNotFound, QueueUnreadable
from leaseq.events import Event
from leaseq.models import Outcome
from leaseq.queue import Queue, queues
from leaseq.webhooks.deliveries import QUEUE, Deliveries
from leaseq.webhooks.endpoints import Clock, Endpoint, Endpoints
from leaseq.webhooks.events import (
    TYPES,
    Body,
    body,
    data_of,
    delivery_id,
    event_key,
    matches,
    read_events,
    type_of,
)

FOLLOWER = "webhooks"
"""The follower's name in the queues' journals."""

_EVENTS = 1_000  # events per read, at least: a read ends with a whole journal entry
_ITEMS = 50  # items whose payloads and answers are in memory at the same time
_READ = "read"
_QUEUE_TYPES = tuple(type for type in TYPES if type.startswith(("item.", "queue.", "alert.")))
_QUEUELESS_TYPES = tuple(type for type in TYPES if type not in _QUEUE_TYPES)
_LEAVING = frozenset({"finished", "died", "removed"})
_ENTERING = ("enqueued", "revived", "undone", "reopened")
_EPOCH = datetime.fromtimestamp(0, UTC)

NewDelivery = tuple[str, str, Body]


class Feeder:
    """Creates deliveries from events. ``clock`` (microseconds since the epoch) is for tests; by default the
    server's clock is used."""

    def __init__(self, client: Client, *, clock: Clock | None = None) -> None:
        self._client = client
        self._clock = clock
        self._endpoints = Endpoints(client, clock=clock)
        self._deliveries = Deliveries(client, clock=clock)
        self._endpoint_ids: set[str] = set()  # ids of the endpoints in the last round

    def feed(self) -> bool:
        """Read on in the stream and in each journal that an endpoint needs; returns whether there is more."""
        endpoints = self._endpoints.all()
        self._purge({one.id for one in endpoints})
        followed_names = self._followed_queues()
        active_endpoints = [one for one in endpoints if one.disabled_at is None]
        has_more = False
        for name in self._names(active_endpoints):
            subscribed_endpoints = [one for one in active_endpoints if _wants_queue(one, name)]
            if subscribed_endpoints:
                has_more = self._feed(name, subscribed_endpoints, new=name not in followed_names) or has_more
                followed_names.discard(name)
        for name in followed_names:
            self._unfollow(name)
        return self._feed_stream([one for one in active_endpoints if _wants_queueless(one)]) or has_more

    def _names(self, endpoints: Sequence[Endpoint]) -> list[str]:
        return [name for name in queues(self._client) if name != QUEUE] if endpoints else []

    def _purge(self, ids: set[str]) -> None:
        """Remove the deliveries of removed endpoints, which may have been created during the removal."""
        for endpoint_id in self._endpoint_ids - ids:
            self._deliveries.purge(endpoint_id)
        self._endpoint_ids = ids

    def _followed_queues(self) -> set[str]:
        fields = self._client.ask(("HGETALL", WEBHOOK_STATE))[0]
        words = [name.decode() for name in list(fields)[:: 1 if isinstance(fields, dict) else 2]]
        return {word.removeprefix("follows ") for word in words if word.startswith("follows ")}

    def _unfollow(self, name: str) -> None:
        try:
            Queue(self._client, name).unfollow(FOLLOWER)
        except QueueNotFound:
            pass
        except QueueUnreadable:
            return
        self._client.ask(("HDEL", WEBHOOK_STATE, f"follows {name}"))

    def _feed(self, name: str, endpoints: Sequence[Endpoint], *, new: bool) -> bool:
        queue = Queue(self._client, name, clock=self._clock)
        try:
            after = self._start_following(queue, endpoints) if new else queue.follow(FOLLOWER)
            events = [codec.event(row) for row in queue.event_rows(after=after, limit=_EVENTS)]
            if not events:
                return False
            self._deliveries.make_queue()
            self._deliveries.add(self._journal_deliveries(queue, events, endpoints))
            caught_up = len(events) < _EVENTS
            if caught_up:
                self._deliveries.add(self._empty_queue_deliveries(queue, events, endpoints))
            queue.follow(FOLLOWER, read=events[-1].cursor)
        except (QueueNotFound, QueueUnreadable):  # just deleted, or written by a newer version
            return False
        return not caught_up

    def _start_following(self, queue: Queue, endpoints: Sequence[Endpoint]) -> str:
        """Follow a queue from the earliest time that an endpoint needs. A journal entry's id is its time."""
        self._client.ask(("HSET", WEBHOOK_STATE, f"follows {queue.name}", 1))
        first = min(one.since for one in endpoints) - _EPOCH
        microseconds = first // timedelta(microseconds=1) - 1
        return queue.follow(FOLLOWER, read=f"{microseconds}.0")

    def _journal_deliveries(
        self, queue: Queue, events: Sequence[Event], endpoints: Sequence[Endpoint]
    ) -> Iterator[NewDelivery]:
        messages = [
            (event, type, receivers)
            for event in events
            if (type := type_of(event))
            and (receivers := [one for one in endpoints if one.wants(type, queue.name, event.at)])
        ]
        for start in range(0, len(messages), _ITEMS):
            part = messages[start : start + _ITEMS]
            outcomes = _outcomes(queue, [event for event, _, _ in part])
            for event, type, receivers in part:
                content = body(type, event.at, data_of(queue.name, event, outcomes.get(event.id), events))
                for one in receivers:
                    yield delivery_id(one.id, *event_key(queue.name, event)), one.id, content

    def _empty_queue_deliveries(
        self, queue: Queue, events: Sequence[Event], endpoints: Sequence[Endpoint]
    ) -> Iterator[NewDelivery]:
        """Deliveries of ``queue.empty``, if the last item has left the queue: once until another item enters.
        The delivery's id is derived from the number of items that have ever entered."""
        leaving_events = [event for event in events if event.what in _LEAVING]
        receivers = [
            endpoint
            for endpoint in endpoints
            if leaving_events and endpoint.wants("queue.empty", queue.name, leaving_events[-1].at)
        ]
        if not receivers:
            return
        stats = queue.stats()
        if stats.inbound or stats.reserved or stats.scheduled:
            return
        counters = {str(name): count for name, count in stats.counters.items()}
        entry_count = sum(counters.get(name, 0) for name in _ENTERING)
        data = {"queue": queue.name, "finished": stats.finished, "dead": stats.dead}
        content = body("queue.empty", leaving_events[-1].at, data)
        for endpoint in receivers:
            yield delivery_id(endpoint.id, queue.name, "queue.empty", entry_count), endpoint.id, content

    def _feed_stream(self, endpoints: Sequence[Endpoint]) -> bool:
        if not endpoints:
            return False
        raw = self._client.ask(("HGET", WEBHOOK_STATE, _READ))[0]
        events = read_events(self._client, raw.decode() if raw else "")
        deliveries: list[NewDelivery] = []
        for event in events:
            at = _EPOCH + timedelta(microseconds=event.at)
            content = body(event.type, at, event.data)
            deliveries += [
                (delivery_id(endpoint.id, event.type, event.id), endpoint.id, content)
                for endpoint in endpoints
                if endpoint.wants(event.type, None, at)
            ]
        if deliveries:
            self._deliveries.make_queue()
            self._deliveries.add(deliveries)
        if events:
            self._client.ask(("HSET", WEBHOOK_STATE, _READ, events[-1].id))
        return bool(events)


def _outcomes(queue: Queue, events: Sequence[Event]) -> dict[str | None, Outcome | None]:
    """The outcomes of the events' items, by id."""
    ids = list(dict.fromkeys(event.id for event in events if event.id))
    return dict(zip(ids, queue.outcomes(ids), strict=True)) if ids else {}


def _wants_queue(endpoint: Endpoint, queue: str) -> bool:
    is_named = not endpoint.queues or queue in endpoint.queues
    return is_named and any(matches(type, endpoint.events) for type in _QUEUE_TYPES)


def _wants_queueless(endpoint: Endpoint) -> bool:
    return any(matches(type, endpoint.events) for type in _QUEUELESS_TYPES)
