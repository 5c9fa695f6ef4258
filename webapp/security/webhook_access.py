"""Webhook operations for both pages and REST: who may add what, and deliveries with the app's settings."""

from __future__ import annotations

from collections.abc import Sequence

from werkzeug.exceptions import Forbidden

from leaseq import webhooks
from leaseq.webapp.context import existing_queue, person, state
from leaseq.webapp.security.audit_log import log_change
from leaseq.webapp.store.accounts import at_least

_PERSON = "person."


def add_endpoint(url: str, events: Sequence[str], queues: Sequence[str]) -> webhooks.NewSecret:
    """Add an endpoint for the person of this request, and log it. Events about people require the role
    admin."""
    is_admin = at_least(person().role, "admin")
    if not is_admin and any(name.startswith(_PERSON) for name in events):
        raise Forbidden("events about people require the role admin; leave out person.*")
    names = [existing_queue(name).name for name in queues]
    new_secret = webhooks.Endpoints(state().client).add(
        url, events=events, queues=names, by=person().name, allow=state().settings.webhook_allow
    )
    log_change("webhook.added", new_secret.endpoint.id, f"{url}, {' '.join(new_secret.endpoint.events)}")
    return new_secret


def remove_endpoint(id: str) -> None:
    endpoint = webhooks.Endpoints(state().client).get(id)
    webhooks.Endpoints(state().client).remove(id)
    webhooks.Deliveries(state().client).purge(id)
    log_change("webhook.removed", id, endpoint.url)


def rotate_secret(id: str) -> webhooks.NewSecret:
    new_secret = webhooks.Endpoints(state().client).rotate(id)
    log_change("webhook.rotated", id)
    return new_secret


def enable_endpoint(id: str) -> webhooks.Endpoint:
    endpoint = webhooks.Endpoints(state().client).enable(id, by=person().name)
    log_change("webhook.enabled", id)
    return endpoint


def disable_endpoint(id: str) -> webhooks.Endpoint:
    endpoint = webhooks.Endpoints(state().client).disable(id, f"disabled by {person().name}")
    log_change("webhook.disabled", id)
    return endpoint


def send_test(id: str) -> webhooks.Delivery:
    endpoint = webhooks.Endpoints(state().client).get(id)
    log_change("webhook.tested", id)
    return webhooks.Deliveries(state().client).test(endpoint)
