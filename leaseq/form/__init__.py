"""The form of a queue: which answers it asks for, under which conditions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, NoReturn, TypeAlias

import jsonschema_rs

from leaseq.errors import Invalid
from leaseq.form.approvals import approval
from leaseq.form.contradictions import TYPES, contradiction
from leaseq.form.schema_size import OPTIONS, SchemaSize, measure
from leaseq.models import Json
from leaseq.names import nearest
from leaseq.sentences.library import ANSWERS
from leaseq.validation import dump_json, is_same_json

Conditions: TypeAlias = Mapping[str, Sequence[Json]]
"""For one question, the answers to other questions on which it depends: any one of those listed for each."""


def check_when(form: Mapping[str, Any]) -> None:
    """Raise Invalid (field ``form``) unless ``when`` is valid.

    A question may depend only on earlier ones, so there are no circular conditions.
    """
    when = form.get("when", {})
    properties = form["ask"].get("properties") if "ask" in form else None
    names = list(properties) if isinstance(properties, dict) else []
    if not isinstance(when, dict):
        raise Invalid("form", "form_when", what="shape")
    for name, conditions in when.items():
        if name not in names:
            raise Invalid("form", "form_when", what="unknown", name=name)
        if not isinstance(conditions, dict) or not conditions or [] in conditions.values():
            raise Invalid("form", "form_when", what="empty", name=name)
        for other in conditions:
            if other not in names[: names.index(name)]:
                raise Invalid("form", "form_when", what="later", other=other, name=name)


def conditions_of(form: Json) -> dict[str, Conditions]:
    """The conditions of a form's conditional questions, by question."""
    when = form.get("when", {}) if isinstance(form, Mapping) else {}
    return {
        name: {other: _as_list(answer) for other, answer in conditions.items()}
        for name, conditions in when.items()
    }


def is_asked(conditions: Conditions, answers: Mapping[str, Json]) -> bool:
    """Whether a question with these conditions is asked after these answers."""
    return all(
        name in answers
        and any(is_same_json(answer, other) for answer in _as_list(answers[name]) for other in accepted)
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


__all__ = [
    "FILE_MEMBERS",
    "KINDS",
    "MAX_ERROR",
    "MAX_ERRORS",
    "PARTS",
    "SHOW_MEMBERS",
    "SHOW_OPTIONS",
    "Conditions",
    "approval",
    "changed",
    "check_form",
    "check_result",
    "conditions_of",
    "file_questions",
    "is_asked",
    "is_for_files",
    "is_for_passages",
    "marked_texts",
    "member_at",
    "misfit",
    "only_asked",
    "prefilled",
    "schema_of",
    "version",
]

MAX_ERRORS = 100
MAX_ERROR = 300
"""The largest number of errors reported for one result, and the maximum length of an answer's path."""
_MAX_LIMIT = 200  # characters of what a question allows, in an error

# Above this number of checks, not all errors of a result are listed: each error takes up to 5 kB.
_MAX_LISTED_CHECKS = 5_000
_MAX_COPIED_BYTES = 16_000_000  # a result's bytes times its checks: each check may make a copy
KINDS = (
    "text", "markdown", "html", "chat", "image", "images", "audio", "video", "pdf", "link", "table", "diff",
    "code", "money", "date", "json",
)  # fmt: skip
SHOW_OPTIONS = {"with": "diff", "language": "code", "currency": "money"}
"""Options of an entry of ``show``, each a text, and the kind that has it."""
SHOW_MEMBERS = ("field", "kind", "label", "beside", *SHOW_OPTIONS)
_CURRENCY = re.compile(r"[A-Z]{3}")  # ISO 4217
PARTS = ("show", "ask", "keys", "prefill", "when")
FILE_MEMBERS = ("key", "name", "size", "type")
"""The members of an answer's file: where it is kept, what it is called, its bytes, its media type."""


def check_form(form: Json) -> None:
    """Raise Invalid (field ``form``) unless this is a valid form. None is valid: one text box."""
    if form is None:
        return
    if not isinstance(form, dict):
        raise Invalid("form", "format", what="form_parts")
    _check_names(form, PARTS, "form")
    dump_json(form, "form")
    _check_show(form.get("show", []))
    keys = form.get("keys", {})
    if not isinstance(keys, dict) or not all(isinstance(key, str) and len(key) == 1 for key in keys):
        raise Invalid("form", "format", what="form_keys")
    prefill = form.get("prefill", {})
    if not isinstance(prefill, dict) or not all(isinstance(path, str) and path for path in prefill.values()):
        raise Invalid("form", "format", what="form_prefill")
    if "ask" in form:
        _check_ask(form["ask"])
    check_when(form)
    if "ask" in form:
        _compile(schema_of(form))
        place = contradiction(schema_of(form))
        if place is not None:
            names = "".join(f"{name}: " for name in place)
            raise Invalid("form", "form_schema", what="contradiction", place=names)


def prefilled(form: Json, payload: Json) -> dict[str, Json]:
    """The answers that a form prefills from a payload, by question.

    ``"prefill": {"label": "guess.label"}`` takes the member ``label`` of the object ``guess``. A question
    whose field the payload lacks is left out.
    """
    if not isinstance(form, Mapping):
        return {}
    members = ((name, member_at(payload, path)) for name, path in form.get("prefill", {}).items())
    return {name: value for name, value in members if value is not None}


def changed(form: Json, payload: Json, result: Json) -> tuple[str, ...]:
    """The questions that a result answers otherwise than the form prefilled them, in the form's order; not
    those that were not asked after its other answers."""
    conditions = conditions_of(form)
    answers = result if isinstance(result, Mapping) else {}
    return tuple(
        name
        for name, value in prefilled(form, payload).items()
        if is_asked(conditions.get(name.partition(".")[0], {}), answers)
        and not is_same_json(member_at(result, name), value)
    )


def marked_texts(form: Json) -> dict[str, str]:
    """The questions that ask for passages of a text, with the text's place in the payload."""
    ask = form.get("ask") if isinstance(form, Mapping) else None
    questions = ask.get("properties") if isinstance(ask, Mapping) else None
    return {
        name: question["x-text"]
        for name, question in (questions.items() if isinstance(questions, Mapping) else ())
        if is_for_passages(question)
    }


def is_for_passages(question: Json) -> bool:
    """Whether the schema of a question asks for passages of a text."""
    return (
        isinstance(question, Mapping)
        and question.get("x-widget") == "passages"
        and isinstance(question.get("x-text"), str)
    )


def file_questions(form: Json) -> dict[str, Mapping[str, Any]]:
    """The questions that ask for files, with their schemas."""
    ask = form.get("ask") if isinstance(form, Mapping) else None
    questions = ask.get("properties") if isinstance(ask, Mapping) else None
    return {
        name: question
        for name, question in (questions.items() if isinstance(questions, Mapping) else ())
        if is_for_files(question)
    }


def is_for_files(question: Json) -> bool:
    """Whether the schema of a question asks for files: a list of objects with the members of a file."""
    if not isinstance(question, Mapping) or question.get("x-widget") != "file":
        return False
    items = question.get("items")
    members = items.get("properties") if isinstance(items, Mapping) else None
    return (
        question.get("type") == "array" and isinstance(members, Mapping) and set(FILE_MEMBERS) <= set(members)
    )


def member_at(payload: Json, path: str) -> Json:
    """The member of a payload with this name or dotted path; None if there is none."""
    value: Any = payload
    for step in path.split("."):
        if not isinstance(value, Mapping) or step not in value:
            return payload.get(path) if isinstance(payload, Mapping) else None  # a name with a dot
        value = value[step]
    return value


def check_result(form: Json, result: Json) -> None:
    """Raise Invalid (field ``result``, with ``errors`` by field) if a result doesn't fit the form."""
    if not isinstance(form, Mapping) or "ask" not in form:
        return
    validator, size = _compiled_schema(json.dumps(schema_of(form), sort_keys=True))
    _check_lengths(size, result)
    if validator.is_valid(result):
        return
    refusals: dict[str, Invalid] = {}
    conditions = conditions_of(form)
    for error in _errors(validator, size.checks, result):
        path = ".".join(str(step) for step in error.instance_path)
        path = (path or _missing_member(error) or "result")[:MAX_ERROR]
        refusals.setdefault(path, _refusal(path, error, conditions))
        if len(refusals) == MAX_ERRORS:
            break
    raise misfit(refusals or {"result": Invalid("result", "answer", what="somewhere")})


def misfit(refusals: dict[str, Invalid]) -> Invalid:
    """The refusal of a result, with what is wrong by field."""
    question, refusal = next(iter(refusals.items()))
    return Invalid("result", "form", question=question, why=str(refusal.args[0]), errors=refusals)


def _check_lengths(size: SchemaSize, result: Json) -> None:
    """Raise Invalid if matching the form's patterns on this result would take too long."""
    costs = size.match_costs
    if not costs.shared and not any(costs.by_question.values()):
        return
    answers = result if isinstance(result, Mapping) else {"result": result}
    lengths = {
        name: len(name) + len(json.dumps(answer, ensure_ascii=False)) for name, answer in answers.items()
    }
    name = costs.question_too_long(lengths)
    if name is None:
        return
    path, maximum = name[:MAX_ERROR], costs.max_length(name)
    raise misfit({path: Invalid(path, "answer", what="length", maximum=maximum, count=lengths[name])})


def _errors(validator: jsonschema_rs.Draft202012Validator, checks: int, result: Json) -> list[Any]:
    """All errors of a result, only the first, or none, so that memory use is bounded.

    jsonschema-rs creates all errors before it yields the first.
    """
    text = json.dumps(result, ensure_ascii=False)
    if checks * len(text.encode()) > _MAX_COPIED_BYTES:
        return []
    values = 1 + text.count(",") + text.count("{") + text.count("[")  # an upper bound
    if checks * values <= _MAX_LISTED_CHECKS:
        return list(validator.iter_errors(result))
    try:
        validator.validate(result)
    except jsonschema_rs.ValidationError as error:
        return [error]
    return []


def _refusal(
    path: str, error: jsonschema_rs.ValidationError, conditions: Mapping[str, Conditions]
) -> Invalid:
    keyword = error.kind.name
    value: dict[str, Any] = {} if isinstance(error.instance, dict | list) else {"value": error.instance}
    if keyword in ANSWERS:
        return Invalid(path, "answer", what=keyword, limit=_short(error.kind.value), **value)
    if not isinstance(error.kind, jsonschema_rs.ValidationErrorKind.FalseSchema):
        return Invalid(path, "answer", what="keyword", keyword=keyword, **value)
    condition = conditions.get(str(error.instance_path[0])) if len(error.instance_path) == 1 else None
    if condition is None:
        return Invalid(path, "answer", what="none")
    answers = (
        ", ".join(json.dumps(answer, ensure_ascii=False) for answer in list) for list in condition.values()
    )
    condition_text = "; ".join(map("{}: {}".format, condition, answers))
    return Invalid(path, "answer", what="hidden", condition=condition_text)


def _short(limit: Json) -> Json:
    text = json.dumps(limit, ensure_ascii=False)
    return limit if len(text) <= _MAX_LIMIT else f"{text[: _MAX_LIMIT - 1]}…"


def version(form: Json) -> str:
    """A short digest of this form, with which a finish names the form that its result was checked against."""
    if form is None:
        return "-"
    return sha256(json.dumps(form, sort_keys=True).encode()).hexdigest()[:12]


def version_of_text(text: str) -> str:
    """The version of an item's own form, which is stored as this JSON. It has 128 bits, since those who make
    items choose their forms, and could look for two with one version."""
    return sha256(text.encode()).hexdigest()[:32]


def _missing_member(error: Any) -> str | None:
    name = getattr(error.kind, "property", None)
    return name if isinstance(name, str) else None


def _check_names(names: Iterable[object], known_names: Sequence[str], part: str) -> None:
    for name in names:
        if name not in known_names:
            raise Invalid(
                "form",
                "form_member",
                part=part,
                choices=known_names,
                name=str(name),
                near=nearest(str(name), known_names),
            )


def _check_show(show: Json) -> None:
    if not isinstance(show, list):
        raise Invalid("form", "format", what="form_show", choices=KINDS)
    for entry in show:
        if isinstance(entry, dict):
            _check_names(entry, SHOW_MEMBERS, "show")
            _check_names([entry.get("kind", "text")], KINDS, "show: kind")
            _check_options(entry)
        fits = isinstance(entry, str) or (
            isinstance(entry, dict)
            and isinstance(entry.get("field"), str)
            and isinstance(entry.get("beside", False), bool)
            and isinstance(entry.get("label", ""), str)
        )
        if not fits:
            raise Invalid("form", "format", what="form_show", choices=KINDS)


def _check_options(entry: Mapping[str, Json]) -> None:
    for name, kind in SHOW_OPTIONS.items():
        if name not in entry:
            continue
        value = entry[name]
        if entry.get("kind", "text") != kind:
            raise Invalid("form", "form_option", what="kind", name=name, kind=kind)
        if not isinstance(value, str) or not value:
            raise Invalid("form", "form_option", what="text", name=name)
        if name == "currency" and not _CURRENCY.fullmatch(value):
            raise Invalid("form", "form_option", what="currency", value=value)


def _check_ask(ask: Json) -> None:
    if not isinstance(ask, dict) or ask.get("type") != "object":
        raise Invalid("form", "format", what="form_ask")
    _compile(ask)


def _compile(ask: dict[str, Any]) -> None:
    try:
        validator, _size = _compiled_schema(json.dumps(ask, sort_keys=True))
        # Report an unresolved reference now, not at the first answer.
        validator.is_valid({})
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, TypeError, ValueError) as error:
        name = _unknown_type(error)
        if name is not None:
            near = nearest(name, TYPES)
            raise Invalid("form", "form_schema", what="type", name=name, choices=TYPES, near=near) from None
        raise Invalid("form", "form_schema", what="other", why=str(error).partition("\n")[0]) from None


def _unknown_type(error: Exception) -> str | None:
    """A misspelt type, for which the metaschema's error is not clear; None for other errors. A question may
    itself be called ``type``."""
    if not isinstance(error, jsonschema_rs.ValidationError) or "type" not in error.schema_path[:-1]:
        return None
    type_names = error.instance if isinstance(error.instance, list) else [error.instance]
    # None if the list is empty, or has one type twice
    return next((str(name) for name in type_names if name not in TYPES), None)


def _refuse(uri: str) -> NoReturn:
    raise ValueError(f"a reference may not point outside the schema ({uri})")


@lru_cache(maxsize=256)
def _compiled_schema(text: str) -> tuple[jsonschema_rs.Draft202012Validator, SchemaSize]:
    """The validator of a schema, and how much work it can be.

    Regular expressions run in linear time, and their size is limited.
    """
    schema = json.loads(text)
    size = measure(schema)
    validator = jsonschema_rs.Draft202012Validator(
        schema,
        retriever=_refuse,
        pattern_options=OPTIONS,
        validate_formats=True,
    )
    return validator, size
