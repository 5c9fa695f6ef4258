"""The policy of a queue and its form, in requests and responses."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, SkipValidation, create_model

import leaseq
from leaseq import form
from leaseq.policy import FIELDS
from leaseq.policy_fields import Alerts, Bands, Integer, OneOf, Seconds, Text
from leaseq.policy_fields import Field as PolicyField
from leaseq.policy_fields import Form as FormKind
from leaseq.webapp.api.models.requests import Body, WholeNumber, number_range, optional


class ShownField(Body):
    """A field of the payload, and how it is shown."""

    field: str
    kind: str = optional("How to show it", enum=list(form.KINDS))
    label: str = optional("Its heading")
    beside: bool = optional("Whether to show it next to the others")
    with_: Annotated[str, Field(alias="with")] = optional("The field with the later text, of a `diff`")
    language: str = optional("The name of the language, of `code`", minLength=1)
    currency: str = optional("The currency of amounts without one, of `money`", pattern="^[A-Z]{3}$")


class AskSchema(BaseModel):
    """JSON Schema, draft 2020-12; references must stay within it."""

    model_config = ConfigDict(extra="allow")

    type: Literal["object"]
    required: list[str] = optional("The fields that must be answered", uniqueItems=True)
    properties: dict[str, Any] = optional("What is asked: the schema of each field")


class Form(Body):
    """The form of a queue: the way to show a payload, and the questions."""

    show: list[str | ShownField] = optional("The payload's fields in their order; without it, all in a table")
    ask: AskSchema = optional("The schema of a result; without it, there is one text box")
    prefill: dict[str, str] = optional("The payload's field with which each question is prefilled")
    when: dict[str, dict[str, list[Any]]] = optional(
        "Questions that are asked only after certain answers: for each, its conditions, by question"
    )
    keys: dict[str, Any] = optional("The choice that each key of the keyboard selects, by its character")


_FormOrNone: TypeAlias = SkipValidation[Form | None]


def _model_field(field: PolicyField) -> tuple[Any, Any]:
    """The type and the description of a policy field, for ``create_model``."""
    with_limits = isinstance(field.kind, OneOf | Alerts)  # other limits are in the schema
    description = field.explain("null", limits=with_limits)
    match field.kind:
        case Seconds(minimum, maximum):
            return field.type, optional(description, **number_range(minimum, maximum))
        case Integer(minimum, maximum):
            type_ = WholeNumber | None if field.none else WholeNumber
            return type_, optional(description, **number_range(minimum, maximum))
        case Bands(minimum, maximum):
            items = {"type": "integer", **number_range(minimum, maximum)}
            return list[WholeNumber], optional(description, items=items, minItems=2, maxItems=2)
        case Alerts(measures) as kind:
            items = {"type": "string", "pattern": kind.pattern}
            return list[str], optional(description, items=items, maxItems=len(measures))
        case Text(longest):
            return field.type, optional(description, maxLength=longest)
        case FormKind():
            return _FormOrNone, optional(description)
        case _:
            return field.type, optional(description)


if TYPE_CHECKING:
    _Fields = Body
else:
    _Fields = create_model(
        "_Fields", __base__=Body, **{name: _model_field(field) for name, field in FIELDS.items()}
    )


class PolicyChanges(_Fields):
    """Policy fields to set; a field that is left out keeps its value."""

    def sent_fields(self) -> dict[str, Any]:
        """The fields that the request contains, and no others."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class Policy(PolicyChanges):
    """The policy in force: every field."""

    model_config = ConfigDict(extra="ignore", json_schema_serialization_defaults_required=True)


def serialize_policy(policy: leaseq.Policy) -> dict[str, Any]:
    """Every field of a policy; a tuple becomes a list."""
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in asdict(policy).items()
    }
