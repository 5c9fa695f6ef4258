"""Renders a payload: by the form's ``show``, else as a table."""

from __future__ import annotations

from dataclasses import dataclass

from leaseq import Json


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a payload, as the page shows it."""

    kind: str  # text, markdown, image, audio, video, link, table, json
    label: str
    value: Json
    beside: bool = False  # beside the one before it, where there is room


def parts_of(form: Json, payload: Json) -> list[Part]:
    """The pieces in the order of the form's ``show``; fields that the payload hasn't are left out."""
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
    """The payload's field, by its name or by a path of names with dots between."""
    if isinstance(payload, dict) and field in payload:
        return True, payload[field]
    value = payload
    for name in field.split("."):
        if not isinstance(value, dict) or name not in value:
            return False, None
        value = value[name]
    return True, value
