"""Removes a person from the webhooks, and notifies receivers of the removal."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from leaseq.engine.client import Client
from leaseq.engine.keys import WEBHOOK_EVENTS, WEBHOOKS
from leaseq.webhooks.bodies import body, delivery_id
from leaseq.webhooks.deliveries import Deliveries
from leaseq.webhooks.endpoints import Endpoints
from leaseq.webhooks.events import read_events

_REMOVED = "person.removed"


def notify_person_removed(client: Client, name: str, *, by: str, request_id: str) -> None:
    """Send ``person.removed`` to the endpoints that subscribe to it, so that receivers can also erase the
    person. The name is only in these deliveries. If repeated with the same id, it is sent once."""
    now = datetime.now(UTC)
    receivers = [one for one in Endpoints(client).all() if one.wants(_REMOVED, None, now)]
    if receivers:
        content = body(_REMOVED, now, {"name": name, "by": by, "detail": ""})
        deliveries = Deliveries(client)
        deliveries.make_queue()
        deliveries.add((delivery_id(one.id, _REMOVED, request_id), one.id, content) for one in receivers)


def forget_person(client: Client, name: str, to: str) -> None:
    """Delete the stream's events about a person, sent or not, and replace the name with ``to`` in the
    endpoints that the person added. Deliveries that already exist keep the name."""
    after = ""
    while events := read_events(client, after):
        after = events[-1].id
        if ids := [one.id for one in events if name in (one.data.get("name"), one.data.get("by"))]:
            client.ask(("XDEL", WEBHOOK_EVENTS, *ids))
    for endpoint in Endpoints(client).all():
        if endpoint.created_by == name:
            (text,) = client.ask(("HGET", WEBHOOKS, endpoint.id))
            if text is not None:
                definition = {**json.loads(text), "created_by": to}
                client.ask(("HSET", WEBHOOKS, endpoint.id, json.dumps(definition)))
            Endpoints(client).disable(endpoint.id, "the person who added it was erased")
