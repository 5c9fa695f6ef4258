"""Answers to questions and options that a form no longer has: a manager changed it while somebody worked.

The page shows them with the new form and submits them as ``gone.NAME``, so that drafts keep them. A page that
submits one as ``answer.NAME`` has an earlier form, and its person has not seen the new one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from werkzeug.datastructures import MultiDict

from leaseq import Json
from leaseq.webapp.forms.choices import plain_text
from leaseq.webapp.forms.fields import PREFIX, Field, title_of
from leaseq.webapp.forms.parsing import Typed, lines_in, shown_texts, texts_of, value_in

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


def gone_answers(fields: Iterable[Field], gone: Typed) -> tuple[GoneAnswer, ...]:
    """The answers as the page shows them."""
    labels = {field.name: field.label for field in fields}
    return tuple(
        GoneAnswer(name, labels.get(name) or title_of({}, name), text)
        for name, texts in gone.items()
        for text in texts
    )


def unseen_in_form(fields: Iterable[Field], form: MultiDict[str, str]) -> dict[str, list[str]]:
    """The submitted answers that the fields can't show, of a page with an earlier form."""
    by_name = {field.name: field for field in fields}
    gone: dict[str, list[str]] = {}
    for name in form:
        if name.startswith(PREFIX):
            field = by_name.get(name.removeprefix(PREFIX))
            texts = lines_in(form, name)
            _add(gone, name.removeprefix(PREFIX), _not_shown(field, texts) if field else texts)
    return gone


def gone_in_form(fields: Iterable[Field], form: MultiDict[str, str]) -> dict[str, list[str]]:
    """The submitted answers that the fields can't show, those of an earlier page included."""
    gone = unseen_in_form(fields, form)
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
        _add(gone, field.name, _not_shown(field, texts_of(field, value_in(draft, field))))
    places = {field.path for field in fields} | {(field.name,) for field in fields}
    for path, value in _leaves(draft, places):
        _add(gone, ".".join(path).removeprefix(GONE), _texts(value))
    return gone


def with_gone(draft: Mapping[str, Json], gone: Typed) -> dict[str, Json]:
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
    return [text for text in texts if text not in shown]


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
    return [plain_text(one) for one in values if one is not None]
