"""The parts that all REST calls share: the base of their models, the checks before a view, the pages of
lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from heapq import nsmallest
from typing import Any, Self, TypeVar, get_args
from urllib.parse import urlencode

from annotated_types import Ge, Le
from flask import Response, g, request
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.fields import FieldInfo

from leaseq import Invalid
from leaseq.names import nearest
from leaseq.webapp.api import idempotency
from leaseq.webapp.api.negotiation import (
    refuse_other_kinds,
    refuse_repeated_parameters,
    refuse_unknown_parameters,
)
from leaseq.webapp.serving.bodies import strict_request

_KINDS = {
    "int": "whole",
    "float": "number",
    "bool": "boolean",
    "string": "string",
    "list": "array",
    "dict": "object",
    "model": "object",
}
"""The format that is expected, by the first word of Pydantic's error code."""


class Model(BaseModel):
    """A model whose JSON schema is made once: flask_openapi asks for it at each route, and for that of a
    query at each request."""

    @classmethod
    def model_json_schema(cls, *parameters: Any, **options: Any) -> dict[str, Any]:
        return _json_schema(cls, *parameters, **options)


@lru_cache(maxsize=512)  # there are fewer models
def _json_schema(model: type[Model], *parameters: Any, **options: Any) -> dict[str, Any]:
    return super(Model, model).model_json_schema(*parameters, **options)


class RequestModel(Model):
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
    first = next((fault for fault in faults if fault["type"] == "missing"), faults[0])
    unknown = next((fault for fault in faults if fault["type"] == "extra_forbidden"), None)
    field = ".".join(map(str, first["loc"])) or "body"
    if first["type"] == "missing":
        return _missing(model, field, unknown)
    if first["type"] == "extra_forbidden":
        names, near = _names(model, first)
        return Invalid(field, "one_of", choices=names, value=first["loc"][-1], near=near)
    if first["type"] == "value_error":
        return Invalid(field, "request", why=_message(first))
    rule, values = _rule(model, first)
    return Invalid(field, rule, **values, value=first["input"])


def _missing(model: type[BaseModel], field: str, unknown: Mapping[str, Any] | None) -> Invalid:
    if unknown is None:
        return Invalid(field, "required")
    names, near = _names(model, unknown)
    name = ".".join(map(str, unknown["loc"]))
    return Invalid(field, "required", name=name, near=near, choices=names)


def _names(model: type[BaseModel], unknown: Mapping[str, Any]) -> tuple[list[str], str | None]:
    """The fields where a fault has an unknown one, and the one that is most like it."""
    names = [field.alias or name for name, field in _fields(model, unknown["loc"][:-1]).items()]
    return names, nearest(str(unknown["loc"][-1]), names)


def _message(error: Mapping[str, Any]) -> str:
    return str(error["msg"][0].lower() + error["msg"][1:])


def _rule(model: type[BaseModel], error: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The rule that a value breaks, and its values."""
    code, loc, context = str(error["type"]), error["loc"], error.get("ctx", {})
    match code:
        case "literal_error":
            return "one_of", {
                "choices": context["expected"].replace(" or ", ", ").replace("'", "").split(", ")
            }
        case "string_too_short":
            return "min_length", {"minimum": context["min_length"]}
        case "string_too_long":
            return "text", {"maximum": context["max_length"]}
        case "string_pattern_mismatch" if loc[-1] == "after":
            return "format", {"what": "cursor"}
        case "string_pattern_mismatch":
            return "format", {"what": "pattern", "pattern": context["pattern"]}
    kind = _KINDS.get(code.partition("_")[0])
    if code in ("greater_than_equal", "less_than_equal") or kind in ("whole", "number"):
        bounds = _bounds(_fields(model, loc[:-1]), loc)
        if bounds:
            return "range" if kind == "whole" else "number", bounds
    return ("format", {"what": kind}) if kind else ("request", {"why": _message(error)})


def _fields(model: type[BaseModel], path: Sequence[str | int]) -> dict[str, FieldInfo]:
    """The fields of the model, or of the nested model at the path; empty if there is none."""
    for step in path:
        field = _find_field(model.model_fields, step)
        kinds = (field.annotation, *get_args(field.annotation)) if field else ()
        models = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)]
        if not models:
            return {}
        model = models[0]
    return model.model_fields


def _find_field(fields: dict[str, FieldInfo], name: str | int) -> FieldInfo | None:
    return next((field for field_name, field in fields.items() if name in (field_name, field.alias)), None)


def _bounds(fields: dict[str, FieldInfo], loc: Sequence[str | int]) -> dict[str, Any]:
    """The bounds of a number, from its schema; empty if it has none."""
    field = _find_field(fields, loc[-1]) if loc else None
    if field is None:
        return {}
    schema = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    minimum: Any = next((rule.ge for rule in field.metadata if isinstance(rule, Ge)), schema.get("minimum"))
    maximum: Any = next((rule.le for rule in field.metadata if isinstance(rule, Le)), schema.get("maximum"))
    return {} if minimum is None or maximum is None else {"minimum": minimum, "maximum": maximum}


class RecordModel(Model):
    """A response model with the fields of one of the library's objects."""

    model_config = ConfigDict(from_attributes=True)

    @classmethod
    def from_record(cls, record: object) -> dict[str, Any]:
        return cls.model_validate(record).model_dump()


_Entry = TypeVar("_Entry")
_Key = TypeVar("_Key", str, int)

AFTER = "The cursor from the previous page"
LIMIT = "The maximum number of entries, default 100"


def no_defaults(schema: dict[str, Any]) -> None:
    """Remove the defaults from a schema: a generated client would send them, although nobody set them."""
    for field in schema.get("properties", {}).values():
        field.pop("default", None)


class Query(RequestModel):
    """A query without unknown parameters."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=no_defaults)


class PageQuery(Query):
    after: str | None = Field(None, description=AFTER, min_length=1)
    limit: int = Field(100, ge=1, le=1_000, description=LIMIT)


class LeasesQuery(PageQuery):
    after: str | None = Field(None, description=AFTER, pattern="^[0-9]{1,16}$")


class LateQuery(PageQuery):
    after: str | None = Field(
        None,
        description=AFTER,
        pattern=r"^[0-9a-f]{16}/([0-9]{1,19}|end)/[A-Za-z0-9._~%-]*/[A-Za-z0-9._~%,-]*$",
    )
    limit: int = Field(
        100, ge=1, le=1_000, description="The maximum number of items with late answers, default 100"
    )


def page_model(name: str, **fields: Any) -> type[BaseModel]:
    """The response with one page of a list: its fields, and the cursor of the next page."""
    kinds: dict[str, Any] = {field: (kind, ...) for field, kind in {**fields, "after": str | None}.items()}
    return create_model(name, **kinds)


def page_of(
    every: Iterable[_Entry], key: Callable[[_Entry], _Key], after: _Key | None, limit: int
) -> tuple[list[_Entry], str | None]:
    """The entries after ``after``, by the order of ``key``, and the cursor of the next page; None at the
    end."""
    entries = nsmallest(limit + 1, (entry for entry in every if after is None or key(entry) > after), key=key)
    page = entries[:limit]
    return page, str(key(page[-1])) if len(entries) > limit else None


def list_response(
    name: str, entries: list[dict[str, Any]], after: str | None, **members: Any
) -> dict[str, Any]:
    """One page of a list: its entries under ``name``, and the cursor of the next page."""
    g.next_page = after
    return {name: entries, **members, "after": after}


def check_call() -> Response | None:
    """Refuse parameters and media types that the call does not have, before it does anything. The response,
    if a call with the same `Idempotency-Key` had one."""
    environ = strict_request().environ
    if environ.get("QUERY_STRING"):
        refuse_repeated_parameters()
        refuse_unknown_parameters()
    if environ.get("HTTP_ACCEPT") not in (None, "", "*/*"):
        refuse_other_kinds()
    return idempotency.begin() if idempotency.IN_ENVIRON in environ else None


def request_id() -> str | None:
    """The library's request id for the call's `Idempotency-Key`, if it has one."""
    return idempotency.request_id() if idempotency.IN_ENVIRON in strict_request().environ else None


def complete_response(response: Response) -> Response:
    """Name the next page's address in a `Link` header (RFC 8288), for clients that follow it; a response
    without a body gets no content type, which would be Flask's default, that of a page."""
    after = g.get("next_page")
    if after is not None:
        query = urlencode({**request.args, "after": after})
        response.headers["Link"] = f'<{request.base_url}?{query}>; rel="next"'
    if response.status_code == 204:
        response.headers.pop("Content-Type", None)
    return idempotency.keep(response) if "keyed" in g else response


def end_call(_error: BaseException | None) -> None:
    if "keyed" in g:
        idempotency.end()
