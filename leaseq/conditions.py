"""The part ``when`` of a form: questions that are asked only after certain answers to earlier ones.

``"when": {"why": {"about": ["refund", "abuse"]}}`` asks *why* only after one of these answers to *about*.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from leaseq.errors import Invalid
from leaseq.models import Json

Conditions: TypeAlias = Mapping[str, Sequence[Json]]
"""For one question, the answers to other questions on which it depends: any one of those listed for each."""


def check_when(form: Mapping[str, Any]) -> None:
    """Raise Invalid (field ``form``) unless ``when`` is valid.

    A question may depend only on earlier ones, so there are no circular conditions.
    """
    when = form.get("when", {})
    limit = "when: an object that maps questions to an object of earlier questions and their answers"
    properties = form["ask"].get("properties") if "ask" in form else None
    names = list(properties) if isinstance(properties, dict) else []
    if not isinstance(when, dict):
        raise Invalid("form", limit)
    for name, conditions in when.items():
        if name not in names:
            raise Invalid("form", f"{limit}; ask has no question {name!r}")
        if not isinstance(conditions, dict) or not conditions or [] in conditions.values():
            raise Invalid("form", f"{limit}; the entry for {name!r} names no answer")
        for other in conditions:
            if other not in names[: names.index(name)]:
                raise Invalid("form", f"{limit}; {other!r} is not a question before {name!r}")


def conditions_of(form: Json) -> dict[str, Conditions]:
    """The conditions of a form's conditional questions, by question."""
    when = form.get("when", {}) if isinstance(form, Mapping) else {}
    return {
        name: {other: _as_list(answer) for other, answer in conditions.items()}
        for name, conditions in when.items()
    }


def condition_in_words(conditions: Conditions) -> str:
    return " and ".join(
        f"{name} is {' or '.join(json.dumps(value, ensure_ascii=False) for value in values)}"
        for name, values in conditions.items()
    )


def is_asked(conditions: Conditions, answers: Mapping[str, Json]) -> bool:
    """Whether a question with these conditions is asked after these answers."""
    return all(
        name in answers
        and any(_is_equal(one, other) for one in _as_list(answers[name]) for other in accepted)
        for name, accepted in conditions.items()
    )


def only_asked(form: Json, answers: Mapping[str, Json]) -> dict[str, Json]:
    """The answers, except those to questions whose conditions the other answers don't meet."""
    conditions = conditions_of(form)
    asked_answers: dict[str, Json] = {}
    order = form["ask"].get("properties", {}) if isinstance(form, Mapping) and "ask" in form else {}
    for name in [*order, *(name for name in answers if name not in order)]:
        if name in answers and is_asked(conditions.get(name, {}), asked_answers):
            asked_answers[name] = answers[name]
    return asked_answers


def _as_list(answer: Json) -> Sequence[Json]:
    return answer if isinstance(answer, list) else [answer]


def _is_equal(one: Json, other: Json) -> bool:
    """Whether two values are equal in JSON, where true is not 1."""
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def schema_of(form: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON Schema of a result: ``ask``, with the conditions of ``when`` added.

    A question whose conditions are not met must not be answered, even if it is required.
    """
    ask: dict[str, Any] = form["ask"]
    conditions = conditions_of(form)
    if not conditions:
        return ask
    required = ask.get("required", [])
    rules = [
        {
            "if": {
                "required": list(required_answers),
                "properties": {other: _one_of(values) for other, values in required_answers.items()},
            },
            "then": {"required": [name] if name in required else []},
            "else": {"properties": {name: False}},
        }
        for name, required_answers in conditions.items()
    ]
    always_required = [name for name in required if name not in conditions]
    return {**ask, "required": always_required, "allOf": [*ask.get("allOf", []), *rules]}


def _one_of(values: Sequence[Json]) -> dict[str, Any]:
    choice = {"enum": list(values)}
    return {"anyOf": [choice, {"type": "array", "contains": choice}]}
