"""Changes of a form while people work on it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from werkzeug.datastructures import MultiDict

from leaseq import Json
from leaseq.webapp.forms.choices import plain_text
from leaseq.webapp.forms.fields import PREFIX, Field, title_of
from leaseq.webapp.forms.inputs import Inputs, cell_finder, lines_in
from leaseq.webapp.forms.parsing import rows_in, shown_texts, texts_of, value_in
from leaseq.webapp.serving.time_slices import in_slices

MAX_CHANGES = 12  # changes named; the rest is counted
MAX_OPTIONS = 5  # options named of each change

FormChange: TypeAlias = tuple[str, ...]
"""What was changed, then the field, or the question and its options: ``("question-added", "Urgent")``. The
audit log's page has the words for it."""


def form_changes(before: Json, after: Json) -> list[FormChange]:
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return [("form-removed" if after is None else "form-set",)]
    changes = [*_field_changes(before, after), *_question_changes(before, after)]
    if before.get("keys", {}) != after.get("keys", {}):
        changes.append(("keys-changed",))
    if not changes:
        return [("form-changed",)]  # in parts not described here
    rest_count = len(changes) - MAX_CHANGES
    return [*changes[:MAX_CHANGES], ("more", str(rest_count))] if rest_count > 0 else changes


def _field_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[FormChange]:
    old_fields, new_fields = (_fields(form) for form in (before, after))
    yield from _name_changes("field", old_fields, new_fields, lambda name, _entry: name)


def _fields(form: Mapping[str, Any]) -> dict[str, Any]:
    return {
        str(entry["field"] if isinstance(entry, Mapping) else entry): entry
        for entry in form.get("show") or []
    }


def _question_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[FormChange]:
    old, new = (_questions(form) for form in (before, after))
    yield from _name_changes("question", old, new, _title, _option_changes)
    old_required, new_required = (
        set((form.get("ask") or {}).get("required", [])) for form in (before, after)
    )
    for name in [name for name in new if name in old]:
        if (name in old_required) != (name in new_required):
            what = "question-required" if name in new_required else "question-optional"
            yield what, _title(name, new[name])
    old_rules, new_rules = (
        {
            key: value
            for key, value in (form.get("ask") or {}).items()
            if key not in ("properties", "required")
        }
        for form in (before, after)
    )
    if _differ(old_rules, new_rules):
        yield ("rules-changed",)


def _questions(form: Mapping[str, Any]) -> dict[str, Any]:
    return dict((form.get("ask") or {}).get("properties") or {})


def _option_changes(title: str, old: Any, new: Any) -> Iterator[FormChange]:
    old_options, new_options = _options(old), _options(new)
    removed_options = [option for option in old_options if option not in new_options]
    added_options = [option for option in new_options if option not in old_options]
    for what, options in (("options-added", added_options), ("options-removed", removed_options)):
        if options:
            rest = ["…"] if len(options) > MAX_OPTIONS else []
            yield what, title, *map(str, options[:MAX_OPTIONS]), *rest
    if not removed_options and not added_options:
        yield "question-changed", title


def _options(question: Any) -> list[Any]:
    if not isinstance(question, Mapping):
        return []
    items = question.get("items")
    options = question.get("enum", items.get("enum", []) if isinstance(items, Mapping) else [])
    return list(options) if isinstance(options, Sequence) else []


def _name_changes(
    kind: str,
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    title: Callable[[str, Any], str],
    describe: Callable[[str, Any, Any], Iterator[FormChange]] | None = None,
) -> Iterator[FormChange]:
    for name in new:
        if name not in old:
            yield f"{kind}-added", title(name, new[name])
    for name in old:
        if name not in new:
            yield f"{kind}-removed", title(name, old[name])
    names = [name for name in old if name in new]
    for name in names:
        if _differ(old[name], new[name]):
            label = title(name, new[name])
            yield from describe(label, old[name], new[name]) if describe else [(f"{kind}-changed", label)]
    if names != [name for name in new if name in old]:
        yield (f"{kind}s-reordered",)


def _title(name: str, question: Any) -> str:
    title = question.get("title") if isinstance(question, Mapping) else None
    return title if isinstance(title, str) else name


def _differ(value: Any, other: Any) -> bool:
    return json.dumps(value, sort_keys=True) != json.dumps(other, sort_keys=True)


GONE = "gone."
"""The prefix of the inputs' names; in a draft, of answers whose question has another answer now."""


@dataclass(frozen=True, slots=True)
class GoneAnswer:
    """One text of an answer whose question or option is gone."""

    name: str
    label: str
    text: str

    @property
    def input_name(self) -> str:
        return GONE + self.name

    @property
    def rows(self) -> int:
        return min(self.text.count("\n") + 1 + len(self.text) // 60, 8)


def gone_answers(fields: Iterable[Field], gone: Inputs) -> tuple[GoneAnswer, ...]:
    """The answers as the page shows them."""
    labels = {field.name: field.label for field in fields}
    return tuple(
        GoneAnswer(name, labels.get(name) or title_of({}, name), text)
        for name, texts in gone.items()
        for text in texts
    )


def unshown_in_form(fields: Sequence[Field], form: MultiDict[str, str]) -> dict[str, list[str]]:
    """The submitted answers that the fields can't show, of a page with an earlier form."""
    by_name, place_of = {field.name: field for field in fields if not field.columns}, cell_finder(fields)
    gone: dict[str, list[str]] = {}
    for name in in_slices(form):
        if name.startswith(PREFIX):
            field = by_name.get(name.removeprefix(PREFIX))
            if field is None and (place := place_of(name)):
                field = place[1]
            texts = lines_in(form, name)
            _add(gone, name.removeprefix(PREFIX), _not_shown(field, texts) if field else texts)
    return gone


def gone_in_form(fields: Sequence[Field], form: MultiDict[str, str]) -> dict[str, list[str]]:
    """The submitted answers that the fields can't show, those of an earlier page included."""
    gone = unshown_in_form(fields, form)
    for name in form:
        if name.startswith(GONE):
            _add(gone, name.removeprefix(GONE), lines_in(form, name))
    return gone


def gone_in_draft(fields: Iterable[Field], draft: Json) -> dict[str, list[str]]:
    """The answers in a draft that the fields can't show."""
    gone: dict[str, list[str]] = {}
    if not isinstance(draft, dict):
        _add(gone, "draft", _texts(draft))
        return gone
    fields = list(fields)
    for field in fields:
        value = value_in(draft, field)
        if field.columns:
            _add(gone, field.name, _without_cell(field, value))
        _add(gone, field.name, _not_shown(field, texts_of(field, value)))
    places = {field.path for field in fields} | {(field.name,) for field in fields}
    for path, value in _leaves(draft, places):
        _add(gone, ".".join(path).removeprefix(GONE), _texts(value))
    return gone


def with_gone(draft: Mapping[str, Json], gone: Inputs) -> dict[str, Json]:
    """The draft with these answers: under their own names, so that they are back if their question is."""
    kept: dict[str, Json] = {
        GONE + name if name in draft else name: texts[0] if len(texts) == 1 else list(texts)
        for name, texts in gone.items()
    }
    return {**draft, **kept}


def _add(gone: dict[str, list[str]], name: str, texts: Iterable[str]) -> None:
    known = gone.get(name, [])
    texts = [*known, *(text for text in texts if text.strip() and text not in known)]
    if texts:
        gone[name] = texts


def _not_shown(field: Field, texts: list[str]) -> list[str]:
    shown = shown_texts(field, texts)
    if field.columns:
        return [text for text, cell in zip(texts, shown, strict=True) if text != cell]
    return [text for text in texts if text not in shown]


def _without_cell(field: Field, value: Json) -> Iterator[str]:
    """The texts of a table's value that belong to no cell."""
    columns = {column.path[-1] for column in field.columns} | ({"text"} if field.text_path else set())
    for number, row in enumerate(rows_in(value), 1):
        if not isinstance(row, dict):
            yield from _texts(row)
            continue
        for name, member in row.items():
            if name not in columns:
                yield f"{number}, {title_of({}, name)}: {plain_text(member)}"


def _leaves(
    value: Mapping[str, Any], places: set[tuple[str, ...]], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The values in a draft that are in the place of no field."""
    for name, inner in value.items():
        inner_path = (*path, name)
        if inner_path in places:
            continue
        if isinstance(inner, dict):
            yield from _leaves(inner, places, inner_path)
        else:
            yield inner_path, inner


def _texts(value: Json) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [plain_text(value) for value in values if value is not None]
