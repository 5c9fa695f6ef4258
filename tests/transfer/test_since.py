"""The answers since a cursor: each once over any number of runs, whatever happens in between."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest

import leaseq
from leaseq import transfer
from leaseq.models import GivenAnswer
from leaseq.transfer import since
from tests.support.taking import take

THEN = datetime(2026, 11, 21, 10, 5, tzinfo=UTC)


class Exporter:
    """Exports again and again, with nothing but the cursor in between."""

    def __init__(self, queue: leaseq.Queue) -> None:
        self._queue = queue
        self.cursor = transfer.BEGINNING

    def __call__(self, most: int | None = None) -> list[tuple[str, int]]:
        answers = transfer.AnswersSince(self._queue, self.cursor)
        found = [(answer.id, answer.token) for answer in islice(answers, most)]
        self.cursor = answers.cursor
        return found


@pytest.fixture
def export(queue: leaseq.Queue) -> Exporter:
    queue.configure()
    return Exporter(queue)


def restored(queue: leaseq.Queue, id: str, token: int, at: datetime) -> None:
    queue.restore(leaseq.NewItem(1, id=id), [GivenAnswer(token, "ann", "1", at, False, True)])


def finish(queue: leaseq.Queue, id: str, person: str = "ann") -> int:
    queue.enqueue({}, id=id)
    lease = take(queue, person)
    queue.finish(lease, {"by": person})
    return lease.token


def test_each_answer_comes_once_in_the_order_of_finishing(export: Exporter, queue: leaseq.Queue) -> None:
    assert (export(), export.cursor) == ([], f"{queue.name}:0")
    first = [("b", finish(queue, "b")), ("a", finish(queue, "a"))]
    assert (export(), export()) == (first, [])
    second = [("d", finish(queue, "d")), ("c", finish(queue, "c"))]
    assert (export(), export()) == (second, [])


@pytest.mark.parametrize("size", [1, 2, 500])
def test_of_equal_times_none_is_left_out_and_none_comes_twice(
    export: Exporter, queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(since, "_PAGE", size)
    for token, id in enumerate(["m", "z", "k"], 1):
        restored(queue, id, token, THEN)
    assert export(2) == [("k", 3), ("m", 1)]
    restored(queue, "a", 4, THEN)  # before those that were exported, by its name
    restored(queue, "x", 5, THEN)
    assert sorted(export()) == [("a", 4), ("x", 5), ("z", 2)]
    restored(queue, "b", 6, THEN)
    restored(queue, "c", 7, THEN + timedelta(microseconds=1))
    assert export() == [("b", 6), ("c", 7)]
    assert export() == []


def test_what_a_manager_makes_an_answer_comes_when_they_do(export: Exporter, queue: leaseq.Queue) -> None:
    queue.enqueue({}, id="late")
    late = take(queue, "bob")
    queue.release("late")
    after = take(queue, "ann")
    with pytest.raises(leaseq.LeaseLost):
        queue.finish(late, {"by": "bob"})
    queue.finish(after, {"by": "ann"})
    assert export() == [("late", after.token)]
    queue.adopt("late", late.token)
    assert export() == [("late", late.token)]
    queue.correct("late", late.token, {"by": "boss"}, by="boss")
    ((id, token),) = export()
    assert (id, token > after.token, export()) == ("late", True, [])


def test_what_is_deleted_in_between_is_no_obstacle(export: Exporter, queue: leaseq.Queue) -> None:
    finish(queue, "a")
    export()
    queue.remove("a")
    token = finish(queue, "b")
    assert export() == [("b", token)]


def test_each_answer_of_an_item_with_several_comes(export: Exporter, queue: leaseq.Queue) -> None:
    queue.configure(answers=2)
    queue.enqueue({}, id="a")
    one, two = take(queue, "ann"), take(queue, "bob")
    queue.finish(two, 2)
    assert export() == [("a", two.token)]
    queue.finish(one, 1)
    assert (export(), export()) == ([("a", one.token)], [])


@pytest.mark.parametrize(
    "cursor",
    ["", "x", "5", "Q:1", ":1", "q:", "q:-1", "q:1.", "q:.1", "q:1..2", "q:1.x", "q:" + "1" * 17, "q:1\n",
     "q:１", "q:1.5.6 "],
)  # fmt: skip
def test_what_is_no_cursor_is_refused(queue: leaseq.Queue, cursor: str) -> None:
    with pytest.raises(leaseq.Invalid, match="is no cursor"):
        transfer.AnswersSince(queue, cursor)


def test_a_cursor_is_of_one_queue(export: Exporter, queue: leaseq.Queue) -> None:
    """Also of one that was deleted and made again: what it was given is new."""
    finish(queue, "a")
    export()
    with pytest.raises(leaseq.Invalid, match=f"this one is of the queue {queue.name!r}") as refused:
        transfer.AnswersSince(leaseq.Queue(queue._client, "another"), export.cursor)
    assert (refused.value.field, "a cursor of the queue 'another'" in refused.value.limit) == ("after", True)
    queue.delete()
    token = finish(queue, "a")
    assert export() == [("a", token)]
