"""The verbs of webhooks: add, remove, rotate, enable, disable, test, replay."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from leaseq import webhooks
from leaseq.webapp.context import existing_queue, note, person, state
from leaseq.webapp.serving.problem import Problem
from leaseq.webapp.store.accounts.model import at_least

_PERSON = "person."


def endpoints() -> webhooks.Endpoints:
    return webhooks.Endpoints(state().client)


def deliveries() -> webhooks.Deliveries:
    return webhooks.Deliveries(state().client)


def add(url: str, events: Sequence[str], queues: Sequence[str]) -> webhooks.NewSecret:
    """Add an endpoint for the person of this request. Events about people require the role admin."""
    is_admin = at_least(person().role, "admin")
    if not is_admin and any(name.startswith(_PERSON) for name in events):
        raise Problem.of(403, "forbidden", "forbidden", what="people_events")
    names = [existing_queue(name).name for name in queues]
    new_secret = endpoints().add(
        url, events=events, queues=names, by=person().name, allow=state().settings.webhook_allow
    )
    note("webhook.added", new_secret.endpoint.id, url=url, events=new_secret.endpoint.events)
    return new_secret


def remove(id: str) -> None:
    endpoint = endpoints().get(id)
    endpoints().remove(id)
    deliveries().purge(id)
    note("webhook.removed", id, url=endpoint.url)


def rotate(id: str) -> webhooks.NewSecret:
    new_secret = endpoints().rotate(id)
    note("webhook.rotated", id)
    return new_secret


def enable(id: str) -> webhooks.Endpoint:
    endpoint = endpoints().enable(id, by=person().name)
    note("webhook.enabled", id)
    return endpoint


def disable(id: str) -> webhooks.Endpoint:
    endpoint = endpoints().disable(id, f"disabled by {person().name}")
    note("webhook.disabled", id)
    return endpoint


def send_test(id: str) -> webhooks.Delivery:
    endpoint = endpoints().get(id)
    note("webhook.tested", id)
    return deliveries().test(endpoint)


def replay(id: str, *, since: datetime | None, delivery: str | None, failed: bool) -> int:
    """Send deliveries again: one, the failed ones, or those since a time. Returns their number."""
    count = deliveries().replay(endpoints().get(id), since=since, delivery=delivery, failed=failed)
    note("webhook.replayed", id, deliveries=count)
    return count
