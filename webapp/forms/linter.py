"""Linter for a form's JSON: finds errors and their lines."""

from __future__ import annotations

import difflib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import jsonschema_rs
from flask_babel import gettext as _

from leaseq import Invalid, Json, validation
from leaseq.form import KINDS, PARTS, SHOW_MEMBERS, check_form, check_result, conditions_of
from leaseq.webapp.forms.choices import is_same_value
from leaseq.webapp.forms.fields import Field, fields_of
from leaseq.webapp.refusals import reason_of

WIDGETS = ("rating", "passages", "tree", "file")
_NAMED = 5  # options that a warning names
_CHECKED = 300  # options of a question that are checked, at most
_SPACE = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class Finding:
    line: int  # from 1; 0: about the whole form
    text: str
    is_error: bool = True  # otherwise a warning: it may be intended


_Message: TypeAlias = tuple[list[str | int], str]
"""The path in the form that a finding is about, and its text."""


@dataclass(frozen=True, slots=True)
class CheckedForm:
    """The result of the linter: the parsed form, None if it is no JSON, and the findings."""

    form: Json
    findings: tuple[Finding, ...]

    @property
    def is_valid(self) -> bool:
        return not any(finding.is_error for finding in self.findings)


def check_text(text: str) -> CheckedForm:
    """Check the text of a form."""
    if not text.strip():
        return CheckedForm(None, ())
    try:
        form = validation.load_json(text, "form")
    except Invalid as error:
        return CheckedForm(None, (_syntax_finding(text, error),))
    findings = [Finding(position_of(text, path), message) for path, message in _errors(form)]
    if not any(finding.is_error for finding in findings):
        try:
            check_form(form)
        except Invalid as error:
            findings.append(Finding(0, reason_of(error)))
    if not any(finding.is_error for finding in findings):
        findings += [Finding(position_of(text, path), message, False) for path, message in _warnings(form)]
    return CheckedForm(form, tuple(findings))


def _syntax_finding(text: str, invalid: Invalid) -> Finding:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return Finding(_line(text, _fault_position(text, error.pos)), _hint(text, error))
    except (RecursionError, ValueError):
        pass
    return Finding(0, reason_of(invalid))


def _fault_position(text: str, at: int) -> int:
    """The position to point to: a missing or superfluous comma belongs to the line before."""
    before = text[:at].rstrip()
    return len(before) - 1 if before and text[at : at + 1] in ("", "}", "]", '"', "{", "[") else at


def _hint(text: str, error: json.JSONDecodeError) -> str:
    character, before = text[error.pos : error.pos + 1], text[: error.pos].rstrip()
    if before.endswith(",") and (character in ("}", "]") or "trailing comma" in error.msg):
        return str(_("There is a comma before the closing bracket. Remove it."))
    if not character:
        return str(_("It ends too early: a bracket or a quote is not closed."))
    if character in ("'", "‘", "’", "“", "”"):
        return str(_('Text needs straight double quotes, like "this".'))
    if "delimiter" in error.msg and character in ('"', "{", "["):
        return str(_("A comma or a colon is missing before this."))
    if error.msg.startswith("Extra data"):
        return str(_("There is more text after the end of the form."))
    if "Invalid control character" in error.msg:
        return str(_("The closing quote of a text is missing on this line."))
    return str(
        _(
            "This is not JSON: %(why)s at %(what)s.",
            why=error.msg,
            what=repr(text[error.pos : error.pos + 12]),
        )
    )


def _errors(form: Json) -> Iterator[_Message]:
    if not isinstance(form, dict):
        names = ", ".join(PARTS)
        yield [], _("A form is an object with these members, each optional: %(names)s.", names=names)
        return
    for name in form:
        if name not in PARTS:
            yield [name], _unknown_name(name, PARTS)
    show = form.get("show", [])
    for number, entry in enumerate(show if isinstance(show, list) else ()):
        for message in _entry_messages(entry):
            yield ["show", number], message
    for key in form.get("keys", {}) if isinstance(form.get("keys"), dict) else ():
        if len(key) != 1:
            yield ["keys", key], _("%(key)s is not a key: a key is one character.", key=repr(key))
    if isinstance(form.get("ask"), dict):
        yield from _schema_errors(form["ask"])


def _entry_messages(entry: Json) -> Iterator[str]:
    if isinstance(entry, str):
        return
    if not isinstance(entry, dict) or not isinstance(entry.get("field"), str):
        yield _('Each entry of show is a field\'s name, or an object with "field" and "kind".')
        return
    kind = entry.get("kind", "text")
    if kind not in KINDS:
        yield _unknown_name(str(kind), KINDS)
    for word in set(entry) - set(SHOW_MEMBERS):
        yield _unknown_name(word, SHOW_MEMBERS)


def _schema_errors(ask: dict[str, Any]) -> Iterator[_Message]:
    if ask.get("type") != "object":
        yield ["ask", "type"], _('ask must have "type": "object"; its properties are the fields.')
    try:
        jsonschema_rs.meta.validate(ask)
    except jsonschema_rs.ValidationError as error:
        path = list(error.instance_path)
        if path and path[-1] == "type":
            message = _unknown_name(
                str(_at(ask, path)), ("string", "number", "integer", "boolean", "array", "object")
            )
        else:
            message = error.message.partition("\n")[0]
        yield ["ask", *path], message
    except (jsonschema_rs.ReferencingError, ValueError) as error:
        yield ["ask"], str(error).partition("\n")[0]


def _warnings(form: dict[str, Any]) -> Iterator[_Message]:
    """Warnings about what is valid but probably unintended."""
    ask = form.get("ask", {})
    properties = ask.get("properties", {})
    for number, name in enumerate(ask.get("required", ())):
        if name not in properties:
            message = _(
                "Nobody can answer %(name)s: it is required, but there is no property with that name.",
                name=repr(name),
            )
            yield ["ask", "required", number], message
    names = {field.name for field in fields_of(form)}
    for name in form.get("prefill", {}):
        if name not in names:
            yield (
                ["prefill", name],
                _("%(name)s is not a question, so nothing is filled in.", name=repr(name)),
            )
    for name, schema in properties.items():
        if isinstance(schema, dict) and [] in (schema.get("enum"), _at(schema, ["items", "enum"])):
            path = ["ask", "properties", name]
            yield path, _("Nobody can answer %(name)s: it has no options.", name=repr(name))
    yield from _question_warnings(form)
    yield from _unreachable_questions(form)
    values = [(field.name, choice.value) for field in fields_of(form) for choice in field.choices]
    for key, binding in form.get("keys", {}).items():
        bindings = list(binding.items()) if isinstance(binding, dict) else [(None, binding)]
        if not any(
            is_same_value(value, option) and name in (None, field)
            for name, value in bindings
            for field, option in values
        ):
            yield ["keys", key], _("The key %(key)s selects nothing: no option has this value.", key=key)


def _question_warnings(form: dict[str, Any]) -> Iterator[_Message]:
    """Warnings about questions that can't be answered, and options that can't be chosen."""
    for field in fields_of(form):
        path = [step for name in field.path for step in ("properties", name)]
        for message in (
            *_contradictions(field),
            *_useless_options(field, form),
            *_widget_warnings(field, form),
        ):
            yield ["ask", *path], message


def _contradictions(field: Field) -> Iterator[str]:
    """Warnings about a question whose limits leave no answer."""
    limits, name = field.limits, repr(field.name)
    ranges = (
        (limits.min_length, limits.max_length),
        (limits.min_items, limits.max_items),
        (limits.minimum, limits.maximum),
        (limits.minimum, limits.below),
        (limits.above, limits.maximum),
        (limits.above, limits.below),
    )
    if any(least is not None and most is not None and least > most for least, most in ranges):
        yield _("Nobody can answer %(name)s: its lower limit is above its upper one.", name=name)
    elif field.kind == "choices" and (limits.min_items or 0) > len(field.choices):
        yield _("Nobody can answer %(name)s: it has fewer options than must be chosen.", name=name)


def _useless_options(field: Field, form: dict[str, Any]) -> Iterator[str]:
    """Warnings about options that can't be told apart, or that the rest of their question refuses."""
    titles = Counter(choice.title for choice in field.choices)
    repeated = [title for title, count in titles.items() if count > 1]
    if repeated:
        yield _(
            "Options of %(name)s have the same title: %(titles)s.",
            name=repr(field.name),
            titles=", ".join(map(repr, repeated[:_NAMED])),
        )
    if field.kind != "choice" or len(field.path) > 1 or len(field.choices) > _CHECKED:
        return
    question = {
        **form["ask"],
        "properties": {field.name: form["ask"]["properties"][field.name]},
        "required": [],
    }
    refused = [choice for choice in field.choices if not _fits({"ask": question}, {field.name: choice.value})]
    if refused:
        yield _(
            "Nobody can choose %(options)s of %(name)s: the question's other rules refuse it.",
            options=", ".join(repr(choice.label) for choice in refused[:_NAMED]),
            name=repr(field.name),
        )


def _widget_warnings(field: Field, form: dict[str, Any]) -> Iterator[str]:
    """Warnings about ``x-widget``: it is unknown, doesn't fit the question, or lacks its text."""
    widget = _at(form, ["ask", *(step for name in field.path for step in ("properties", name)), "x-widget"])
    if widget is None:
        return
    if widget not in WIDGETS:
        yield _unknown_name(str(widget), WIDGETS)
    elif widget not in (field.widget, field.kind):
        yield _(
            "%(widget)s does not fit this question, which is asked in the usual way.", widget=repr(widget)
        )
    elif field.text_path and field.text_path not in _shown_texts(form):
        yield _(
            "People can mark words of %(name)s only if it is shown, as text.",
            name=repr(field.text_path),
        )


def _shown_texts(form: dict[str, Any]) -> set[str]:
    entries = ({"field": entry} if isinstance(entry, str) else entry for entry in form.get("show", []))
    return {entry["field"] for entry in entries if entry.get("kind", "text") == "text"}


def _fits(form: Json, result: Json) -> bool:
    try:
        check_result(form, result)
    except Invalid:
        return False
    return True


def _unreachable_questions(form: dict[str, Any]) -> Iterator[_Message]:
    """Warnings about questions that depend on an answer nobody can choose."""
    choices = {
        field.name: [choice.value for choice in field.choices] for field in fields_of(form) if field.choices
    }
    for name, conditions in conditions_of(form).items():
        for other, values in conditions.items():
            if other in choices and not any(
                is_same_value(accepted, value) for accepted in values for value in choices[other]
            ):
                message = _("%(name)s is never asked: no option has this value.", name=repr(name))
                yield ["when", name, other], message


def _unknown_name(name: str, names: Iterable[str]) -> str:
    matches = difflib.get_close_matches(name, list(names), 1, 0.6)
    if matches:
        return str(
            _("%(name)s is not known here. Did you mean %(near)s?", name=repr(name), near=repr(matches[0]))
        )
    return str(
        _("%(name)s is not known here: use one of %(known)s.", name=repr(name), known=", ".join(names))
    )


def _at(value: Any, path: Iterable[Any]) -> Any:
    """The value at a path; None if there is none."""
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def position_of(text: str, path: Iterable[str | int]) -> int:
    """The line where the value at a path begins in a JSON text, or its closest existing ancestor."""
    at = _skip(text, 0)
    for step in path:
        position = next((start for name, start in _members(text, at) if name == step), None)
        if position is None:
            break
        at = position
    return _line(text, at)


def _members(text: str, at: int) -> Iterator[tuple[str | int, int]]:
    """The name or index of each member of the object or array at a position, and its value's position."""
    decode = json.JSONDecoder().raw_decode
    opening, at, number = text[at], _skip(text, at + 1), 0
    while opening in "{[" and text[at] not in "}]":
        name: str | int = number
        if opening == "{":
            name, at = decode(text, at)
            at = _skip(text, _skip(text, at) + 1)  # past the colon
        yield name, at
        at = _skip(text, decode(text, at)[1])
        at = _skip(text, at + 1) if text[at] == "," else at
        number += 1


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
