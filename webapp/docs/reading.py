"""Arranges the OpenAPI document for reading.

Most calls share their error responses, so each is described once, and the calls refer to it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

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
