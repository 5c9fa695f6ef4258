"""Renders a payload: by the form's ``show``, else as a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leaseq import Json
from leaseq.webapp.item_title import is_chat


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a payload, as shown on pages."""

    kind: str  # one of leaseq.form.KINDS
    label: str
    value: Json
    beside: bool = False  # next to the previous part, if there is room
    option: str = ""  # the currency of money, the language of code
    field: str = ""  # its place in the payload


def parts_of(form: Json, payload: Json) -> list[Part]:
    """The parts in the order of the form's ``show``, without fields that the payload lacks."""
    entries = form.get("show") if isinstance(form, dict) else None
    if not entries:
        return _guessed_parts(payload)
    parts: list[Part] = []
    for entry in entries:
        spec = {"field": entry} if isinstance(entry, str) else entry
        field = str(spec.get("field", ""))
        is_present, value = _at(payload, field)
        if is_present:
            parts.append(_part(spec, field, value, payload, is_first=not parts))
    return parts or _guessed_parts(payload)


def _part(spec: Mapping[str, Any], field: str, value: Json, payload: Json, *, is_first: bool) -> Part:
    label = str(spec.get("label") or spec.get("title") or "")
    if "with" in spec:
        _, other = _at(payload, str(spec["with"]))
        value = {"before": value, "after": other}
    option = str(spec.get("currency") or spec.get("language") or "")
    beside = spec.get("beside") is True and not is_first
    return Part(str(spec.get("kind", "text")), label, value, beside, option, field)


def _guessed_parts(payload: Json) -> list[Part]:
    """The payload as a table, and the conversations in it as such."""
    if is_chat(payload):
        return [Part("chat", "", payload)]
    if not isinstance(payload, dict):
        return [Part("table", "", payload)]
    chats = {name: value for name, value in payload.items() if is_chat(value)}
    rest = {name: value for name, value in payload.items() if name not in chats}
    tables = [Part("table", "", rest)] if rest or not chats else []
    return [*tables, *(Part("chat", name, value) for name, value in chats.items())]


def _at(payload: Json, field: str) -> tuple[bool, Json]:
    """Whether the payload has a field, given by name or dotted path, and its value."""
    if isinstance(payload, dict) and field in payload:
        return True, payload[field]
    value = payload
    for name in field.split("."):
        if not isinstance(value, dict) or name not in value:
            return False, None
        value = value[name]
    return True, value
