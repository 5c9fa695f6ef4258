"""The model of REST errors, for the OpenAPI document."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from leaseq.webapp.api.models_in import State, optional
from leaseq.webapp.api.pagination import no_defaults


class Problem(BaseModel):
    """Any error (RFC 9457). Optional members are present only with the codes they belong to."""

    model_config = ConfigDict(extra="allow", json_schema_extra=no_defaults)

    type: str
    title: str
    status: int
    code: str = Field(description="A stable code, for programs")
    detail: str = Field(description="An explanation, for people")
    request_id: str | None = Field(description="As in the server's log; null: the request could not be read")
    field: str = optional("`invalid`, `too-large`, `key-reused`: what was refused")
    limit: str = optional("What is allowed instead")
    errors: dict[str, str] = optional("`form`: what does not fit, by the path of the field")
    id: str = optional("`lease-lost`, `conflict`, `item-finished`: the item's id")
    state: State = optional("`lease-lost`, `item-finished`: the item's state now")
    answer_kept: bool = optional("`lease-lost`: the answer was kept as a late answer")
    line: int = optional("The refused line of a stream of lines")
    added: int = optional("For several items: how many were added")
    duplicates: int = optional("How many existed with an equal payload")
    conflicts: int = optional("How many exist with a different payload")
    items: list[dict[str, Any]] = optional(
        "The first 100 conflicts: `id`, and `number` in the request, from 1"
    )
