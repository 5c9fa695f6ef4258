"""Request models of the webhook calls."""

from __future__ import annotations

from pydantic import Field

from leaseq import webhooks
from leaseq.webapp.api.models_in import ID, MOMENT, NAME, SKILL, Body, optional
from leaseq.webapp.api.pagination import Query
from leaseq.webapp.api.request_model import RequestModel

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
