"""Webhooks over REST."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from leaseq import webhooks
from leaseq.transfer import time_of
from leaseq.webapp.api.blueprint import bp
from leaseq.webapp.api.idempotency import withhold_answer
from leaseq.webapp.api.models import responses
from leaseq.webapp.api.models.base import PageQuery, Query, RequestModel, list_response, page_of
from leaseq.webapp.api.models.requests import ID, MOMENT, NAME, SKILL, Body, EmptyRequest, optional
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.services import webhooks as service

FAMILIES = tuple(dict.fromkeys(f"{name.partition('.')[0]}.*" for name in webhooks.TYPES))


class WebhookPath(RequestModel):
    webhook: str = Field(description="The endpoint's id", json_schema_extra={"pattern": NAME})


class NewWebhook(Body):
    url: str = Field(
        description="An https URL without user and fragment",
        json_schema_extra={"maxLength": 2_000, "pattern": "^https?://[!-~]+$"},
    )
    events: list[str] = optional(
        "Types such as item.finished, or families such as item.*; default: those of items, queues, alerts",
        minItems=1,
        items={"type": "string", "enum": [*FAMILIES, *webhooks.TYPES]},
    )
    queues: list[str] = optional("Only events of these queues", maxItems=100, items=SKILL)


class ReplayRequest(Body):
    since: str = optional("Only deliveries that ended at this time or later", **MOMENT)
    delivery: str = optional("Only this delivery", **ID)
    failed: bool = optional("true: only those that failed permanently")


class DeliveriesQuery(Query):
    limit: int = Field(50, ge=1, le=1_000, description="The maximum number of entries, default 50")


TAGS: list[Any] = [{"name": "webhooks"}]


def _with_secret(new_secret: webhooks.NewSecret) -> dict[str, Any]:
    return {**responses.Webhook.from_record(new_secret.endpoint), "secret": new_secret.secret}


@bp.get("/webhooks", tags=TAGS, responses={"200": responses.WebhookList})
@needs("manager", all_queues=True)
def list_webhooks(query: PageQuery) -> dict[str, Any]:
    """List the endpoints that events are sent to, by id."""
    page, after = page_of(service.endpoints().all(), lambda endpoint: endpoint.id, query.after, query.limit)
    return list_response("webhooks", [responses.Webhook.from_record(endpoint) for endpoint in page], after)


@bp.post("/webhooks", tags=TAGS, responses={"201": responses.WebhookWithSecret})
@needs("manager", all_queues=True)
def add_webhook(body: NewWebhook) -> tuple[dict[str, Any], int]:
    """Add an endpoint. Events from now on are sent to it. The secret is in this response only.

    Events about people require the role admin.
    """
    withhold_answer()
    events = body.events if "events" in body.model_fields_set else webhooks.DEFAULT_TYPES
    return _with_secret(service.add(body.url, events, body.queues or ())), 201


@bp.get("/webhooks/<webhook>", tags=TAGS, responses={"200": responses.Webhook})
@needs("manager", all_queues=True)
def get_webhook(path: WebhookPath) -> dict[str, Any]:
    """Read an endpoint, with the reason if it is disabled."""
    return responses.Webhook.from_record(service.endpoints().get(path.webhook))


@bp.delete("/webhooks/<webhook>", tags=TAGS, responses={"204": None})
@needs("manager", all_queues=True)
def remove_webhook(path: WebhookPath) -> tuple[str, int]:
    """Remove an endpoint with its secrets and its deliveries."""
    service.remove(path.webhook)
    return "", 204


@bp.post("/webhooks/<webhook>/rotate", tags=TAGS, responses={"200": responses.WebhookWithSecret})
@needs("manager", all_queues=True)
def rotate_webhook(path: WebhookPath, body: EmptyRequest) -> dict[str, Any]:  # noqa: ARG001  # no fields
    """Create a new secret, which is in this response only. The old one also signs for 24 hours."""
    withhold_answer()
    return _with_secret(service.rotate(path.webhook))


@bp.post("/webhooks/<webhook>/enable", tags=TAGS, responses={"200": responses.Webhook})
@needs("manager", all_queues=True)
def enable_webhook(path: WebhookPath, body: EmptyRequest) -> dict[str, Any]:  # noqa: ARG001  # no fields
    """Send to an endpoint again: waiting deliveries, and events from now on."""
    return responses.Webhook.from_record(service.enable(path.webhook))


@bp.post("/webhooks/<webhook>/disable", tags=TAGS, responses={"200": responses.Webhook})
@needs("manager", all_queues=True)
def disable_webhook(path: WebhookPath, body: EmptyRequest) -> dict[str, Any]:  # noqa: ARG001  # no fields
    """Send nothing until the endpoint is enabled. Waiting deliveries are kept, but not later events."""
    return responses.Webhook.from_record(service.disable(path.webhook))


@bp.post("/webhooks/<webhook>/test", tags=TAGS, responses={"200": responses.Delivery})
@needs("manager", all_queues=True)
def test_webhook(path: WebhookPath, body: EmptyRequest) -> dict[str, Any]:  # noqa: ARG001  # no fields
    """Have `webhook.test` sent, and return the receiver's response.

    The process that sends webhooks sends it, with its settings, as every event. Its state is `waiting` if no
    process took it within five seconds: check that one runs.
    """
    return responses.Delivery.from_record(service.send_test(path.webhook))


@bp.get("/webhooks/<webhook>/deliveries", tags=TAGS, responses={"200": responses.DeliveryList})
@needs("manager", all_queues=True)
def list_deliveries(path: WebhookPath, query: DeliveriesQuery) -> dict[str, Any]:
    """List the latest deliveries to an endpoint, the latest try first."""
    endpoint = service.endpoints().get(path.webhook)
    deliveries = service.deliveries().log(endpoint.id, query.limit)
    return {
        "deliveries": [responses.Delivery.from_record(delivery) for delivery in deliveries],
        "after": None,
    }


@bp.post("/webhooks/<webhook>/replay", tags=TAGS, responses={"200": responses.Replayed})
@needs("manager", all_queues=True)
def replay_webhook(path: WebhookPath, body: ReplayRequest) -> dict[str, Any]:
    """Send deliveries again, under the same `webhook-id`.

    One delivery, those that ended at a time or later, or only those that failed permanently; at most 10,000
    per call.
    """
    since = time_of(body.since, "since") if "since" in body.model_fields_set else None
    count = service.replay(path.webhook, since=since, delivery=body.delivery, failed=bool(body.failed))
    return {"replayed": count}
