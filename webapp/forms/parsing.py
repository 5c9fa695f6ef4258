"""Parses a form's input into a result, and fills the fields from a result or a draft."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import cycle
from typing import Any, TypeGuard

from flask_babel import gettext as _

from leaseq import Invalid, Json, validation
from leaseq.form import is_asked
from leaseq.webapp.files.keys import SentFile, read_file
from leaseq.webapp.forms.choices import Choice, json_text, meant, plain_text
from leaseq.webapp.forms.fields import EMPTY, Field
from leaseq.webapp.forms.inputs import Inputs, rows_of
from leaseq.webapp.forms.schema import problem
from leaseq.webapp.i18n import number_text, read_number
from leaseq.webapp.refusals import reason_of
from leaseq.webapp.serving.time_slices import in_slices
from leaseq.webapp.site_time import clock_text, read_moment, site_zone, time_text, with_site_offset

NUMBERS = ("number", "integer")
_NAMED = 5  # options that an error names
_SHORT = 60  # characters of an input, in an error

_CLOCK = re.compile(r"(?:(\d{4}-\d\d-\d\d)T)?(\d\d:\d\d)(:\d\d(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)?")
"""A time as browsers' date and time inputs submit it, without an offset and often without seconds; or with an
offset, from a text input."""


def inputs_of(
    fields: Iterable[Field], draft: Json, prefill: Mapping[str, Json] | None = None
) -> dict[str, list[str]]:
    """The initial texts of the fields: from the draft, or without one from the prefill values or the
    defaults."""
    prefill_values = prefill or {}
    return {
        field.name: shown_texts(
            field,
            texts_of(
                field,
                value_in(draft, field)
                if isinstance(draft, dict)
                else prefill_values.get(field.name, field.default),
            ),
        )
        for field in fields
    }


def shown_texts(field: Field, texts: list[str]) -> list[str]:
    """The texts of a field that its inputs can show; in a table, '' in place of others."""
    if field.columns:
        columns = cycle(field.columns)
        return [(shown_texts(next(columns), [text]) or [""])[0] for text in texts]
    if field.kind == "file":
        return [text for text in texts if file_in(text) is not None]
    if not field.choices or field.has_suggestions:
        takes_lines = field.kind in ("text", "long-text", "lines", "json")
        return [text for text in texts[:1] if takes_lines or "\n" not in text]
    known = {choice.text for choice in field.choices}
    if field.kind == "ranking":
        places = [text if text in known else "" for text in texts[: len(known)]]
        return places if any(places) else []
    shown = [text for text in texts if text in known]
    return shown if field.kind == "choices" else shown[:1]


def value_in(draft: dict[str, Any], field: Field) -> Json:
    """A field's value in a draft: under its dotted name, or inside of objects."""
    if field.name in draft:
        return draft[field.name]
    value: Any = draft
    for name in field.path:
        if not isinstance(value, dict) or name not in value:
            return EMPTY
        value = value[name]
    return value


def draft_of(fields: Iterable[Field], inputs: Inputs) -> dict[str, Json]:
    """The input as a draft: shaped like a result, with the text of values that are not valid yet."""
    draft: dict[str, Json] = {}
    for field in fields:
        value = _draft_value(field, inputs[field.name])
        if value is not EMPTY:
            _put(draft, field.path, value)
    return draft


def _draft_value(field: Field, texts: list[str]) -> Json:
    if field.columns:
        return [_draft_row(field, cells) for cells in in_slices(rows_of(field, texts))] or EMPTY
    try:
        value = _value(field, texts)
    except Invalid:
        return list(texts) if field.kind in ("ranking", "file") else texts[0]
    # a number that was typed in another way than the page would show it stays as it was typed
    return (
        texts[0]
        if field.kind in NUMBERS and value is not EMPTY and texts_of(field, value) != texts
        else value
    )


def _draft_row(field: Field, cells: list[str]) -> dict[str, Json]:
    values = {
        column.path[-1]: _draft_value(column, [text])
        for column, text in zip(field.columns, cells, strict=True)
    }
    return {name: value for name, value in values.items() if value is not EMPTY}


def read_result(fields: Iterable[Field], inputs: Inputs) -> tuple[dict[str, Json], dict[str, str]]:
    """Parse the result, and collect the errors by field. It omits empty fields, fields whose conditions do
    not hold, and optional objects in which every field is empty."""
    asked_fields, values, errors = _parse(fields, inputs)
    objects = _objects(asked_fields, {*values, *errors})
    result: dict[str, Json] = {}
    for path in sorted(objects, key=len):
        if path:
            _put(result, path, {})
    for field in asked_fields:
        value = values.get(field.name, EMPTY)
        if value is EMPTY and field.required and field.path[:-1] in objects and field.name not in errors:
            value = [] if field.kind in ("choices", "rows", "passages") else None if field.nullable else EMPTY
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


def _parse(fields: Iterable[Field], inputs: Inputs) -> tuple[list[Field], dict[str, Json], dict[str, str]]:
    """The fields whose conditions hold, the values of those with one, and the errors."""
    asked_fields: list[Field] = []
    values: dict[str, Json] = {}
    errors: dict[str, str] = {}
    for field in fields:
        if not is_asked(field.conditions, values):
            continue
        asked_fields.append(field)
        try:
            value = _value(field, inputs[field.name])
        except Invalid as error:
            errors[field.name] = reason_of(error)
        else:
            if value is not EMPTY:
                values[field.name] = value
    return asked_fields, values, errors


def errors_at(fields: Iterable[Field], errors: Mapping[str, str]) -> dict[str, str]:
    """Errors by the page's field: ``tags.0``, for instance, belongs to ``tags``."""
    by_name = {field.name: field for field in fields}
    by_field: dict[str, str] = {}
    for path, why in errors.items():
        text, steps = why, path.split(".")
        candidates = (".".join(steps[:count]) for count in range(len(steps), 0, -1))
        name = next((name for name in candidates if name in by_name), path)
        place = steps[name.count(".") + 1 :]
        if name in by_name and by_name[name].columns and place and place[0].isdecimal():
            text = _in_row(by_name[name], int(place[0]) + 1, ".".join(place[1:]), why)
        by_field.setdefault(name, text)
    return by_field


def _in_row(field: Field, row: int, name: str, text: str) -> str:
    """What is wrong with a row of a table, or with one of its cells."""
    label = next((column.label for column in field.columns if column.path[-1] == name), name)
    if not label:
        return str(_("Row %(n)s: %(why)s", n=row, why=text))
    return str(_("Row %(n)s, %(column)s: %(why)s", n=row, column=label, why=text))


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
    if field.kind == "file":
        return [_file_value(field, text) for text in texts] or EMPTY
    if field.columns:
        rows = enumerate(in_slices(rows_of(field, texts)), 1)
        return [_row(field, number, cells) for number, cells in rows if any(map(str.strip, cells))] or EMPTY
    text = texts[0] if texts else ""
    if field.kind == "choice":
        return _choice_value(field, text)
    if not text.strip():
        return EMPTY
    if field.kind == "lines":
        return [_line(field, line) for line in text.split("\n") if line.strip()]
    if field.kind in NUMBERS:
        return read_number(text, field.name, whole=field.kind == "integer")
    if field.kind == "json":
        return validation.load_json(text, field.name)
    return _with_offset(field, text)


def _choice_value(field: Field, text: str) -> Json:
    if field.has_suggestions:
        found = meant(field.choices, text) if text.strip() else []
    else:
        found = [choice for choice in field.choices if choice.text == text]
    if len(found) == 1:
        return found[0].value
    if found:
        labels = ", ".join(choice.label for choice in found[:_NAMED])
        raise Invalid(field.name, "page", what="several_choices", options=labels)
    if text.strip():
        raise Invalid(field.name, "page", what="choice")
    return EMPTY


def _file_value(field: Field, text: str) -> Json:
    file = file_in(text)
    if file is None:
        raise Invalid(field.name, "file", what="unknown", name=text[:_SHORT])
    return file.to_json()


def file_in(text: str) -> SentFile | None:
    """The file of an input."""
    try:
        return read_file(validation.load_json(text, "file"))
    except Invalid:
        return None


def _ranking(field: Field, texts: list[str]) -> Json:
    """The choices in the order of their places."""
    if not any(texts):
        return EMPTY
    by_text = {choice.text: choice.value for choice in field.choices}
    if len(texts) != len(by_text) or set(texts) != set(by_text):
        raise Invalid(field.name, "page", what="ranking")
    return [by_text[text] for text in texts]


def _row(field: Field, number: int, cells: list[str]) -> dict[str, Json]:
    """A row of a table, without its empty cells."""
    row: dict[str, Json] = {}
    for column, text in zip(field.columns, cells, strict=True):
        name = column.path[-1]
        try:
            value, why = _value(column, [text]), None
        except Invalid as error:
            value, why = EMPTY, reason_of(error)
        if value is EMPTY and column.required and why is None:
            value, why = (None, None) if column.nullable else (EMPTY, str(_("Please answer this.")))
        elif value is not EMPTY:
            why = problem(column.limits, value)
        if why:
            raise Invalid(field.name, "page", what="bad_row", why=_in_row(field, number, name, why))
        if value is not EMPTY:
            row[name] = value
    return row


def _line(field: Field, line: str) -> Json:
    return line if field.item == "string" else read_number(line, field.name, whole=field.item == "integer")


def _with_offset(field: Field, text: str) -> str:
    """A time with an offset, as the schema's format requires: in UTC if it has a date, else as typed. A time
    typed without an offset is in the site's zone."""
    match = _CLOCK.fullmatch(text.strip())
    if field.input_type not in ("time", "datetime-local") or match is None:
        return text
    day, minute, seconds, offset = match.groups()
    clock = minute + (seconds or ":00")
    if day is None:
        return clock + offset if offset else with_site_offset(clock)
    try:
        datetime.fromisoformat(f"{day}T{clock}")
    except ValueError:
        return text  # the format check will refuse it
    try:
        moment = read_moment(f"{day}T{clock}{offset or ''}", field.name)
    except Invalid as error:
        raise Invalid(
            field.name, "page", what="skipped_clock", zone=str(site_zone()), time=minute, day=day
        ) from error
    utc = moment.replace(tzinfo=None).isoformat()
    return (utc.rstrip("0") if "." in utc else utc) + "Z"


def texts_of(field: Field, value: Json) -> list[str]:
    """A value as its field's texts; a draft may contain invalid values."""
    if value is EMPTY or (value is None and field.kind != "choice"):
        return []
    if field.columns:
        rows = (row if isinstance(row, dict) else {} for row in rows_in(value))
        return [text for row in rows for text in _cells(field, row)]
    if field.kind == "file":
        return [_file_text(value) for value in (value if isinstance(value, list) else [value])]
    if field.kind in ("choice", "choices", "ranking"):
        is_choice = any(_is_value(choice, value) for choice in field.choices)
        values = value if isinstance(value, list) and not (field.kind == "choice" and is_choice) else [value]
        return [_choice_text(field, value) for value in values]
    if field.kind == "lines" and isinstance(value, list):
        return ["\n".join(number_text(line) if is_number(line) else plain_text(line) for line in value)]
    if field.input_type == "time" and isinstance(value, str):
        return [time_text(value)]
    if field.input_type == "datetime-local" and isinstance(value, str):
        return [_clock_text(value)]
    return [number_text(value) if field.kind in NUMBERS and is_number(value) else plain_text(value)]


def _file_text(value: Json) -> str:
    file = read_file(value)
    return plain_text(value) if file is None else file.text


def rows_in(value: Json) -> list[Json]:
    """The rows of a table's value. In a draft, one that was gone for a while is the text of its JSON."""
    rows = value if isinstance(value, list) else [] if value is EMPTY else [value]
    return [_read_object(row) if isinstance(row, str) else row for row in rows]


def _read_object(text: str) -> Json:
    try:
        value = validation.load_json(text, "draft")
    except Invalid:
        return text
    return value if isinstance(value, dict) else text


def _cells(field: Field, row: Mapping[str, Json]) -> list[str]:
    return [(texts_of(column, row.get(column.path[-1], EMPTY)) or [""])[0] for column in field.columns]


def is_number(value: Json) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _clock_text(value: str) -> str:
    """A date and time in the site's zone; texts that are none, or have no offset, stay unchanged."""
    try:
        moment = datetime.fromisoformat(value)
        return clock_text(moment) if moment.tzinfo else value
    except (ValueError, OverflowError):
        return value


def _choice_text(field: Field, value: Json) -> str:
    """The text of the choice with this value. Any other was typed, or is no longer a choice."""
    same = (choice.text for choice in field.choices if _is_value(choice, value))
    return next(same, "" if value is None else plain_text(value))


def _is_value(choice: Choice, value: Json) -> bool:
    return json_text(choice.value) == json_text(value)
