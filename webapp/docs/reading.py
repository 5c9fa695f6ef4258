"""Arranges the OpenAPI document for reading: its calls with their curl commands, and its schemas in words.

Most calls share their error responses, so each is described once, and the calls refer to it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from http import HTTPStatus
from shlex import quote
from typing import Any
from urllib.parse import quote as in_address

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

Described = dict[str, Any]
"""A piece of the document."""

_SHARED = "#/components/examples"
_ORDER = ("work", "items", "queues", "manage", "people", "tokens", "webhooks")


@dataclass(frozen=True, slots=True)
class Answer:
    """The response of one status."""

    id: str
    status: str
    spec: Described

    @property
    def phrase(self) -> str:
        return HTTPStatus(int(self.status)).phrase

    @property
    def codes(self) -> list[str]:
        """The problem codes of an error response."""
        kinds = (self.spec.get("content") or {}).values()
        return [example["value"]["code"] for kind in kinds for example in kind["examples"].values()]


@dataclass(frozen=True, slots=True)
class Call:
    """One operation."""

    id: str
    method: str
    path: str
    spec: Described
    answers: list[Answer]
    refusals: list[Answer]

    @property
    def roles(self) -> list[str]:
        """The roles that may call it; the same in every security scheme."""
        return sorted(
            {
                role
                for requirement in self.spec["security"]
                for roles in requirement.values()
                for role in roles
            }
        )

    @property
    def schemes(self) -> list[str]:
        """The security schemes of the call."""
        return [name for requirement in self.spec["security"] for name in requirement]


@dataclass(frozen=True, slots=True)
class Reference:
    """The whole document."""

    info: Described
    schemes: dict[str, Described]
    groups: dict[str, list[Call]]
    refusals: list[Answer]
    schemas: dict[str, Described]


@dataclass(slots=True)
class _Refusals:
    """Collects the error responses, each once."""

    answers: dict[str, Answer] = field(default_factory=dict)

    def add(self, status: str, response: Described) -> Answer:
        key = status + json.dumps(response, sort_keys=True)
        if key not in self.answers:
            count = sum(answer.status == status for answer in self.answers.values())
            id = f"refusal-{status}" + (f"-{count + 1}" if count else "")
            self.answers[key] = Answer(id, status, response)
        return self.answers[key]


def read(document: Described) -> Reference:
    paths = _with_examples(document["paths"], document["components"]["examples"])
    refusals = _Refusals()
    names = dict.fromkeys((*_ORDER, *(tag["name"] for tag in document["tags"])))
    groups: dict[str, list[Call]] = {name: [] for name in names}
    for path, item in paths.items():
        for method, operation in item.items():
            groups[operation["tags"][0]].append(_call(method.upper(), path, operation, refusals))
    return Reference(
        info=document["info"],
        schemes=document["components"]["securitySchemes"],
        groups={name: calls for name, calls in groups.items() if calls},
        refusals=sorted(refusals.answers.values(), key=lambda answer: answer.id),
        schemas=dict(sorted(document["components"]["schemas"].items())),
    )


def _with_examples(part: Any, shared: dict[str, Described]) -> Any:
    """A copy of a piece of the document, with references to shared examples replaced by the examples."""
    if isinstance(part, list):
        return [_with_examples(element, shared) for element in part]
    if not isinstance(part, dict):
        return part
    place, _, name = str(part.get("$ref", "")).rpartition("/")
    return (
        shared[name]
        if place == _SHARED
        else {key: _with_examples(element, shared) for key, element in part.items()}
    )


def _call(method: str, path: str, operation: Described, refusals: _Refusals) -> Call:
    id, answers, error_answers = operation["operationId"], [], []
    for status, answer in sorted(operation["responses"].items()):
        if status < "400":
            answers.append(Answer(f"{id}-{status}", status, answer))
        else:
            error_answers.append(refusals.add(status, answer))
    return Call(id, method, path, operation, answers, error_answers)


BASE = "/api/v1"
_NARROW = 60
_FILES = {
    "application/x-ndjson": "items.jsonl",
    "application/octet-stream": "parcel.jpg",
    "text/csv": "items.csv",
    "text/tab-separated-values": "items.tsv",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "items.xlsx",
}


def commands(call: Call) -> list[str]:
    """The commands of a call; the top of the page explains how to set ``$LEASEQ`` and ``$TOKEN``."""
    parts = ["curl -s", *(["-N"] if _streams(call) else [])]
    if call.method != "GET":
        parts.append(f"-X {call.method}")
    start = " ".join([*parts, f'"$LEASEQ{_address(call)}"']), '-H "Authorization: Bearer $TOKEN"'
    return [" \\\n  ".join([*start, *body]) for body in _bodies(call)]


def _streams(call: Call) -> bool:
    return any("text/event-stream" in (answer.spec.get("content") or {}) for answer in call.answers)


def _address(call: Call) -> str:
    path, query = call.path.removeprefix(BASE), []
    for parameter in call.spec.get("parameters", ()):
        if parameter["in"] == "path":
            path = path.replace(f"{{{parameter['name']}}}", in_address(parameter["example"], safe=""))
        elif parameter["in"] == "query" and parameter["required"]:
            examples = parameter["schema"].get("enum") or [parameter["name"].upper()]
            query.append(f"{parameter['name']}={in_address(examples[0])}")
    return path + ("?" + "&".join(query) if query else "")


def _bodies(call: Call) -> list[list[str]]:
    """The options of each command for its body; none if there is no body."""
    kinds = call.spec.get("requestBody", {}).get("content", {})
    bodies = []
    for kind, media in kinds.items():
        header = f"-H 'Content-Type: {kind}'"
        examples = (media.get("examples") or {}).values() if kind not in _FILES else ()
        bodies += [[header, f"-d {quote(_json(example['value']))}"] for example in examples]
        if not examples:
            bodies.append([header, f"--data-binary @{_FILES.get(kind, 'items.json')}"])
    return bodies or [[]]


def _json(value: Any) -> str:
    """JSON on one line if it fits."""
    line = json.dumps(value, ensure_ascii=False)
    return line if len(line) <= _NARROW else json.dumps(value, ensure_ascii=False, indent=2)


Schema = dict[str, Any]

_VARIANTS = ("anyOf", "oneOf", "allOf")
_SHOWN_ELSEWHERE = {
    "$ref", "additionalProperties", "const", "description", "enum", "format", "items", "properties",
    "required", "title", "type", *_VARIANTS,
}  # fmt: skip
"""Keywords that are shown as separate rows, or with the type. The title repeats the name."""

_RANGES = (
    ("minimum", "maximum", "", ""),
    ("minLength", "maxLength", " character", " characters"),
    ("minItems", "maxItems", " entry", " entries"),
)
_markdown = MarkdownIt("commonmark", {"html": False})


@dataclass(frozen=True, slots=True)
class Field:
    """One row: a field by its path, such as ``form.show[].kind``."""

    name: str
    required: bool
    schema: Schema


def fields_of(schema: Schema) -> list[Field]:
    """The fields, with those of nested objects. A referenced schema has a separate table."""
    return list(_within(schema, ""))


def _within(schema: Schema, name: str) -> Iterator[Field]:
    items = schema.get("items")
    if items:
        if limits(items) or "description" in items:
            yield Field(f"{name}[]", False, items)
        yield from _within(items, f"{name}[]")
    for variant in _variants(schema):
        yield from _within(variant, name)
    start = f"{name}." if name else ""
    for key, value in schema.get("properties", {}).items():
        yield Field(start + key, key in schema.get("required", ()), value)
        yield from _within(value, start + key)
    others = schema.get("additionalProperties")
    if isinstance(others, dict):
        yield Field(f"{start}*", False, others)
        yield from _within(others, f"{start}*")


def _variants(schema: Schema) -> Iterator[Schema]:
    for key in _VARIANTS:
        yield from schema.get(key, ())


def limits(schema: Schema) -> list[Markup]:
    """The constraints on a value except its type, each in a few words; other keywords are shown unchanged."""
    parts: list[Markup] = []
    keywords = {key: value for key, value in schema.items() if key not in _SHOWN_ELSEWHERE}
    for minimum, maximum, singular, plural in _RANGES:
        span = _range(keywords.pop(minimum, None), keywords.pop(maximum, None), singular, plural)
        parts += [Markup(span)] if span else []  # noqa: S704 - numbers and our own words
    if schema.get("additionalProperties") is False:
        parts.append(Markup("no other fields"))
    for key, value in keywords.items():
        words = {"pattern": "like", "examples": "such as"}.get(key, key)
        values = value if key == "examples" else [value]
        parts.append(Markup(" or ").join(_code(value, key) for value in values).join((f"{words} ", "")))
    return list(dict.fromkeys(parts + [limit for variant in _variants(schema) for limit in limits(variant)]))


def _range(minimum: float | None, maximum: float | None, singular: str, plural: str) -> str:
    if minimum is None:
        return "" if maximum is None else f"at most {_number(maximum)}{singular if maximum == 1 else plural}"
    if maximum is None:
        return f"at least {_number(minimum)}{singular if minimum == 1 else plural}"
    if minimum == maximum:
        return f"{_number(maximum)}{singular if maximum == 1 else plural}"
    return f"{_number(minimum)} to {_number(maximum)}{plural}"


def _number(number: float) -> str:
    return f"{int(number):,}" if number == int(number) else f"{number:,}"


def _code(value: object, key: str) -> Markup:
    text = value if key in ("pattern", "examples") else json.dumps(value, ensure_ascii=False)
    return Markup("<code>") + escape(text) + Markup("</code>")


def inline(text: str | None) -> Markup:
    """Render a sentence of Markdown."""
    return Markup(nh3.clean(_markdown.renderInline(text or "")))  # noqa: S704 - nh3 sanitizes it
