"""The base of request models: an error names the refused field, its limit, and what was sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self, get_args

from annotated_types import Ge, Le
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from leaseq import Invalid, validation
from leaseq.suggestions import did_you_mean

_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "string": "text",
    "list": "an array",
    "dict": "an object",
    "model": "an object",
}
"""The expected kind, by the first word of Pydantic's error code."""


class RequestModel(BaseModel):
    @classmethod
    def model_validate(cls, obj: Any, **options: Any) -> Self:
        """Validate ``obj``. Raises Invalid for the first refused field."""
        try:
            return super().model_validate(obj, **options)
        except ValidationError as error:
            raise _refusal(cls, error) from None


def _refusal(model: type[BaseModel], error: ValidationError) -> Invalid:
    """The first fault, as an error. A required field that is missing comes before others, and is named
    together with one that is unknown: that one may be a misspelling of it."""
    faults: list[Any] = error.errors(include_url=False)
    first = next((one for one in faults if one["type"] == "missing"), faults[0])
    field, limit = ".".join(map(str, first["loc"])) or "body", _limit(model, first)
    unknown = next((one for one in faults if one["type"] == "extra_forbidden"), None)
    if first["type"] == "missing" and unknown is not None:
        limit += f"; {'.'.join(map(str, unknown['loc']))} {_limit(model, unknown)}"
    if first["type"] in ("missing", "extra_forbidden", "value_error"):
        return Invalid(field, limit)
    return validation.refusal(field, limit, first["input"])


def _limit(model: type[BaseModel], error: Mapping[str, Any]) -> str:
    code, loc, context = str(error["type"]), error["loc"], error.get("ctx", {})
    fields = _fields(model, loc[:-1])
    match code:
        case "missing":
            return "is required"
        case "extra_forbidden":
            names = [field.alias or name for name, field in fields.items()]
            hint = f"they are {', '.join(names)}" if names else "it has none"
            return f"is not a field of this request; {did_you_mean(str(loc[-1]), names, hint)}"
        case "literal_error":
            return f"one of {context['expected'].replace(' or ', ', ')}"
        case "string_too_short":
            return f"at least {context['min_length']:,} character{'s' if context['min_length'] > 1 else ''}"
        case "string_too_long":
            return f"at most {context['max_length']:,} characters"
        case "string_pattern_mismatch" if loc[-1] == "after":
            return "a cursor from an earlier page of this list"
        case "string_pattern_mismatch":
            return f"text that matches {context['pattern']}"
    within = _range_text(fields, loc)
    if code in ("greater_than_equal", "less_than_equal"):
        return f"a number{within}"
    wanted_kind = _KINDS.get(code.partition("_")[0])
    if wanted_kind is None:
        return str(error["msg"][0].lower() + error["msg"][1:])
    return f"{wanted_kind}{within}"


def _fields(model: type[BaseModel], path: Sequence[str | int]) -> dict[str, FieldInfo]:
    """The fields of the model, or of the nested model at the path; empty if there is none."""
    for step in path:
        field = _find_field(model.model_fields, step)
        kinds = (field.annotation, *get_args(field.annotation)) if field else ()
        models = [one for one in kinds if isinstance(one, type) and issubclass(one, BaseModel)]
        if not models:
            return {}
        model = models[0]
    return model.model_fields


def _find_field(fields: dict[str, FieldInfo], name: str | int) -> FieldInfo | None:
    return next((field for field_name, field in fields.items() if name in (field_name, field.alias)), None)


def _range_text(fields: dict[str, FieldInfo], loc: Sequence[str | int]) -> str:
    """The bounds of a number, from its schema."""
    field = _find_field(fields, loc[-1]) if loc else None
    if field is None:
        return ""
    schema = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    minimum: Any = next((one.ge for one in field.metadata if isinstance(one, Ge)), schema.get("minimum"))
    maximum: Any = next((one.le for one in field.metadata if isinstance(one, Le)), schema.get("maximum"))
    return f" from {minimum:,} to {maximum:,}" if minimum is not None and maximum is not None else ""
