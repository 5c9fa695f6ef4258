"""A choice in a tree: the labels of its options are paths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from werkzeug.datastructures import MultiDict

import leaseq
from leaseq import Invalid, Json
from leaseq.form import check_result
from leaseq.webapp.forms.changes import gone_in_form
from leaseq.webapp.forms.choices import MAX_LEVELS, tree_of
from leaseq.webapp.forms.fields import Field, fields_of
from leaseq.webapp.forms.inputs import read_inputs
from leaseq.webapp.forms.parsing import draft_of, inputs_of, read_result
from tests.web.conftest import Browser
from tests.web.elements import attributes, elements, form_fields
from tests.web.work_pages import path, send, take


def form_of(schema: dict[str, Any]) -> dict[str, Any]:
    return {"ask": {"type": "object", "properties": {"what": {"x-widget": "tree", **schema}}}}


@pytest.fixture
def _request_context(app: Flask) -> Iterator[None]:
    with app.test_request_context():
        yield


def shape(field: Field) -> list[tuple[int, str, Json]]:
    options = tree_of(field.choices, field.separator)
    return [(option.depth, option.name, option.choice and option.choice.value) for option in options]


@pytest.mark.usefixtures("_request_context")
def test_paths_become_a_tree_with_parents_first() -> None:
    paths = ["Animals / Dogs", "Plants", "Animals / Cats / Wild", "Animals", "Animals/Cats", " / x"]
    (field,) = fields_of(form_of({"enum": paths}))
    assert shape(field) == [
        (0, "Animals", "Animals"),
        (1, "Dogs", "Animals / Dogs"),
        (1, "Cats", "Animals/Cats"),
        (2, "Wild", "Animals / Cats / Wild"),
        (0, "Plants", "Plants"),
        (0, "", None),
        (1, "x", " / x"),
    ]
    coded = {"oneOf": [{"const": 7, "title": "A > B"}, {"const": "b", "title": "A > C"}], "x-separator": ">"}
    assert shape(fields_of(form_of(coded))[0]) == [(0, "A", None), (1, "B", 7), (1, "C", "b")]
    for odd in ("", 3, None):
        (field,) = fields_of(form_of({"enum": ["A/B"], "x-separator": odd}))
        assert shape(field) == [(0, "A", None), (1, "B", "A/B")]
    (deep,) = fields_of(form_of({"enum": ["a", "a/" * 5_000 + "z"]}))
    *_, (depth, name, value) = shape(deep)
    assert (depth, name.endswith("/z"), value) == (MAX_LEVELS - 1, True, "a/" * 5_000 + "z")
    (same,) = fields_of(form_of({"oneOf": [{"const": 1, "title": "A / B"}, {"const": 2, "title": "A / B"}]}))
    assert [name for _depth, name, _value in shape(same)] == ["A", "B (1)", "B (2)"]


@pytest.mark.usefixtures("_request_context")
def test_only_its_choices_are_answers() -> None:
    form = form_of({"enum": ["Animals / Dogs", "Animals / Cats"]})
    fields = fields_of(form)
    for text in ("Animals / Dogs", "", "Animals", "animals / dogs"):
        value = text if text == "Animals / Dogs" else None
        sent = MultiDict([("answer.what", text)])
        result, errors = read_result(fields, read_inputs(fields, sent))
        assert result.get("what") == value
        assert bool(errors) == (value is None and text != "")
        assert gone_in_form(fields, sent) == ({"what": [text]} if errors else {})  # shown beside the tree
    assert inputs_of(fields, draft_of(fields, {"what": ["Animals / Dogs"]})) == {"what": ["Animals / Dogs"]}
    for other in ("Animals", ["Animals", "Dogs"], 3, "Animals / Dogs "):
        with pytest.raises(Invalid):
            check_result(form, {"what": other})


def test_tree_is_a_select_without_script(queue: leaseq.Queue, worker_browser: Browser) -> None:
    paths = [f"Level {a} / Level {b} / Kind {c}" for a in range(10) for b in range(10) for c in range(30)]
    queue.configure(form={**form_of({"enum": paths}), "prefill": {"what": "guess"}})
    queue.enqueue({"guess": paths[5]}, id="one")
    lease = take(queue, worker_browser)
    page = worker_browser.get(path(queue)).text
    assert form_fields(page, "answer")["answer.what"] == paths[5]
    assert len(elements(page, "[name='answer.what'] option[disabled]")) == 10 + 100
    assert attributes(page, "[name='answer.what'] option:nth-child(-n+4)", "value") == ["", "", "", paths[0]]
    fields = form_fields(page, "answer")
    send(queue, worker_browser, lease, "finish", **{**fields, "answer.what": paths[-1]})
    assert queue.get("one").answers[0].result == {"what": paths[-1]}
