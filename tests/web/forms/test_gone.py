"""Answers to questions and options that a form no longer has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from werkzeug.datastructures import MultiDict

from leaseq import Json
from leaseq.webapp.forms.changes import gone_answers, gone_in_draft, gone_in_form, with_gone
from leaseq.webapp.forms.fields import fields_of
from leaseq.webapp.forms.inputs import read_inputs
from leaseq.webapp.forms.parsing import draft_of, inputs_of


@pytest.fixture(autouse=True)
def _request_context(app: Flask) -> Iterator[None]:
    with app.test_request_context():
        yield


TEXT: dict[str, Any] = {"type": "string"}
ABC: dict[str, Any] = {"enum": ["a", "b", "c"]}
SEVERAL: dict[str, Any] = {"type": "array", "items": ABC}
RANKING: dict[str, Any] = {**SEVERAL, "minItems": 3, "maxItems": 3, "uniqueItems": True}
RANKING_D: dict[str, Any] = {**RANKING, "items": {"enum": ["a", "b", "d"]}}
PLACE: dict[str, Any] = {"type": "object", "properties": {"town": TEXT, "right": {"type": "boolean"}}}


def form_of(**properties: Any) -> Json:
    return {"ask": {"type": "object", "properties": properties}}


@pytest.mark.parametrize(
    ("before", "typed", "after", "gone"),
    [
        ({"note": TEXT}, {"note": ["my\nwords"]}, {"comment": TEXT}, {"note": ["my\nwords"]}),
        ({"x": ABC}, {"x": ["a"]}, {"x": {"enum": ["A", "B"]}}, {"x": ["a"]}),
        ({"x": SEVERAL}, {"x": ["a", "c"]}, {"x": {"type": "array", "items": {"enum": ["a"]}}}, {"x": ["c"]}),
        ({"x": SEVERAL}, {"x": ["a", "c"]}, {"y": TEXT}, {"x": ["a", "c"]}),
        ({"x": SEVERAL}, {"x": ["a", "b"]}, {"x": ABC}, {"x": ["b"]}),
        ({"x": RANKING}, {"x": ["c", "b", "a"]}, {"x": RANKING_D}, {"x": ["c"]}),
        ({"place": PLACE}, {"place.town": ["Ulm"], "place.right": ["false"]}, {"y": TEXT},
         {"place.town": ["Ulm"], "place.right": ["false"]}),
        ({"place": PLACE}, {"place.town": ["Ulm"], "place.right": []},
         {"place": {"type": "object", "properties": {"city": TEXT}}}, {"place.town": ["Ulm"]}),
        ({"n": {"type": "integer"}}, {"n": ["forty"]}, {"m": {"type": "integer"}}, {"n": ["forty"]}),
        ({"x": TEXT}, {"x": ["two\nlines"]}, {"x": {"type": "number"}}, {"x": ["two\nlines"]}),
    ],
)  # fmt: skip
def test_what_the_new_form_can_not_show_is_gone_and_kept_in_drafts(
    before: Any, typed: dict[str, list[str]], after: Any, gone: dict[str, list[str]]
) -> None:
    old_fields, fields = fields_of(form_of(**before)), fields_of(form_of(**after))
    old_draft = draft_of(old_fields, typed)
    assert {name: sorted(texts) for name, texts in gone_in_draft(fields, old_draft).items()} == gone

    sent = MultiDict([(f"answer.{name}", text) for name, texts in typed.items() for text in texts])
    assert gone_in_form(fields, sent) == gone
    draft = with_gone(draft_of(fields, read_inputs(fields, sent)), gone)
    assert gone_in_draft(fields, draft) == gone
    assert [(one.name, one.text) for one in gone_answers(fields, gone)] == [
        (name, text) for name, texts in gone.items() for text in texts
    ]
    if "x" not in after:  # the question comes back: so does its answer
        shown = inputs_of(old_fields, draft)
        assert all(sorted(shown[name]) == sorted(texts) for name, texts in typed.items())
        assert gone_in_draft(old_fields, draft) == {}


def test_answer_that_was_gone_stays_when_its_question_gets_another() -> None:
    fields = fields_of(form_of(x={"enum": ["A", "B"]}))
    sent = MultiDict([("answer.x", "B"), ("gone.x", "a"), ("gone.note", "words")])
    draft = with_gone(draft_of(fields, read_inputs(fields, sent)), gone_in_form(fields, sent))
    assert inputs_of(fields, draft) == {"x": ["B"]}
    assert gone_in_draft(fields, draft) == {"x": ["a"], "note": ["words"]}


def test_nothing_is_gone_from_a_draft_of_the_same_form() -> None:
    form = form_of(
        x=ABC, s=SEVERAL, r=RANKING, place=PLACE, n={"type": "number"}, o={"type": "object"}, note=TEXT
    )
    fields = fields_of(form)
    drafts: list[Json] = [
        {"x": "a", "s": ["a", "b"], "r": ["c", "b", "a"], "n": 1.5, "o": {"k": {"l": []}}, "note": " "},
        {"place": {"town": "Ulm", "right": False}, "r": ["c", "", ""], "n": "1.", "o": "{", "x": None},
        {"place.town": "Ulm"},
        {},
        None,
    ]
    for draft in drafts:
        assert gone_in_draft(fields, draft) == {}
    assert gone_in_draft(fields, "of another program") == {"draft": ["of another program"]}
