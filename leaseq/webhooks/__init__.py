"""Webhooks: events of the queues, sent as signed requests to URLs (docs/webhooks.md).

    endpoints = webhooks.Endpoints(client)
    new_secret = endpoints.add("https://example.org/hook", events=["item.finished"], by="ann")
    webhooks.emit(client, "person.added", {"name": "bob", "by": "ann"})

``leaseq webhook run`` sends them: a feeder creates deliveries from events, as items in a separate queue, and
a deliverer works on that queue.
"""

from __future__ import annotations

from leaseq.webhooks.deliveries import QUEUE, Deliveries, Delivery, Try, forget_person, notify_person_removed
from leaseq.webhooks.endpoints import (
    DEFAULT_TYPES,
    TYPES,
    Endpoint,
    EndpointNotFound,
    Endpoints,
    NewSecret,
    emit,
)
from leaseq.webhooks.process import Deliverer, Feeder, run
from leaseq.webhooks.sending import Networks, networks

__all__ = [
    "DEFAULT_TYPES",
    "QUEUE",
    "TYPES",
    "Deliverer",
    "Deliveries",
    "Delivery",
    "Endpoint",
    "EndpointNotFound",
    "Endpoints",
    "Feeder",
    "Networks",
    "NewSecret",
    "Try",
    "emit",
    "forget_person",
    "networks",
    "notify_person_removed",
    "run",
]
