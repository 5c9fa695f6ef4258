"""A queue's policy as REST takes and gives it, and the form in it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, SkipValidation

from leaseq import form
from leaseq.webapp.api.models_in import BANDS, Body, Whole, optional, within


class ShownField(Body):
    """A field of the payload, and how it is shown."""

    field: str
    kind: str = optional("How to show it", enum=list(form.KINDS))
    label: str = optional("Its heading")
    beside: bool = optional("Whether it stands beside the others")


class AskSchema(BaseModel):
    """JSON Schema, draft 2020-12; a reference may not leave it."""

    model_config = ConfigDict(extra="allow")

    type: Literal["object"]
    required: list[str] = optional("The fields that must be answered", uniqueItems=True)
    properties: dict[str, Any] = optional("What is asked: the schema of each field")


class Form(Body):
    """How to show a payload and what to ask."""

    show: list[str | ShownField] = optional("The payload's fields in their order; without it, all in a table")
    ask: AskSchema = optional("What a result must be; without it, one text box asks for it")
    keys: dict[str, Any] = optional("The choice that each key of the keyboard makes, by its character")


class PolicyChanges(Body):
    """Policy fields to set; a field that is left out keeps its value."""

    lease_seconds: float = optional("How long a person may hold an item", **within(0.1, 604_800))
    max_attempts: Whole = optional("Expiries and fails until an item is dead", **within(1, 1_000))
    retry_seconds: float = optional(
        "The wait after the first fail; doubled for each one after it", **within(0, 604_800)
    )
    retry_max_seconds: float = optional("The longest such wait", **within(0, 604_800))
    holds: Whole = optional("Leases that one person may have at once", **within(1, 100))
    bands: list[Whole] = optional("Priorities up to the first are high, past the second low", **BANDS)
    renewals: Whole | None = optional(
        "How often one lease may be renewed; null: no limit", **within(0, 1_000_000)
    )
    share_drafts: bool = optional("Show a draft to the next person")
    answers: Whole = optional("How many people are to answer each item", **within(1, 100))
    max_abandons: Whole | None = optional(
        "When that many people gave an item back, it is dead; null: no limit", **within(1, 1_000)
    )
    dedupe_seconds: float = optional(
        "An equal payload within this time is a duplicate, whatever its id", **within(0, 315_360_000)
    )
    keep_finished_seconds: float | None = optional(
        "How long a finished item is kept; null: for good", **within(0, 315_360_000)
    )
    durable: Literal["server", "fsync", "replica", "majority"] = optional(
        "What an acknowledgement waits for: the server, its disk, a replica, or most of them"
    )
    form: SkipValidation[Form | None] = optional("null: the payload in a table, and one text box")
    title: str = optional("What pages call the queue", maxLength=200)
    instructions: str = optional("Markdown", maxLength=65_536)

    def named(self) -> dict[str, Any]:
        """The fields that the request names, and no others."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class Policy(PolicyChanges):
    """The policy in force: every field."""

    model_config = ConfigDict(extra="ignore", json_schema_serialization_defaults_required=True)
