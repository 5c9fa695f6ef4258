"""Passages of a text are checked against the item's payload, whoever sends them."""

from __future__ import annotations

import tracemalloc
from random import Random
from typing import Any

import pytest

import leaseq
from leaseq import Invalid, Json, TooLarge
from leaseq.form import check_result
from leaseq.form.passages import check_passages, with_words
from leaseq.simulation.people import answer_to
from tests.support.leases import take
from tests.support.passages import passages_of

TEXT = "Ann 👩‍👩‍👧 is nai\u0308ve.\r\n\U0001f600 bye"
MARKS = {**passages_of("letter.body"), "maxItems": 200}
FORM: dict[str, Any] = {"ask": {"type": "object", "properties": {"marks": MARKS, "note": {"type": "string"}}}}
PAYLOAD = {"letter": {"body": TEXT}}


def mark(start: Json, end: Json, label: Json = "name", **more: Json) -> dict[str, Json]:
    return {"start": start, "end": end, "label": label, **more}


GOOD: list[list[dict[str, Json]]] = [
    [],
    [mark(0, 3)],
    [mark(0, len(TEXT)), mark(4, 9, "mood"), mark(0, 3), mark(0, 3)],  # they overlap, and one is there twice
    [mark(4, 9, text="👩‍👩‍👧")],
    [mark(13, 19, text="nai\u0308ve")],
    [mark(19, 23, text=".\r\n\U0001f600")],
    [mark(0.0, 3.0)],  # whole numbers in JSON
    [mark(n % 20, n % 20 + 1) for n in range(200)],
]
BAD: list[tuple[Json, str]] = [
    ([mark(0, 3), mark(0, len(TEXT) + 1)], "marks.1"),
    ([mark(len(TEXT), len(TEXT) + 1)], "marks.0"),
    ([mark(3, 3)], "marks.0"),
    ([mark(3, 0)], "marks.0"),
    ([mark(0, -1)], "marks.0"),
    ([mark(-3, 3)], "marks.0.start"),
    ([mark(0, 10**30)], "marks.0"),
    ([mark(0, 1e300)], "marks.0"),
    ([mark(0, 3, text="Bob")], "marks.0"),
    ([mark(0.5, 3)], "marks.0.start"),
    ([mark("0", 3)], "marks.0.start"),
    ([mark(False, 3)], "marks.0.start"),
    ([mark(0, None)], "marks.0.end"),
    ([mark(0, 3, "other")], "marks.0.label"),
    ([mark(0, 3, more=1)], "marks.0"),
    ([{"start": 0, "end": 3}], "marks.0"),
    (["Ann"], "marks.0"),
    ([[0, 3]], "marks.0"),
    (mark(0, 3), "marks"),
    ([mark(0, 1)] * 201, "marks"),
]


def refused(form: Json, payload: Json, marks: Json) -> list[str]:
    """The paths of what is refused."""
    try:
        check_result(form, {"marks": marks})
        check_passages(form, payload, {"marks": marks})
    except Invalid as error:
        return list(error.refusals)
    return []


def test_passages_are_within_the_text_in_code_points() -> None:
    assert TEXT[19:23] == ".\r\n\U0001f600"
    for good in GOOD:
        assert refused(FORM, PAYLOAD, good) == [], good
    for bad, path in BAD:
        assert refused(FORM, PAYLOAD, bad) == [path], bad


PAYLOADS_WITHOUT_TEXT: list[Json] = [
    None,
    [],
    "text",
    {"letter": "body"},
    {"letter": {"body": ["a", "b"]}},
    {"letter": {"body": None}},
]
ODD: list[Json] = [[1], [{}], [{"start": "a", "end": 2}], [{"start": True, "end": 2}], [None]]


def test_a_payload_without_the_text_has_no_passages() -> None:
    for payload in PAYLOADS_WITHOUT_TEXT:
        assert refused(FORM, payload, [mark(0, 1)]) == ["marks"], payload
        assert refused(FORM, payload, []) == []
    assert refused(FORM, {"letter.body": "abc"}, [mark(0, 3)]) == []  # a name with a dot
    assert refused(FORM, {"letter": {"body": ""}}, [mark(0, 1)]) == ["marks.0"]


def test_schema_alone_does_not_bound_what_is_checked() -> None:
    form = {
        "ask": {"type": "object", "properties": {"marks": {"x-widget": "passages", "x-text": "letter.body"}}}
    }
    for odd in ODD:
        assert refused(form, PAYLOAD, odd) == ["marks.0"]
    assert refused(form, PAYLOAD, "not a list") == []
    assert len(refused(form, PAYLOAD, [None] * 500)) == 100


def test_words_are_taken_from_the_text_if_the_form_has_them() -> None:
    result = {"marks": [mark(4, 9), mark(0, 3, text="Bob"), mark(0, 999)], "note": "a note"}
    assert with_words(FORM, PAYLOAD, result) == {
        "marks": [mark(4, 9, text="👩‍👩‍👧"), mark(0, 3, text="Ann"), mark(0, 999)],
        "note": "a note",
    }
    assert with_words(FORM, {}, result) == result
    without = {"start": {"type": "integer"}, "end": {"type": "integer"}}
    plain = {**MARKS, "items": {"type": "object", "properties": without}}
    form = {"ask": {"type": "object", "properties": {"marks": plain}}}
    assert with_words(form, PAYLOAD, result) == result


def test_many_long_passages_are_refused_before_they_are_copied() -> None:
    payload = {"letter": {"body": "x" * 200_000}}
    words = with_words(FORM, payload, {"marks": [mark(0, 100_000)] * 2})["marks"]
    assert [len(passage["text"]) for passage in words] == [100_000, 100_000]
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge, check=lambda error: error.values["count"] == 400_000_000):
            with_words(FORM, payload, {"marks": [mark(0, 200_000)] * 2_000})
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_finish_and_correct_check_passages(queue: leaseq.Queue) -> None:
    queue.configure(form=FORM)
    queue.enqueue(PAYLOAD, id="one")
    lease = take(queue, "ann")
    with pytest.raises(Invalid) as caught:
        queue.finish(lease, {"marks": [mark(0, 999)]})
    assert caught.value.refusals["marks.0"].values["maximum"] == len(TEXT)
    good = {"marks": [mark(0, 3)]}
    queue.finish(lease, good)
    with pytest.raises(Invalid) as caught:
        queue.correct("one", lease.token, {"marks": [mark(3, 0)]}, by="meg")
    assert list(caught.value.refusals) == ["marks.0"]
    assert queue.correct("one", lease.token, {"marks": [mark(4, 9)]}, by="meg").answers[0].result == {
        "marks": [mark(4, 9)]
    }
    with pytest.raises(leaseq.ItemNotFound):
        queue.correct("two", 1, good, by="meg")


def test_simulated_people_mark_passages_of_the_text() -> None:
    rng = Random(1)
    for _ in range(50):
        answer = answer_to(FORM, rng, PAYLOAD)
        assert refused(FORM, PAYLOAD, answer.get("marks", [])) == []
        assert not answer_to(FORM, rng, {"letter": {"body": ""}}).get("marks")
