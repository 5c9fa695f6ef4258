"""Makes deliveries of events: of the queues' journals, and of the stream of events that no queue has.

Each delivery's id follows from the event and the endpoint, and the position moves once the deliveries are
in their queue. So a feeder that ends in between makes the same ones again, which changes nothing, and several
may run at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from leaseq.engine.client import Client
from leaseq.engine.keys import WEBHOOK_STATE
from leaseq.errors import QueueNotFound, QueueUnreadable
from leaseq.events import Event
from leaseq.models import Outcome
from leaseq.queue import Queue, queues
from leaseq.webhooks.bodies import Body, body, data_of, delivery_id, event_key, type_of
from leaseq.webhooks.deliveries import QUEUE, Deliveries
from leaseq.webhooks.endpoints import Clock, Endpoint, Endpoints
from leaseq.webhooks.events import TYPES, emitted, matches

FOLLOWER = "webhooks"
"""The name by which the journals are followed."""

_EVENTS = 1_000  # of one read: more than an entry of a journal has
_ITEMS = 50  # of which the payloads and answers are in memory at once
_READ = "read"
_OF_QUEUES = tuple(type for type in TYPES if type.startswith(("item.", "queue.", "alert.")))
_OF_NONE = tuple(type for type in TYPES if type not in _OF_QUEUES)
_LEAVING = frozenset({"finished", "died", "removed"})
_ENTERING = ("enqueued", "revived", "undone", "reopened")
_EPOCH = datetime.fromtimestamp(0, UTC)

New = tuple[str, str, Body]


class Feeder:
    """``clock`` (microseconds since the epoch) is for tests: without it the server's clock counts."""

    def __init__(self, client: Client, *, clock: Clock | None = None) -> None:
        self._client = client
        self._clock = clock
        self._endpoints = Endpoints(client, clock=clock)
        self._deliveries = Deliveries(client, clock=clock)
        self._known: set[str] = set()  # ids of endpoints, as of the last round

    def feed(self) -> bool:
        """Read on in each journal that an endpoint asks for; whether there is more to read."""
        endpoints = self._endpoints.all()
        self._purge({one.id for one in endpoints})
        followed = self._followed()
        active = [one for one in endpoints if one.disabled_at is None]
        more = False
        for name in self._names(active):
            wanting = [one for one in active if _asks(one, name)]
            if wanting:
                more = self._feed(name, wanting, new=name not in followed) or more
                followed.discard(name)
        for name in followed:
            self._unfollow(name)
        return self._feed_stream([one for one in active if _asks_of_none(one)]) or more

    def _names(self, active: Sequence[Endpoint]) -> list[str]:
        return [name for name in queues(self._client) if name != QUEUE] if active else []

    def _purge(self, ids: set[str]) -> None:
        """Remove what was made for an endpoint while it was being removed."""
        for gone in self._known - ids:
            self._deliveries.purge(gone)
        self._known = ids

    def _followed(self) -> set[str]:
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

    def _feed(self, name: str, wanting: Sequence[Endpoint], *, new: bool) -> bool:
        queue = Queue(self._client, name, clock=self._clock)
        try:
            after = self._begin(queue, wanting) if new else queue.follow(FOLLOWER)
            events = queue.journal(after=after, limit=_EVENTS)
            whole = _whole_calls(events)
            if not whole:
                return False
            self._deliveries.make_queue()
            self._deliveries.add(self._of_journal(queue, whole, wanting))
            caught_up = len(events) < _EVENTS
            if caught_up:
                self._deliveries.add(self._of_emptiness(queue, whole, wanting))
            queue.follow(FOLLOWER, read=whole[-1].cursor)
        except (QueueNotFound, QueueUnreadable):  # deleted meanwhile, or written by a newer version
            return False
        return not caught_up

    def _begin(self, queue: Queue, wanting: Sequence[Endpoint]) -> str:
        """Follow a queue from the time that the first endpoint asks for. An entry's id is its time."""
        self._client.ask(("HSET", WEBHOOK_STATE, f"follows {queue.name}", 1))
        first = min(one.since for one in wanting) - _EPOCH
        before = first // timedelta(microseconds=1) - 1
        return queue.follow(FOLLOWER, read=f"{before}.0")

    def _of_journal(
        self, queue: Queue, events: Sequence[Event], wanting: Sequence[Endpoint]
    ) -> Iterator[New]:
        told = [
            (event, type, receivers)
            for event in events
            if (type := type_of(event))
            and (receivers := [one for one in wanting if one.wants(type, queue.name, event.at)])
        ]
        for start in range(0, len(told), _ITEMS):
            part = told[start : start + _ITEMS]
            outcomes = _outcomes(queue, [event for event, _, _ in part])
            for event, type, receivers in part:
                made = body(type, event.at, data_of(queue.name, event, outcomes.get(event.id), events))
                for one in receivers:
                    yield delivery_id(one.id, *event_key(queue.name, event)), one.id, made

    def _of_emptiness(
        self, queue: Queue, events: Sequence[Event], wanting: Sequence[Endpoint]
    ) -> Iterator[New]:
        """Where the last item has left the queue: once, until another item enters it. What names the event is
        the number of items that ever entered."""
        left = [event for event in events if event.what in _LEAVING]
        receivers = [one for one in wanting if left and one.wants("queue.empty", queue.name, left[-1].at)]
        if not receivers:
            return
        stats = queue.stats()
        if stats.inbound or stats.reserved or stats.scheduled:
            return
        counters = {str(name): count for name, count in stats.counters.items()}
        entered = sum(counters.get(name, 0) for name in _ENTERING)
        data = {"queue": queue.name, "finished": stats.finished, "dead": stats.dead}
        made = body("queue.empty", left[-1].at, data)
        for one in receivers:
            yield delivery_id(one.id, queue.name, "queue.empty", entered), one.id, made

    def _feed_stream(self, wanting: Sequence[Endpoint]) -> bool:
        if not wanting:
            return False
        raw = self._client.ask(("HGET", WEBHOOK_STATE, _READ))[0]
        events = emitted(self._client, raw.decode() if raw else "")
        new: list[New] = []
        for event in events:
            at = _EPOCH + timedelta(microseconds=event.at)
            made = body(event.type, at, event.data)
            new += [
                (delivery_id(one.id, event.type, event.id), one.id, made)
                for one in wanting
                if one.wants(event.type, None, at)
            ]
        if new:
            self._deliveries.make_queue()
            self._deliveries.add(new)
        if events:
            self._client.ask(("HSET", WEBHOOK_STATE, _READ, events[-1].id))
        return bool(events)


def _outcomes(queue: Queue, events: Sequence[Event]) -> dict[str | None, Outcome | None]:
    """The outcomes of the events' items, by id."""
    ids = list(dict.fromkeys(event.id for event in events if event.id))
    return dict(zip(ids, queue.outcomes(ids), strict=True)) if ids else {}


def _asks(endpoint: Endpoint, queue: str) -> bool:
    named = not endpoint.queues or queue in endpoint.queues
    return named and any(matches(type, endpoint.events) for type in _OF_QUEUES)


def _asks_of_none(endpoint: Endpoint) -> bool:
    return any(matches(type, endpoint.events) for type in _OF_NONE)


def _whole_calls(events: Sequence[Event]) -> list[Event]:
    """The events without those of the last entry where the page may end within it: they come again."""
    if len(events) < _EVENTS:
        return list(events)
    last = events[-1].cursor.partition(".")[0]
    whole = [event for event in events if event.cursor.partition(".")[0] != last]
    return whole or list(events)
