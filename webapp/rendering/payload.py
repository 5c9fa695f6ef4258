"""Renders a payload: by the form's ``show``, else as a table."""

from __future__ import annotations

from dataclasses import dataclass

from leaseq import Json


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a payload, as shown on pages."""

    kind: str  # text, markdown, image, audio, video, link, table, json
    label: str
    value: Json
    beside: bool = False  # next to the previous part, if there is room


def parts_of(form: Json, payload: Json) -> list[Part]:
    """The parts in the order of the form's ``show``, without fields that the payload lacks."""
    entries = form.get("show") if isinstance(form, dict) else None
    if not entries:
        return [Part("table", "", payload)]
    parts: list[Part] = []
    for entry in entries:
        spec = {"field": entry} if isinstance(entry, str) else entry
        field = str(spec.get("field", ""))
        is_present, value = _at(payload, field)
        if is_present:
            label = str(spec.get("label") or spec.get("title") or "")
            beside = spec.get("beside") is True and bool(parts)
            parts.append(Part(str(spec.get("kind", "text")), label, value, beside))
    return parts or [Part("table", "", payload)]


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
