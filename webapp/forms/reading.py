"""What a person typed, as a result; and a result or a draft, as what stands in the fields."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from werkzeug.datastructures import MultiDict

from leaseq import Invalid, Json, strict
from webapp.forms.fields import EMPTY, Field

Typed: TypeAlias = Mapping[str, list[str]]
"""The texts that stand in each field: one, none, or those that are ticked."""

MISSING = "Please answer this."


def typed_in(fields: Iterable[Field], sent: MultiDict[str, str]) -> dict[str, list[str]]:
    """What a page sent for each field, with line ends as everywhere else."""
    return {
        field.name: [text.replace("\r\n", "\n") for text in sent.getlist(field.input_name)]
        for field in fields
    }


def typed_of(fields: Iterable[Field], draft: Json) -> dict[str, list[str]]:
    """What stands in the fields at first: the draft, or the defaults where there is none."""
    typed = {}
    for field in fields:
        value = draft.get(field.name, EMPTY) if isinstance(draft, dict) else field.default
        typed[field.name] = _texts(field, value)
    return typed


def draft_of(fields: Iterable[Field], typed: Typed) -> dict[str, Json]:
    """What was typed, to keep: in the shape of a result, with texts that are no value yet as they are."""
    draft: dict[str, Json] = {}
    for field in fields:
        try:
            found = _value(field, typed[field.name])
        except Invalid:
            found = typed[field.name][0]
        if found is not EMPTY:
            draft[field.name] = found
    return draft


def read_result(fields: Iterable[Field], typed: Typed) -> tuple[dict[str, Json], dict[str, str]]:
    """The result, and what is wrong with fields that can't be read. A field left empty is left out."""
    result: dict[str, Json] = {}
    errors: dict[str, str] = {}
    for field in fields:
        try:
            found = _value(field, typed[field.name])
        except Invalid as refused:
            errors[field.name] = refused.limit
            continue
        if found is not EMPTY:
            result[field.name] = found
        elif field.required and field.kind == "choices":
            result[field.name] = []
        elif field.required:
            errors[field.name] = MISSING
    return result, errors


def _value(field: Field, texts: list[str]) -> Json:
    """The value in a field, or EMPTY."""
    if field.kind == "choices":
        return [choice.value for choice in field.choices if choice.text in texts] or EMPTY
    text = texts[0] if texts else ""
    if field.kind == "choice":
        return _chosen(field, text)
    if not text.strip():
        return EMPTY
    if field.kind == "lines":
        return [line for line in text.split("\n") if line.strip()]
    if field.kind in ("number", "integer"):
        return _number(field, text.strip())
    if field.kind == "json":
        return strict.load_json(text, field.name)
    return text


def _chosen(field: Field, text: str) -> Json:
    for choice in field.choices:
        if choice.text == text:
            return choice.value
    if text:
        raise Invalid(field.name, "Choose one of these.")
    return EMPTY


def _number(field: Field, text: str) -> int | float:
    wanted = "A whole number, such as 42." if field.kind == "integer" else "A number, such as 3.5."
    try:
        found = strict.load_json(text, field.name)
    except Invalid:
        raise Invalid(field.name, wanted) from None
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
        raise Invalid(field.name, wanted)
    if field.kind == "integer" and found != int(found):
        raise Invalid(field.name, wanted)
    return int(found) if field.kind == "integer" else found


def _texts(field: Field, value: Json) -> list[str]:
    """A value as it stands in the field; a draft may hold texts that are none of its values."""
    if value is EMPTY or (value is None and field.kind != "choice"):
        return []
    if field.kind in ("choice", "choices"):
        wanted = value if field.kind == "choices" and isinstance(value, list) else [value]
        return [text for one in wanted for text in _text_of(field, one)]
    if field.kind == "lines" and isinstance(value, list):
        return ["\n".join(map(str, value))]
    return [value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)]


def _text_of(field: Field, value: Json) -> list[str]:
    """The text of the choice that has this value, else of the one that has this text."""
    for choice in field.choices:
        if type(choice.value) is type(value) and choice.value == value:
            return [choice.text]
    return [choice.text for choice in field.choices if choice.text == value]
