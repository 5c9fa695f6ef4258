"""The loop of ``leaseq webhook run``: fills the queue of deliveries, and sends them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from time import monotonic

from leaseq.engine.client import Client
from leaseq.errors import LeaseqError
from leaseq.webhooks.addresses import Networks
from leaseq.webhooks.deliverer import Deliverer, Slots
from leaseq.webhooks.feeder import Feeder

PER_ENDPOINT = 4
"""How many deliveries to one endpoint each process sends at the same time."""

_PAUSE = 0.5  # seconds between two steps when there is nothing to do
_RETRY_SECONDS = 5.0  # seconds until an unavailable server is tried again
_PURGE_SECONDS = 3_600.0  # seconds between two removals of old failures
log = logging.getLogger(__name__)


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
