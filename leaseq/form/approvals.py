"""The form of a question whether a program may do something."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from leaseq.errors import Invalid
from leaseq.models import Json

_DECISIONS = {"approve": "Approve", "edit": "Approve with changes", "reject": "Reject", "respond": "Answer"}


def approval(
    action: str,
    arguments: Mapping[str, Json],
    allow: Sequence[str] = ("approve", "edit", "reject", "respond"),
) -> dict[str, Any]:
    """The form of a question whether a program may do something: ask it with the payload ``{"action": action,
    "arguments": arguments}``, and a ``context`` in Markdown if the person needs one.

    The result has the ``decision``, none of which is selected at first: after the requests of LangGraph's
    interrupts. *edit* has the changed ``arguments``, *reject* the ``reason``, *respond* a ``message``.
    """
    if not allow or not set(allow) <= _DECISIONS.keys():
        raise Invalid("allow", "one_of", choices=tuple(_DECISIONS), value=list(allow))
    fields: dict[str, Any] = {name: _schema_like(value) for name, value in arguments.items()}
    decisions = [{"const": name, "title": title} for name, title in _DECISIONS.items() if name in allow]
    texts = {"type": "string", "minLength": 1, "maxLength": 2_000}
    questions: dict[str, dict[str, Any]] = {
        "decision": {"title": f"{action}?", "oneOf": decisions},
        "arguments": {
            "title": "With",
            "type": "object",
            "properties": fields,
            "required": list(fields),
            "additionalProperties": False,
        },
        "reason": {"title": "Why not?", **texts},
        "message": {"title": "Your answer", **texts},
    }
    when = {"arguments": "edit", "reason": "reject", "message": "respond"}
    asked = {
        name: question for name, question in questions.items() if name not in when or when[name] in allow
    }
    return {
        "show": ["action", {"field": "arguments", "kind": "table"}, {"field": "context", "kind": "markdown"}],
        "ask": {"type": "object", "properties": asked, "required": list(asked)},
        "when": {name: {"decision": [when[name]]} for name in asked if name in when},
        "prefill": {f"arguments.{name}": f"arguments.{name}" for name in fields if "arguments" in asked},
    }


def _schema_like(value: Json) -> dict[str, Any]:
    """The schema of values of the same type; that of any JSON for lists, objects and null."""
    if isinstance(value, bool):
        return {"type": "boolean"}
    if isinstance(value, int | float):
        return {"type": "integer" if isinstance(value, int) else "number"}
    return {"type": "string"} if isinstance(value, str) else {}
