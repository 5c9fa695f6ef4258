"""A form to begin with, guessed from payloads: which fields are shown, and how."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from leaseq import Json
from leaseq.form import prefilled

MOST_FIELDS = 40
MOST_NAMES = 200
_FILES = {
    "image": re.compile(r"\.(png|jpe?g|gif|webp|avif|svg)([?#]|$)", re.IGNORECASE),
    "audio": re.compile(r"\.(mp3|wav|ogg|m4a|flac|opus)([?#]|$)", re.IGNORECASE),
    "video": re.compile(r"\.(mp4|webm|mov|m4v)([?#]|$)", re.IGNORECASE),
}
_URL = re.compile(r"https?://\S+$")


def guess_form(payloads: Sequence[Json]) -> dict[str, Any] | None:
    """A form that shows the fields of these payloads; None where they have no fields."""
    seen: dict[str, list[Json]] = {}
    for payload in payloads:
        if isinstance(payload, Mapping):
            for name, value in payload.items():
                if value not in (None, ""):
                    seen.setdefault(name, []).append(value)
    shown = [_shown(name, values) for name, values in list(seen.items())[:MOST_FIELDS]]
    return {"show": shown} if shown else None


def _shown(name: str, values: Sequence[Json]) -> dict[str, Any]:
    words = " ".join(re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name).replace("_", " ").replace("-", " ").split())
    entry = {"field": name, "kind": _kind(values)}
    label = words[:1].upper() + words[1:]
    return entry if label in ("", name) else {**entry, "label": label}


def _kind(values: Sequence[Json]) -> str:
    """The kind that fits all values."""
    if any(isinstance(value, list | dict) for value in values):
        return "table" if all(map(_is_flat, values)) else "json"
    if not all(isinstance(value, str) for value in values):
        return "text"
    texts = [str(value) for value in values]
    if all(text.startswith("data:image/") for text in texts):
        return "image"
    if not all(map(_URL.match, texts)):
        return "text"
    kinds = (kind for kind, ending in _FILES.items() if all(map(ending.search, texts)))
    return next(kinds, "link")


def _is_flat(value: Json) -> bool:
    """Whether this is a record, or a list of records, of plain values."""
    if isinstance(value, Mapping):
        return _plain(value.values())
    return isinstance(value, list) and all(isinstance(row, Mapping) and _plain(row.values()) for row in value)


def _plain(values: Iterable[Any]) -> bool:
    return not any(isinstance(value, list | dict) for value in values)


def field_names(payloads: Sequence[Json]) -> list[str]:
    """The names of the payloads' fields, and of the members of those that are objects, with a dot."""
    names: dict[str, None] = {}
    for payload in payloads:
        for name, value in payload.items() if isinstance(payload, Mapping) else ():
            inner = value if isinstance(value, Mapping) else {}
            names |= dict.fromkeys([name, *(f"{name}.{member}" for member in inner)])
    return list(names)[:MOST_NAMES]


def missing_fields(form: Json, payloads: Sequence[Json]) -> list[str]:
    """The fields that the form shows or fills in from, and none of these payloads has."""
    if not isinstance(form, Mapping) or not payloads:
        return []
    shown = [entry["field"] if isinstance(entry, Mapping) else entry for entry in form.get("show") or []]
    filled = {name for one in payloads for name in prefilled(form, one)}
    taken = [path for name, path in form.get("prefill", {}).items() if name not in filled]
    return [
        *(name for name in shown if not any(isinstance(one, Mapping) and name in one for one in payloads)),
        *taken,
    ]
