"""`leaseq webhook run`: deliver what the feeder put in."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from time import monotonic

from leaseq import validation
from leaseq.engine.client import Client
from leaseq.errors import ItemNotFound, LeaseLost, LeaseqError
from leaseq.models import Lease
from leaseq.webhooks.deliveries import Deliveries, dump_response, is_test, webhook_id
from leaseq.webhooks.endpoints import Clock, Endpoint, EndpointNotFound, Endpoints, questions, why_not_sent
from leaseq.webhooks.feeder import Feeder
from leaseq.webhooks.sending import GONE, TOTAL_SECONDS, Networks, Response, post

log = logging.getLogger(__name__)


class Deliverer:
    """Sends deliveries. ``allow``: networks that are allowed although they are not public. ``seconds``: the
    time limit of one try. Raises LeaseqError if this process can't ask who may see what is sent."""

    def __init__(
        self,
        client: Client,
        allow: Networks,
        *,
        clock: Clock | None = None,
        seconds: float = TOTAL_SECONDS,
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
            reason = None if is_testing else self._why_not_sent(receiver, lease)
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

    def _why_not_sent(self, endpoint: Endpoint, lease: Lease) -> str | None:
        return why_not_sent(self._questions, self._client, endpoint, lease.payload)

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


def signature_headers(id: str, at: datetime, text: str, keys: Sequence[str]) -> Mapping[str, str]:
    """The headers of Standard Webhooks, with one signature for each secret."""
    from standardwebhooks import Webhook  # noqa: PLC0415 - everything except sending works without it

    signatures = " ".join(Webhook(key).sign(id, at, text) for key in keys)
    return {
        "webhook-id": id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": signatures,
    }


class Slots:
    """Threads that send: at most ``limit`` for each endpoint, so a slow endpoint doesn't delay the others."""

    def __init__(self, deliverer: Deliverer, limit: int, stop: threading.Event) -> None:
        self._deliverer = deliverer
        self._limit = limit
        self._stop = stop
        self._busy_slots: dict[str, set[int]] = {}
        self._lock = threading.Lock()
        self._threads: set[threading.Thread] = set()

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
                self._deliverer.deliver(endpoint, lease)
                lease = None if self._stop.is_set() else self._deliverer.reserve(endpoint, slot)
        except Exception as error:  # noqa: BLE001 - the lease expires, and the delivery is tried again
            log.warning("webhook %s: %s", endpoint, error)
        finally:
            with self._lock:
                self._busy_slots[endpoint].discard(slot)
                self._threads.discard(threading.current_thread())


PER_ENDPOINT = 4
"""How many deliveries to one endpoint each process sends at the same time."""

_PAUSE = 0.5  # seconds between two steps when there is nothing to do
_RETRY_SECONDS = 5.0  # seconds until an unavailable server is tried again
_PURGE_SECONDS = 3_600.0  # seconds between two removals of old failures


def run(client: Client, allow: Networks, stop: threading.Event, *, per_endpoint: int = PER_ENDPOINT) -> None:
    """Send webhooks until ``stop`` is set, then complete the tries in progress. Several processes may run."""
    feeder, deliverer = Feeder(client), Deliverer(client, allow)
    slots = Slots(deliverer, per_endpoint, stop)
    reader = threading.Thread(
        target=_repeat, args=("reading events", feeder.feed, stop), name="leaseq-feed", daemon=True
    )
    reader.start()
    hourly_purge = HourlyPurge(deliverer)

    def send() -> bool:
        hourly_purge()
        return send_round(deliverer, slots)

    _repeat("sending", send, stop)
    reader.join()
    slots.join()


def send_round(deliverer: Deliverer, slots: Slots) -> bool:
    """Start a thread for each endpoint that has a delivery due, if it is enabled or the delivery is a test;
    returns whether any was started."""
    queue = deliverer.deliveries.queue
    if not queue.exists():
        return False
    while queue.clear().more:
        pass
    endpoints = deliverer.endpoints.all()
    endpoint_ids = [one.id for one in endpoints if one.disabled_at is None]
    test = deliverer.deliveries.next_test() if len(endpoint_ids) < len(endpoints) else None
    if test is not None:
        endpoint_ids += set(test.requires) - set(endpoint_ids)
    return any([slots.start(endpoint) for endpoint in endpoint_ids])  # noqa: C419 - each is started


class HourlyPurge:
    """Removes old failures once an hour."""

    def __init__(self, deliverer: Deliverer) -> None:
        self._deliverer = deliverer
        self._next = monotonic() + _PURGE_SECONDS

    def __call__(self) -> None:
        if monotonic() >= self._next:
            self._next = monotonic() + _PURGE_SECONDS
            self._deliverer.deliveries.forget_dead()


def _repeat(activity: str, step: Callable[[], bool], stop: threading.Event) -> None:
    """Repeat a step until ``stop`` is set: without a pause if it returns that there is more to do. An error
    is logged once, until the step works again."""
    is_unavailable = False
    while not stop.is_set():
        try:
            has_more = step()
            if is_unavailable:
                log.warning("webhooks: %s works again", activity)
            is_unavailable = False
        except LeaseqError as error:
            if not is_unavailable:
                log.warning("webhooks: %s: %s; trying again every %g s", activity, error, _RETRY_SECONDS)
            is_unavailable, has_more = True, False
        if not has_more:
            stop.wait(_RETRY_SECONDS if is_unavailable else _PAUSE)
