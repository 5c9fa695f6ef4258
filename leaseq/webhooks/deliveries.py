"""The deliveries: a queue of their own, and the persons named in them."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from time import monotonic
from typing import Any, Literal

from leaseq import validation
from leaseq.engine.client import Client
from leaseq.engine.keys import WEBHOOK_EVENTS, WEBHOOKS
from leaseq.errors import Invalid, ItemNotFound, QueueExists
from leaseq.models import STATES, Filter, Grant, Item, Json, NewItem, State
from leaseq.queue import Queue
from leaseq.validation import rfc3339
from leaseq.webhooks.endpoints import TEST, Clock, Endpoint, Endpoints, read_events, receivers_of
from leaseq.webhooks.sending import Response

QUEUE = "leaseq-webhooks"
"""The name of the queue of deliveries. It isn't shown on people's pages."""

POLICY: dict[str, Any] = {
    "title": "Webhooks",
    "lease_seconds": 60,  # a try takes at most 13 seconds
    # Waits of 5, 10, 20 … seconds up to an hour, each randomly shortened by up to a quarter: the last try is
    # more than a day after the first.
    "retry_seconds": 5,
    "retry_max_seconds": 3_600,
    "max_attempts": 48,
    "keep_finished_seconds": 3 * 86_400,
}
MAX_DEAD_AGE = timedelta(days=30)
TAKE_SECONDS = 5.0
"""How long a test waits for a process that sends webhooks."""
SEND_SECONDS = 20.0
"""How long a test waits for its end after it was taken: a try takes at most 13 seconds."""
_POLL_SECONDS = 0.1
_TEST = "msg_test_"  # the prefix of the ids of tests

DeliveryState = Literal["waiting", "sending", "delivered", "failed"]
_STATES: dict[State, DeliveryState] = {
    "inbound": "waiting",
    "scheduled": "waiting",
    "reserved": "sending",
    "finished": "delivered",
    "dead": "failed",
}
_COPY = "~"  # between the id of a delivery and the number of its replay
MAX_REPLAYED = 10_000
_LOOK = 100_000
_PAGE = 250


_LARGE = ("payload", "result")
Body = dict[str, Any]
NewDelivery = tuple[str, str, Body]  # with its id and its endpoint


def delivery_id(endpoint: str, *parts: object) -> str:
    """The id of the delivery of this event to this endpoint, the same in every process and at any time. It
    contains no '.', which separates the parts of the signed content."""
    return "msg_" + sha256("\0".join(map(str, (endpoint, *parts))).encode()).hexdigest()[:32]


def deliveries_of(content: Body, receivers: Iterable[Endpoint], *event: object) -> Iterator[NewDelivery]:
    """The deliveries of an event, one to each endpoint."""
    for endpoint in receivers:
        yield delivery_id(endpoint.id, *event), endpoint.id, content


def body(type: str, at: datetime, data: Json) -> Body:
    """A body within the size limit: a payload or result that is too large is left out and listed in
    ``left_out``."""
    content = {"type": type, "timestamp": rfc3339(at), "data": data}
    for name in _LARGE:
        if validation.is_valid(validation.dump_json, content, "body"):
            break
        if data.get(name) is not None:
            data = {**data, name: None, "left_out": [*data.get("left_out", ()), name]}
            content = {**content, "data": data}
    return content


@dataclass(frozen=True, slots=True)
class Try:
    """One try of a delivery: the response's status and beginning, or why there was no response."""

    at: datetime
    status: int | None
    seconds: float | None
    excerpt: str
    error: str | None


@dataclass(frozen=True, slots=True)
class Delivery:
    """An event that is sent to an endpoint, or has been. ``next_at``: the time of the next try."""

    id: str
    endpoint: str
    type: str
    state: DeliveryState
    created_at: datetime
    next_at: datetime | None
    tries: tuple[Try, ...]
    body: Body

    @property
    def webhook_id(self) -> str:
        """The id that the receiver gets, the same for every try and every replay."""
        return webhook_id(self.id)


class Deliveries:
    """The deliveries of a server. ``clock`` (microseconds since the epoch) is for tests."""

    def __init__(self, client: Client, *, clock: Clock | None = None) -> None:
        self.queue = Queue(client, QUEUE, clock=clock)

    def make_queue(self) -> None:
        """Create the queue if it doesn't exist."""
        if not self.queue.exists():
            with suppress(QueueExists):
                self.queue.configure(create_only=True, **POLICY)

    def add(self, new: Iterable[NewDelivery]) -> int:
        """Add deliveries; returns how many were new. It may be repeated."""
        items = (NewItem(body, id=id, requires=(endpoint,)) for id, endpoint, body in new)
        return self.queue.enqueue_many(items).added

    def add_test(self, endpoint: str) -> str:
        """Add a delivery of ``webhook.test`` and return its id. It is sent before any other, even if the
        endpoint is disabled, and tried once."""
        self.make_queue()
        id, event = f"{_TEST}{secrets.token_hex(8)}", body(TEST, datetime.now(UTC), {"endpoint": endpoint})
        return self.queue.enqueue(event, id=id, priority=0, requires=(endpoint,), max_attempts=1).id

    def test(self, endpoint: Endpoint, *, seconds: float | None = None) -> Delivery:
        """Have ``webhook.test`` sent as every delivery is, by a process that sends webhooks and with its
        settings, and return the delivery when it ended. It is still ``waiting`` if no process took it within
        ``seconds`` (5): none runs, or all are busy with this endpoint."""
        seconds = TAKE_SECONDS if seconds is None else seconds
        id, start = self.add_test(endpoint.id), monotonic()
        while True:
            delivery = self.get(id)
            limit = {"waiting": seconds, "sending": seconds + SEND_SECONDS}.get(delivery.state, 0)
            if monotonic() - start >= limit:
                return delivery
            time.sleep(_POLL_SECONDS)

    def next_test(self) -> Item | None:
        """The next test that waits: tests are before all other deliveries."""
        items = self.queue.items("inbound", limit=1)
        return items[0] if items and is_test(items[0].id) else None

    def get(self, id: str) -> Delivery:
        return delivery_of(self.queue.get(id))

    def log(self, endpoint: str, limit: int = 50) -> list[Delivery]:
        """The latest deliveries to an endpoint, the one with the latest try first."""
        if not self.queue.exists():
            return []
        latest: list[Delivery] = []
        for state in STATES:
            page = self.queue.find(state, Filter(skill=endpoint), limit=limit, look=_LOOK, backwards=True)
            latest += map(delivery_of, page.items)
        return sorted(latest, key=_latest_at, reverse=True)[:limit]

    def replay(
        self,
        endpoint: Endpoint,
        *,
        since: datetime | None = None,
        delivery: str | None = None,
        failed: bool = False,
    ) -> int:
        """Send deliveries again, with the same ids: one ``delivery``, or all that ended at or after
        ``since``; with ``failed`` only those that finally failed. Sends at most MAX_REPLAYED, and returns
        their number."""
        if endpoint.disabled_at is not None:
            raise Invalid("id", "endpoint_disabled", id=endpoint.id)
        if delivery is None and since is None and not failed:
            raise Invalid("since", "format", what="replay_since")
        run, sent_ids = secrets.token_hex(4), set[str]()
        items = [] if delivery is None else [self._replayable(endpoint, delivery)]
        for item in items or self._ended_items(endpoint.id, since, failed):
            # A delivery that is sent again may end during this loop: each is sent only once.
            if webhook_id(item.id) not in sent_ids and self._send_again(item, run):
                sent_ids.add(webhook_id(item.id))
            if len(sent_ids) == MAX_REPLAYED:
                break
        return len(sent_ids)

    def purge(self, endpoint: str) -> None:
        """Remove all deliveries to an endpoint."""
        if self.queue.exists():
            for state in STATES:
                self._remove(self._items(state, Filter(skill=endpoint)))

    def forget_dead(self) -> None:
        """Remove the deliveries that failed longer ago than MAX_DEAD_AGE."""
        for event in self.queue.latest_events(1):  # the server's time is not earlier than this event
            self._remove(self._items("dead", Filter(until=event.at - MAX_DEAD_AGE)))

    def _remove(self, items: Iterable[Item]) -> None:
        for item in items:
            with suppress(ItemNotFound):
                self.queue.remove(item.id)

    def _replayable(self, endpoint: Endpoint, delivery: str) -> Item:
        item = self.queue.get(delivery)
        if endpoint.id not in item.requires:
            raise ItemNotFound(QUEUE, delivery)
        if is_test(delivery):
            raise Invalid("delivery", "replay", what="test")
        if item.state not in ("finished", "dead"):
            raise Invalid("delivery", "replay", what="open")
        return item

    def _ended_items(self, endpoint: str, since: datetime | None, failed: bool) -> Iterator[Item]:
        states: tuple[State, ...] = ("dead",) if failed else ("dead", "finished")
        if self.queue.exists():
            for state in states:
                items = self._items(state, Filter(skill=endpoint, since=since))
                yield from (item for item in items if not is_test(item.id))

    def _send_again(self, item: Item, run: str) -> bool:
        if item.state == "dead":
            with suppress(ItemNotFound):
                self.queue.revive(item.id)
                return True
            return False
        copy_id = f"{webhook_id(item.id)}{_COPY}{run}"
        return self.queue.enqueue(item.payload, id=copy_id, requires=item.requires).added

    def _items(self, state: State, criteria: Filter) -> Iterator[Item]:
        return self.queue._walk(state, _PAGE, criteria)  # noqa: SLF001 - of the library itself


def webhook_id(delivery: str) -> str:
    """The ``webhook-id`` of a delivery; a replay has the original's."""
    return delivery.partition(_COPY)[0]


def is_test(delivery: str) -> bool:
    return delivery.startswith(_TEST)


def dump_response(response: Response) -> str:
    """A failed try, as the error text of the item's failure."""
    return json.dumps(asdict(response), ensure_ascii=False)


def delivery_of(item: Item) -> Delivery:
    body = item.payload if isinstance(item.payload, dict) else {}
    return Delivery(
        id=item.id,
        endpoint=next(iter(item.requires), ""),
        type=str(body.get("type", "")),
        state=_STATES[item.state],
        created_at=item.enqueued_at,
        next_at=item.state_since if item.state == "scheduled" else None,
        tries=tuple(
            _try(grant, item) for grant in item.history if grant.how in ("failed", "finished", "expired")
        ),
        body=body,
    )


def _try(grant: Grant, item: Item) -> Try:
    response: Any = {}
    if grant.how == "finished":
        response = next((answer.result for answer in item.answers if answer.token == grant.token), {})
    elif grant.reason:
        with suppress(ValueError):
            response = json.loads(grant.reason)
    if not isinstance(response, dict) or not response:
        response = {"error": grant.reason or "the process that sent it ended"}
    return Try(
        grant.reserved_at,
        response.get("status"),
        response.get("seconds"),
        response.get("excerpt", ""),
        response.get("error"),
    )


def _latest_at(delivery: Delivery) -> datetime:
    return delivery.tries[-1].at if delivery.tries else delivery.created_at


_REMOVED = "person.removed"


def notify_person_removed(client: Client, name: str, *, by: str, request_id: str) -> None:
    """Send ``person.removed`` to the endpoints that subscribe to it, so that receivers can also erase the
    person. The name is only in these deliveries. If repeated with the same id, it is sent once."""
    now = datetime.now(UTC)
    if receivers := receivers_of(Endpoints(client).all(), _REMOVED, None, now):
        content = body(_REMOVED, now, {"name": name, "by": by, "detail": ""})
        deliveries = Deliveries(client)
        deliveries.make_queue()
        deliveries.add(deliveries_of(content, receivers, _REMOVED, request_id))


def forget_person(client: Client, name: str, to: str) -> None:
    """Delete the stream's events about a person, sent or not, and replace the name with ``to`` in the
    endpoints that the person added. Deliveries that already exist keep the name."""
    after = ""
    while events := read_events(client, after):
        after = events[-1].id
        if ids := [event.id for event in events if name in (event.data.get("name"), event.data.get("by"))]:
            client.ask(("XDEL", WEBHOOK_EVENTS, *ids))
    for endpoint in Endpoints(client).all():
        if endpoint.created_by == name:
            (text,) = client.ask(("HGET", WEBHOOKS, endpoint.id))
            if text is not None:
                definition = {**json.loads(text), "created_by": to}
                client.ask(("HSET", WEBHOOKS, endpoint.id, json.dumps(definition)))
            Endpoints(client).disable(endpoint.id, "the person who added it was erased")
