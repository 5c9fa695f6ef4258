"""`Answer.changed`: what people answered otherwise than the form prefilled it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

import leaseq
from leaseq.transfer import answer_shape
from tests.support.leases import take
from tests.support.round_trips import count_round_trips

FORM = {
    "ask": {
        "type": "object",
        "properties": {"label": {"type": "string"}, "stars": {"type": "number"}, "note": {"type": "string"}},
    },
    "prefill": {"stars": "guess.stars", "label": "guess.label", "note": "guess.note"},
}
PAYLOAD = {"text": "Great", "guess": {"label": "praise", "stars": 5}}


@pytest.mark.parametrize(
    ("result", "changed"),
    [
        ({"label": "praise", "stars": 5}, ()),
        ({"stars": 5.0, "label": "praise", "note": "not prefilled"}, ()),
        ({"label": "blame", "stars": 5}, ("label",)),
        ({"label": "blame", "stars": 1}, ("stars", "label")),
        ({"stars": 5}, ("label",)),
    ],
)
def test_answer_names_the_questions_answered_otherwise(
    queue: leaseq.Queue, result: Any, changed: tuple[str, ...]
) -> None:
    queue.configure(form=FORM)
    queue.enqueue(PAYLOAD, id="r-1")
    queue.finish(take(queue, "ann"), result)

    (answer,) = queue.get("r-1").answers
    assert answer.changed == changed
    assert [line.changed for line in queue.answers()] == [changed]
    assert [item.answers[0].changed for item in queue.items("finished")] == [changed]
    assert answer_shape(answer)["changed"] == list(changed)


def test_late_and_corrected_answers_are_compared(queue: leaseq.Queue) -> None:
    queue.configure(form=FORM)
    queue.enqueue(PAYLOAD, id="r-1")
    lease = take(queue, "ann")
    queue.finish(lease, {"label": "blame", "stars": 5})

    item = queue.correct("r-1", lease.token, {"label": "praise", "stars": 4}, by="boss")

    assert [answer.changed for answer in item.answers] == [("stars",)]
    assert [answer.changed for answer in item.late_answers] == [("label",)]
    assert [answer.changed for item in queue.late_items() for answer in item.late_answers] == [("label",)]
    assert [answer.changed for answer in queue.late_page().items[0].late_answers] == [("label",)]


def test_without_a_prefilled_form_nothing_is_changed(queue: leaseq.Queue) -> None:
    queue.enqueue(PAYLOAD, id="r-1")
    queue.finish(take(queue, "ann"), {"label": "blame"})
    assert queue.get("r-1").answers[0].changed == ()


def test_walk_reads_the_form_once_for_many_items(
    queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue.configure(form=FORM)
    queue.enqueue_many(PAYLOAD for _ in range(20))
    for _ in range(20):
        lease = take(queue, "ann")
        queue.finish(lease, {"label": "blame"})
        queue.correct(lease.id, lease.token, {"label": "praise"}, by="boss")
    walks: tuple[Callable[[], Iterable[object]], ...] = (queue.late_items, lambda: queue.person_items("ann"))
    for walk in walks:
        with count_round_trips(monkeypatch) as trips:
            assert len(list(walk())) == 20
        assert trips.count < 10, walk
