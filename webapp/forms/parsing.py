"""Parses a form's input into a result, and fills the fields from a result or a draft."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, TypeAlias

from flask_babel import gettext as _
from werkzeug.datastructures import MultiDict

from leaseq import Invalid, Json, validation
from leaseq.form import is_asked
from leaseq.webapp.forms.fields import EMPTY, Field
from leaseq.webapp.forms.limits import problem
from leaseq.webapp.site_time import clock_text, site_zone, time_text, typed_moment, typed_time

Typed: TypeAlias = Mapping[str, list[str]]
"""The texts of each field: one, none, or the ticked ones."""

_CLOCK = re.compile(r"(?:(\d{4}-\d\d-\d\d)T)?(\d\d:\d\d)(:\d\d(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)?")
"""A time as browsers' date and time inputs submit it, without an offset and often without seconds; or with an
offset, from a text input."""


def read_typed(fields: Iterable[Field], form: MultiDict[str, str]) -> dict[str, list[str]]:
    """The input of each field, with normalized line ends."""
    return {
        field.name: [text.replace("\r\n", "\n") for text in form.getlist(field.input_name)]
        for field in fields
    }


def typed_of(
    fields: Iterable[Field], draft: Json, prefill: Mapping[str, Json] | None = None
) -> dict[str, list[str]]:
    """The initial texts of the fields: from the draft, or without one from the prefill values or the
    defaults."""
    prefill_values = prefill or {}
    return {
        field.name: _texts(
            field,
            _at(draft, field) if isinstance(draft, dict) else prefill_values.get(field.name, field.default),
        )
        for field in fields
    }


def _at(draft: dict[str, Any], field: Field) -> Json:
    """A field's value in a draft: under its dotted name, or inside of objects."""
    if field.name in draft:
        return draft[field.name]
    value: Any = draft
    for name in field.path:
        if not isinstance(value, dict) or name not in value:
            return EMPTY
        value = value[name]
    return value


def draft_of(fields: Iterable[Field], typed: Typed) -> dict[str, Json]:
    """The input as a draft: shaped like a result, with the text of values that are not valid yet."""
    draft: dict[str, Json] = {}
    for field in fields:
        try:
            value = _value(field, typed[field.name])
        except Invalid:
            texts = typed[field.name]
            value = list(texts) if field.kind == "ranking" else texts[0]
        if value is not EMPTY:
            _put(draft, field.path, value)
    return draft


def read_result(fields: Iterable[Field], typed: Typed) -> tuple[dict[str, Json], dict[str, str]]:
    """Parse the result, and collect the errors by field. It omits empty fields, fields whose conditions do
    not hold, and optional objects in which every field is empty."""
    asked_fields, values, errors = _parse(fields, typed)
    objects = _objects(asked_fields, {*values, *errors})
    result: dict[str, Json] = {}
    for path in sorted(objects, key=len):
        if path:
            _put(result, path, {})
    for field in asked_fields:
        value = values.get(field.name, EMPTY)
        if value is EMPTY and field.required and field.path[:-1] in objects and field.name not in errors:
            value = [] if field.kind == "choices" else None if field.nullable else EMPTY
            if value is EMPTY:
                errors[field.name] = str(_("Please answer this."))
        if value is EMPTY:
            continue
        message = problem(field.limits, value)
        if message:
            errors[field.name] = message
        else:
            _put(result, field.path, value)
    return result, errors


def _parse(fields: Iterable[Field], typed: Typed) -> tuple[list[Field], dict[str, Json], dict[str, str]]:
    """The fields whose conditions hold, the values of those with one, and the errors."""
    asked_fields: list[Field] = []
    values: dict[str, Json] = {}
    errors: dict[str, str] = {}
    for field in fields:
        if not is_asked(field.conditions, values):
            continue
        asked_fields.append(field)
        try:
            value = _value(field, typed[field.name])
        except Invalid as error:
            errors[field.name] = error.limit
        else:
            if value is not EMPTY:
                values[field.name] = value
    return asked_fields, values, errors


def errors_at(fields: Iterable[Field], errors: Mapping[str, str]) -> dict[str, str]:
    """Errors by the page's field: ``tags.0``, for instance, belongs to ``tags``."""
    names = {field.name for field in fields}
    by_field: dict[str, str] = {}
    for path, text in errors.items():
        steps = path.split(".")
        candidates = (".".join(steps[:count]) for count in range(len(steps), 0, -1))
        by_field.setdefault(next((name for name in candidates if name in names), path), text)
    return by_field


def _objects(fields: Iterable[Field], names: set[str]) -> set[tuple[str, ...]]:
    """The objects that the result contains: those with a value in them, and required ones."""
    paths: set[tuple[str, ...]] = {()}
    for field in fields:
        if field.name in names:
            paths |= {field.path[:depth] for depth in range(len(field.path))}
        for group in field.groups:
            if group.required and group.path[:-1] in paths:
                paths.add(group.path)
    return paths


def _put(result: dict[str, Json], path: tuple[str, ...], value: Json) -> None:
    place: Any = result
    for name in path[:-1]:
        place = place.setdefault(name, {})
    place[path[-1]] = value


def _value(field: Field, texts: list[str]) -> Json:
    """The value of a field, or EMPTY."""
    if field.kind == "choices":
        return [choice.value for choice in field.choices if choice.text in texts] or EMPTY
    if field.kind == "ranking":
        return _ranking(field, texts)
    text = texts[0] if texts else ""
    if field.kind == "choice":
        return _choice_value(field, text)
    if not text.strip():
        return EMPTY
    if field.kind == "lines":
        return [_line(field, line) for line in text.split("\n") if line.strip()]
    if field.kind in ("number", "integer"):
        return _number(field.name, text.strip(), field.kind)
    if field.kind == "json":
        return validation.load_json(text, field.name)
    return _with_offset(field, text)


def _choice_value(field: Field, text: str) -> Json:
    key = text.strip().casefold()
    for choice in field.choices:
        if choice.text == text or (field.has_suggestions and choice.text.casefold() == key):
            return choice.value
    if key:
        raise Invalid(field.name, str(_("Choose one of these.")))
    return EMPTY


def _ranking(field: Field, texts: list[str]) -> Json:
    """The choices in the order of their places."""
    if not any(texts):
        return EMPTY
    by_text = {choice.text: choice.value for choice in field.choices}
    if len(texts) != len(by_text) or set(texts) != set(by_text):
        raise Invalid(field.name, str(_("Put a different option in each place.")))
    return [by_text[text] for text in texts]


def _line(field: Field, line: str) -> Json:
    return line if field.item == "string" else _number(field.name, line.strip(), field.item)


def _number(name: str, text: str, kind: str) -> int | float:
    is_whole = kind == "integer"
    message = str(_("A whole number, such as 42.") if is_whole else _("A number, such as 3.5."))
    try:
        number = validation.load_json(text, name)
    except Invalid:
        raise Invalid(name, message) from None
    if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
        raise Invalid(name, message)
    if is_whole and number != int(number):
        raise Invalid(name, message)
    return int(number) if is_whole else number


def _with_offset(field: Field, text: str) -> str:
    """A time with an offset, as the schema's format requires: in UTC if it has a date, else as typed. A time
    typed without an offset is in the site's zone."""
    match = _CLOCK.fullmatch(text.strip())
    if field.input_type not in ("time", "datetime-local") or match is None:
        return text
    day, minute, seconds, offset = match.groups()
    clock = minute + (seconds or ":00")
    if day is None:
        return clock + offset if offset else typed_time(clock)
    try:
        datetime.fromisoformat(f"{day}T{clock}")
    except ValueError:
        return text  # the format check will refuse it
    try:
        moment = typed_moment(f"{day}T{clock}{offset or ''}", field.name)
    except Invalid as error:
        message = _(
            "%(zone)s has no %(time)s on %(day)s: its clocks are put forward. Type a later time.",
            zone=site_zone(),
            time=minute,
            day=day,
        )
        raise Invalid(field.name, str(message)) from error
    utc = moment.replace(tzinfo=None).isoformat()
    return (utc.rstrip("0") if "." in utc else utc) + "Z"


def _texts(field: Field, value: Json) -> list[str]:
    """A value as its field's texts; a draft may contain invalid values."""
    if value is EMPTY or (value is None and field.kind != "choice"):
        return []
    if field.kind == "ranking":
        return [next(iter(_text_of(field, one)), "") for one in value] if isinstance(value, list) else []
    if field.kind in ("choice", "choices"):
        values = value if field.kind == "choices" and isinstance(value, list) else [value]
        return [text for one in values for text in _text_of(field, one)]
    if field.kind == "lines" and isinstance(value, list):
        return ["\n".join(map(str, value))]
    if field.input_type == "time" and isinstance(value, str):
        return [time_text(value)]
    if field.input_type == "datetime-local" and isinstance(value, str):
        return [_clock_text(value)]
    return [value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)]


def _clock_text(value: str) -> str:
    """A date and time in the site's zone; texts that are none, or have no offset, stay unchanged."""
    try:
        moment = datetime.fromisoformat(value)
        return clock_text(moment) if moment.tzinfo else value
    except (ValueError, OverflowError):
        return value


def _text_of(field: Field, value: Json) -> list[str]:
    """The text of the choice with this value, else of the choice with this text; any other text only if the
    choice is typed."""
    for choice in field.choices:
        if type(choice.value) is type(value) and choice.value == value:
            return [choice.text]
    texts = [choice.text for choice in field.choices if choice.text == value]
    return texts or ([value] if field.has_suggestions and isinstance(value, str) else [])
