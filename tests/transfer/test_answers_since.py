"""The answers since a cursor: each exactly once over any number of runs, despite changes in between."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

import pytest

import leaseq
from leaseq import transfer
from leaseq.models import GivenAnswer
from leaseq.transfer import writing
from tests.support.leases import take
from tests.support.refused import refused

THEN = datetime(2026, 11, 21, 10, 5, tzinfo=UTC)


class Exporter:
    """Exports repeatedly; only the cursor is kept between the runs."""

    def __init__(self, queue: leaseq.Queue) -> None:
        self._queue = queue
        self.cursor = transfer.BEGINNING

    def __call__(self, limit: int | None = None) -> list[tuple[str, int]]:
        answers = transfer.AnswersSince(self._queue, self.cursor)
        pairs = [(answer.id, answer.token) for answer in islice(answers, limit)]
        self.cursor = answers.cursor
        return pairs


@pytest.fixture
def export(queue: leaseq.Queue) -> Exporter:
    queue.configure()
    return Exporter(queue)


def restore_answer(queue: leaseq.Queue, id: str, token: int, at: datetime) -> None:
    queue.restore(leaseq.NewItem(1, id=id), [GivenAnswer(token, "ann", 1, at, False, True)])


def finish(queue: leaseq.Queue, id: str, person: str = "ann") -> int:
    queue.enqueue({}, id=id)
    lease = take(queue, person)
    queue.finish(lease, {"by": person})
    return lease.token


def test_each_answer_is_exported_once_in_order_of_finishing(export: Exporter, queue: leaseq.Queue) -> None:
    assert (export(), export.cursor) == ([], f"{queue.name}:0")
    first = [("b", finish(queue, "b")), ("a", finish(queue, "a"))]
    assert (export(), export()) == (first, [])
    second = [("d", finish(queue, "d")), ("c", finish(queue, "c"))]
    assert (export(), export()) == (second, [])


@pytest.mark.parametrize("size", [1, 2, 500])
def test_answers_with_equal_times_are_exported_exactly_once(
    export: Exporter, queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(writing, "_PAGE", size)
    for token, id in enumerate(["m", "z", "k"], 1):
        restore_answer(queue, id, token, THEN)
    assert export(2) == [("k", 3), ("m", 1)]
    restore_answer(queue, "a", 4, THEN)  # by its name it sorts before those already exported
    restore_answer(queue, "x", 5, THEN)
    assert sorted(export()) == [("a", 4), ("x", 5), ("z", 2)]
    restore_answer(queue, "b", 6, THEN)
    restore_answer(queue, "c", 7, THEN + timedelta(microseconds=1))
    assert export() == [("b", 6), ("c", 7)]
    assert export() == []


def test_adopted_or_corrected_answer_is_exported_after_the_change(
    export: Exporter, queue: leaseq.Queue
) -> None:
    queue.enqueue({}, id="late")
    late_lease = take(queue, "bob")
    queue.release("late")
    later_lease = take(queue, "ann")
    with pytest.raises(leaseq.LeaseLost):
        queue.finish(late_lease, {"by": "bob"})
    queue.finish(later_lease, {"by": "ann"})
    assert export() == [("late", later_lease.token)]
    queue.adopt("late", late_lease.token)
    assert export() == [("late", late_lease.token)]
    queue.correct("late", late_lease.token, {"by": "boss"}, by="boss")
    ((id, token),) = export()
    assert (id, token > later_lease.token, export()) == ("late", True, [])


def test_export_continues_after_removal_of_the_last_exported_item(
    export: Exporter, queue: leaseq.Queue
) -> None:
    finish(queue, "a")
    export()
    queue.remove("a")
    token = finish(queue, "b")
    assert export() == [("b", token)]


def test_each_of_several_answers_of_an_item_is_exported(export: Exporter, queue: leaseq.Queue) -> None:
    queue.configure(answers=2)
    queue.enqueue({}, id="a")
    anns, bobs = take(queue, "ann"), take(queue, "bob")
    queue.finish(bobs, 2)
    assert export() == [("a", bobs.token)]
    queue.finish(anns, 1)
    assert (export(), export()) == ([("a", anns.token)], [])


def test_limited_export_scans_no_more_answers_than_needed(
    export: Exporter, queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = [finish(queue, f"i{number}") for number in range(9)]
    find, scanned = queue.find, []

    def count_scans(*arguments: Any, **options: Any) -> leaseq.Page:
        page = find(*arguments, **options)
        scanned.append(page.scanned)
        return page

    monkeypatch.setattr(queue, "find", count_scans)
    parts, cursor = [], transfer.BEGINNING
    for _ in range(3):
        answers = transfer.AnswersSince(queue, cursor, limit=3)
        parts.append(([answer.token for answer in answers], answers.more))
        cursor = answers.cursor
    assert parts == [(tokens[:3], True), (tokens[3:6], True), (tokens[6:], False)]
    assert scanned == [3, 4, 4], "only the cursor's last answer is read again"
    last_page = transfer.AnswersSince(queue, cursor, limit=3)
    assert (list(last_page), last_page.more, last_page.cursor) == ([], False, cursor)
    assert [answer.token for answer in transfer.AnswersSince(queue, limit=2**53)] == tokens
    with refused("range", "limit"):
        transfer.AnswersSince(queue, limit=0)


def test_cursor_after_many_answers_with_equal_times_is_short(export: Exporter, queue: leaseq.Queue) -> None:
    ids = sorted(f"ü{number:03}" for number in range(120))
    for token, id in enumerate(ids, 1):
        restore_answer(queue, id, token, THEN)
    pairs = export(101) + export(10)
    assert len(export.cursor) < 100
    queue.remove(pairs[-1][0])
    pairs += export()
    assert ([id for id, _ in pairs], export()) == (ids, [])
    restore_answer(queue, "b", 500, THEN + timedelta(microseconds=1))
    token = finish(queue, "a")
    assert (export(1), export(), export()) == ([("b", 500)], [("a", token)], [])
    assert export.cursor.endswith(f".{token}")


@pytest.mark.parametrize(
    "cursor",
    ["", "x", "5", "Q:1", ":1", "q:", "q:-1", "q:1.", "q:.1", "q:1..2", "q:1.x", "q:" + "1" * 17, "q:1\n",
     "q:１", "q:1.5.6 ", "q:1/", "q:1.2/eA==", "q:1/x", "q:1/_w==", "q:1/" + "x" * 1101],
)  # fmt: skip
def test_invalid_cursor_is_refused(queue: leaseq.Queue, cursor: str) -> None:
    with refused("format", "after", what="answers_cursor"):
        transfer.AnswersSince(leaseq.Queue(queue._client, "q"), cursor)


def test_cursor_of_another_queue_is_refused(export: Exporter, queue: leaseq.Queue) -> None:
    """A cursor stays valid if its queue is deleted and created again: the new answers count as new."""
    finish(queue, "a")
    export()
    with refused("other_queues_cursor", "after", other=queue.name) as error:
        transfer.AnswersSince(leaseq.Queue(queue._client, "another"), export.cursor)
    assert (error.value.field, "a cursor of the queue 'another'" in error.value.limit) == ("after", True)
    queue.delete()
    token = finish(queue, "a")
    assert export() == [("a", token)]
