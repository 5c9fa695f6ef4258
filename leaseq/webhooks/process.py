"""The process that sends webhooks, `leaseq webhook run`: it creates deliveries from events, and sends them.

The events are those in the queues' journals, and those in the stream of other events. A delivery's id is
derived from the event and the endpoint, and the place is saved after the deliveries are in their queue. So a
process that ends in between creates the same ones again, which changes nothing, and several may run at the
same time.
"""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from functools import partial
from time import monotonic

from leaseq import validation
from leaseq.engine import codec
from leaseq.engine.client import Client, connection_of
from leaseq.engine.keys import WEBHOOK_STATE
from leaseq.errors import ItemNotFound, LeaseLost, QueueNotFound, QueueUnreadable
from leaseq.events import Event, EventRow
from leaseq.followers import Lag, Loop, ServerPlace, read_on
from leaseq.models import GivenAnswer, Json, Lease, Outcome
from leaseq.queue import Queue, lifecycle
from leaseq.validation import rfc3339
from leaseq.webhooks.deliveries import (
    QUEUE,
    Deliveries,
    NewDelivery,
    body,
    deliveries_of,
    dump_response,
    is_test,
    webhook_id,
)
from leaseq.webhooks.endpoints import (
    TYPES,
    Clock,
    Endpoint,
    EndpointNotFound,
    Endpoints,
    matches,
    questions,
    read_events,
    receivers_of,
    texts_of,
    why_not_sent,
)
from leaseq.webhooks.sending import GONE, TOTAL_SECONDS, Networks, Response, post, signature_headers

FOLLOWER = "webhooks"
"""The follower's name in the queues' journals."""

_EVENTS = 1_000  # events per read, at least: a read ends with a whole journal entry
PER_ENDPOINT = 4
"""How many deliveries to one endpoint each process sends at the same time."""

_PURGE_SECONDS = 3_600.0  # seconds between two removals of old failures
_ITEMS = 50  # items whose payloads and answers are in memory at the same time
_READ = "read"
_STREAM = "(none)"  # no queue has this name
_PAUSE = 0.5  # seconds between two rounds when there is nothing to do
_QUEUE_TYPES = tuple(type for type in TYPES if type.startswith(("item.", "queue.", "alert.")))
_QUEUELESS_TYPES = tuple(type for type in TYPES if type not in _QUEUE_TYPES)
_LEAVING = frozenset({"finished", "died", "removed"})
_ENTERING = ("enqueued", "revived", "undone", "reopened")

log = logging.getLogger(__name__)

_TYPES = {
    "finished": "item.finished",
    "adopted": "item.finished",
    "corrected": "item.finished",
    "failed": "item.failed",
    "died": "item.dead",
    "cancelled": "item.cancelled",
    "lapsed": "item.expired",
    "late": "item.late",
    "alert.raised": "alert.raised",
    "alert.resolved": "alert.resolved",
}
"""The type of a webhook, by the kind of the journal event. An adopted or corrected answer becomes the item's
answer, so it is sent as finished. An item that was cancelled, or that nobody answered in time, is not sent as
dead."""


class Feeder:
    """The maker of deliveries from events. ``clock`` (microseconds since the epoch) is for tests; by default
    the server's clock is used."""

    def __init__(self, client: Client, *, clock: Clock | None = None) -> None:
        self._client = client
        self._clock = clock
        self._endpoints = Endpoints(client, clock=clock)
        self._deliveries = Deliveries(client, clock=clock)
        self._endpoint_ids: set[str] = set()  # ids of the endpoints in the last round
        self._receivers: dict[str, list[Endpoint]] = {}  # by queue, in this round
        self._followed_names: set[str] = set()  # the queues that were followed before it
        self._lag = Lag("the webhooks", log)
        self.loop = Loop("reading events for webhooks", self._sources, self._feed, log, pause=_PAUSE)

    def feed(self) -> bool:
        """Read on in the stream and in each journal that an endpoint needs; returns whether there is more."""
        return self.loop.round()

    def _sources(self) -> list[str]:
        """The queues with events that an endpoint needs, and the stream."""
        endpoints = self._endpoints.all()
        self._purge({endpoint.id for endpoint in endpoints})
        active_endpoints = [endpoint for endpoint in endpoints if endpoint.disabled_at is None]
        self._receivers = {
            name: receivers
            for name in self._names(active_endpoints)
            if (receivers := [endpoint for endpoint in active_endpoints if _wants_queue(endpoint, name)])
        }
        self._followed_names = self._followed_queues()
        for name in self._followed_names - self._receivers.keys():
            self._unfollow(name)
        stream_receivers = [endpoint for endpoint in active_endpoints if _wants_queueless(endpoint)]
        if stream_receivers:
            self._receivers[_STREAM] = stream_receivers
        return list(self._receivers)

    def _feed(self, name: str) -> bool:
        """Create the deliveries of the next events of a queue, or of the stream; return whether there may be
        more."""
        receivers = self._receivers[name]
        return self._feed_stream(receivers) if name == _STREAM else self._feed_queue(name, receivers)

    def _names(self, endpoints: Sequence[Endpoint]) -> list[str]:
        names = lifecycle.names(connection_of(self._client)) if endpoints else ()
        return [name for name in names if name != QUEUE]

    def _purge(self, ids: set[str]) -> None:
        """Remove the deliveries of removed endpoints, which may have been created during the removal."""
        for endpoint_id in self._endpoint_ids - ids:
            self._deliveries.purge(endpoint_id)
        self._endpoint_ids = ids

    def _followed_queues(self) -> set[str]:
        fields = texts_of(self._client.ask(("HGETALL", WEBHOOK_STATE))[0])
        return {name.removeprefix("follows ") for name in fields if name.startswith("follows ")}

    def _unfollow(self, name: str) -> None:
        try:
            Queue(self._client, name).unfollow(FOLLOWER)
        except QueueNotFound:
            pass
        except QueueUnreadable:
            return
        self._client.ask(("HDEL", WEBHOOK_STATE, f"follows {name}"))

    def _feed_queue(self, name: str, endpoints: Sequence[Endpoint]) -> bool:
        queue = Queue(self._client, name, clock=self._clock)
        place = ServerPlace(queue, FOLLOWER)
        try:
            if name not in self._followed_names:
                self._start_following(queue, place, endpoints)
            handle = partial(self._add_deliveries, queue, endpoints)
            count = read_on(queue.event_rows, place, handle, _EVENTS)
            if count:
                self._lag.check(queue, place.load(), has_more=count >= _EVENTS)
        except (QueueNotFound, QueueUnreadable):  # just deleted, or written by a newer version
            return False
        return count >= _EVENTS

    def _add_deliveries(self, queue: Queue, endpoints: Sequence[Endpoint], rows: Sequence[EventRow]) -> None:
        events = [codec.event(row) for row in rows]
        self._deliveries.make_queue()
        self._deliveries.add(self._journal_deliveries(queue, events, endpoints))
        if len(events) < _EVENTS:
            self._deliveries.add(self._empty_queue_deliveries(queue, events, endpoints))

    def _start_following(self, queue: Queue, place: ServerPlace, endpoints: Sequence[Endpoint]) -> None:
        """Follow a queue from the earliest time that an endpoint needs. A journal entry's id is its time."""
        self._client.ask(("HSET", WEBHOOK_STATE, f"follows {queue.name}", 1))
        first = min(endpoint.since for endpoint in endpoints)
        place.save(f"{codec.microseconds(first) - 1}.0")

    def _journal_deliveries(
        self, queue: Queue, events: Sequence[Event], endpoints: Sequence[Endpoint]
    ) -> Iterator[NewDelivery]:
        not_needed = {
            (event.id, _call(event)) for event in events if event.what in ("cancelled", "lapsed")
        }  # these calls also record the death
        messages = [
            (event, type, receivers)
            for event in events
            if (type := type_of(event))
            and not (event.what == "died" and (event.id, _call(event)) in not_needed)
            and (receivers := receivers_of(endpoints, type, queue.name, event.at))
        ]
        for start in range(0, len(messages), _ITEMS):
            part = messages[start : start + _ITEMS]
            outcomes = _outcomes(queue, [event for event, _, _ in part])
            for event, type, receivers in part:
                content = body(type, event.at, data_of(queue.name, event, outcomes.get(event.id), events))
                yield from deliveries_of(content, receivers, *event_key(queue.name, event))

    def _empty_queue_deliveries(
        self, queue: Queue, events: Sequence[Event], endpoints: Sequence[Endpoint]
    ) -> Iterator[NewDelivery]:
        """Deliveries of ``queue.empty``, if the last item has left the queue: once until another item enters.
        The delivery's id is derived from the number of items that have ever entered."""
        times = [event.at for event in events if event.what in _LEAVING]
        receivers = receivers_of(endpoints, "queue.empty", queue.name, times[-1]) if times else []
        if not receivers:
            return
        stats = queue.stats()
        if stats.inbound or stats.reserved or stats.scheduled:
            return
        counters = {str(name): count for name, count in stats.counters.items()}
        entry_count = sum(counters.get(name, 0) for name in _ENTERING)
        data = {"queue": queue.name, "finished": stats.finished, "dead": stats.dead}
        content = body("queue.empty", times[-1], data)
        yield from deliveries_of(content, receivers, queue.name, "queue.empty", entry_count)

    def _feed_stream(self, endpoints: Sequence[Endpoint]) -> bool:
        raw = self._client.ask(("HGET", WEBHOOK_STATE, _READ))[0]
        events = read_events(self._client, raw.decode() if raw else "")
        deliveries: list[NewDelivery] = []
        for event in events:
            at = codec.to_datetime(event.at)
            receivers = receivers_of(endpoints, event.type, None, at)
            deliveries += deliveries_of(body(event.type, at, event.data), receivers, event.type, event.id)
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


def type_of(event: Event) -> str | None:
    """The type of the webhook that is sent for an event; None if none is sent."""
    return _TYPES.get(str(event.what))


def _call(event: Event) -> str:
    """The call that an event is of: all of its events are in one journal entry."""
    return event.cursor.partition(".")[0]


def event_key(queue: str, event: Event) -> tuple[str, ...]:
    """The parts of an event's delivery id. One call may record an answer both as finished and as adopted, or
    the death of each assignment of an item: only one webhook is sent for these."""
    type = type_of(event)
    token = "" if type in ("item.dead", "item.expired") else str(event.token or "")
    return queue, str(type), _call(event), event.id or str(event.detail), token


def data_of(queue: str, event: Event, outcome: Outcome | None, batch: Sequence[Event]) -> Json:
    """The data sent for a journal event. ``outcome``: its item's, or None if the item has been removed.
    ``batch``: the events around it."""
    type = type_of(event)
    if type in ("alert.raised", "alert.resolved"):
        return {"queue": queue, **event.detail}
    payload = outcome.payload if outcome else None
    data = {"queue": queue, "id": event.id, "payload": payload}
    if type in ("item.finished", "item.late"):
        return {**data, **_answer(event, outcome)}
    if type == "item.cancelled":
        return {**data, "person": event.person, "reason": event.detail, "cancelled_at": rfc3339(event.at)}
    if type == "item.expired":
        return {**data, "expired_at": rfc3339(event.at)}
    times = {"failed_at" if type == "item.failed" else "died_at": rfc3339(event.at)}
    failure = _failure(event, batch)
    return {**data, "person": event.person, "token": event.token, "error": failure, **times}


def _answer(event: Event, outcome: Outcome | None) -> Json:
    answer: GivenAnswer | None = None
    if outcome is not None:
        answer = next((answer for answer in outcome.answers if answer.token == event.token), None)
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
    for delivery in batch:
        if (
            delivery.id == event.id
            and _call(delivery) == _call(event)
            and delivery.what in ("failed", "expired")
        ):
            return delivery.detail if delivery.what == "failed" else codec.EXPIRED
    return None


class Deliverer:
    """The sender of one delivery at a time. ``allow``: networks that are allowed although they are not
    public. ``seconds``: the time limit of one try. Raises LeaseqError if this process can't ask who may see
    what is sent."""

    def __init__(
        self, client: Client, allow: Networks, *, clock: Clock | None = None, seconds: float = TOTAL_SECONDS
    ) -> None:
        self._client = client
        self._questions = questions()
        self.endpoints = Endpoints(client, clock=clock)
        self.deliveries = Deliveries(client, clock=clock)
        self._allow = allow
        self._seconds = seconds
        self._process = secrets.token_hex(4)

    def reserve(self, endpoint: str, slot: int = 0) -> Lease | None:
        """Reserve a delivery to this endpoint that is due. Each slot holds at most one."""
        person = f"{endpoint}.{self._process}.{slot}"
        return self.deliveries.queue.reserve(person, skills=(endpoint,))

    def deliver(self, endpoint: str, lease: Lease) -> Response | None:
        """Send a delivery once. None if it was not sent because the endpoint has been removed or disabled."""
        queue, receiver = self.deliveries.queue, self.endpoints.find(endpoint)
        is_testing = is_test(lease.id)
        with suppress(LeaseLost, ItemNotFound):  # it was removed, or took so long that it is sent again
            if receiver is None:
                queue.remove(lease.id)
                return None
            if receiver.disabled_at is not None and not is_testing:
                queue.release(lease.id)
                return None
            reason = None
            if not is_testing:
                reason = why_not_sent(self._questions, self._client, receiver, lease.payload)
            if reason is not None:
                queue.release(lease.id)
                self.endpoints.disable(endpoint, reason)
                return None
            response = self._send(receiver, lease)
            if response.ok:
                queue.finish(lease, asdict(response))
                self.endpoints.note_success(receiver)
            else:
                queue.fail(lease, dump_response(response))
                self._note_failure(receiver, lease.reserved_at, response, counts=not is_testing)
            return response
        return None

    def _send(self, endpoint: Endpoint, lease: Lease) -> Response:
        text = validation.dump_json(lease.payload, "body")
        # The server's time, not this machine's: receivers refuse webhooks that are five minutes old.
        at = lease.reserved_at
        try:
            keys = self.endpoints.secrets(endpoint.id, at)
        except EndpointNotFound as error:
            return Response(None, 0, error=str(error))
        headers = {"Content-Type": "application/json", "User-Agent": "leaseq"}
        headers |= signature_headers(webhook_id(lease.id), at, text, keys)
        return post(endpoint.url, headers, text.encode(), self._allow, seconds=self._seconds)

    def _note_failure(self, endpoint: Endpoint, at: datetime, response: Response, *, counts: bool) -> None:
        log.info("webhook %s: %s", endpoint.id, response.error or response.status)
        with suppress(EndpointNotFound):
            if response.status == GONE:
                self.endpoints.disable(endpoint.id, "the receiver answered 410 Gone", at=at)
            elif counts:
                self.endpoints.note_failure(endpoint, at)


class Sender:
    """The sender of all that is due, in at most ``limit`` threads for each endpoint, so a slow endpoint
    doesn't delay the others. A thread ends when nothing is due to its endpoint any more.

    This is not a `Worker` for each endpoint, whose threads would be on waiting lists even while nothing is
    due (docs/decisions/0024-webhooks.md)."""

    def __init__(self, deliverer: Deliverer, limit: int, stop: threading.Event) -> None:
        self._deliverer = deliverer
        self._limit = limit
        self._stop = stop
        self._busy_slots: dict[str, set[int]] = {}
        self._lock = threading.Lock()
        self._threads: set[threading.Thread] = set()
        self._next_purge_at = monotonic() + _PURGE_SECONDS
        self.loop = Loop(
            "sending webhooks", self._endpoints, self.start, log, pause=_PAUSE, label="webhook {}"
        )

    def _endpoints(self) -> Sequence[str]:
        """The endpoints that are enabled, and one for which a test waits."""
        deliveries = self._deliverer.deliveries
        if not deliveries.queue.exists():
            return ()
        while deliveries.queue.clear().more:
            pass
        if monotonic() >= self._next_purge_at:
            self._next_purge_at = monotonic() + _PURGE_SECONDS
            deliveries.forget_dead()
        endpoints = self._deliverer.endpoints.all()
        ids = [endpoint.id for endpoint in endpoints if endpoint.disabled_at is None]
        test = deliveries.next_test() if len(ids) < len(endpoints) else None
        return ids if test is None else [*ids, *(set(test.requires) - set(ids))]

    def start(self, endpoint: str) -> bool:
        """Start a thread for an endpoint if a delivery is due and a slot is free; returns whether it did."""
        with self._lock:
            busy_slots = self._busy_slots.setdefault(endpoint, set())
            slot = next((number for number in range(self._limit) if number not in busy_slots), None)
        lease = None if slot is None else self._deliverer.reserve(endpoint, slot)
        if lease is None or slot is None:
            return False
        thread = threading.Thread(target=self._run, args=(endpoint, slot, lease), name=f"leaseq-{endpoint}")
        with self._lock:
            busy_slots.add(slot)
            self._threads.add(thread)
        thread.start()
        return True

    def join(self) -> None:
        """Wait until all threads have ended. Each completes its try, which takes at most 13 seconds."""
        for thread in self._threads.copy():
            thread.join()

    def _run(self, endpoint: str, slot: int, lease: Lease | None) -> None:
        try:
            while lease is not None:
                is_sent = self._deliverer.deliver(endpoint, lease) is not None
                may_go_on = is_sent and not self._stop.is_set()
                lease = self._deliverer.reserve(endpoint, slot) if may_go_on else None
        except Exception as error:  # noqa: BLE001 - the lease expires, and the delivery is tried again
            log.warning("webhook %s: %s", endpoint, error)
        finally:
            with self._lock:
                self._busy_slots[endpoint].discard(slot)
                self._threads.discard(threading.current_thread())


def run(client: Client, allow: Networks, stop: threading.Event, *, per_endpoint: int = PER_ENDPOINT) -> None:
    """Send webhooks until ``stop`` is set, then complete the tries in progress. Several processes may run."""
    feeder, sender = Feeder(client), Sender(Deliverer(client, allow), per_endpoint, stop)
    reader = threading.Thread(target=feeder.loop.run, args=(stop,), name="leaseq-feed", daemon=True)
    reader.start()
    sender.loop.run(stop)
    reader.join()
    sender.join()
