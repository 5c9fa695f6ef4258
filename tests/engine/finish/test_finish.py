from __future__ import annotations

import json
from collections.abc import Callable

import pytest

import leaseq
from leaseq import NewItem
from tests.conftest import Clock
from tests.engine.conftest import Sets

Take = Callable[[str], leaseq.Lease]


@pytest.fixture(autouse=True)
def items(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue_many(NewItem({"n": n}, id=id) for n, id in enumerate("abc"))


def test_answer_is_stored_unchanged(timed_queue: leaseq.Queue, take: Take, sets: Sets) -> None:
    result = {"label": "ü", "note": "two\nlines\n\nand\ttabs", "n": [1, 2.5, None]}
    lease = take("ann")
    assert timed_queue.finish(lease, result) == leaseq.Finished("a", late=False, replayed=False)
    item = timed_queue.get("a")
    [answer] = item.answers
    assert item.state == "finished"
    assert item.leases == ()
    assert (answer.result, answer.person, answer.token, answer.attempt) == (result, "ann", lease.token, 1)
    assert (answer.payload, answer.late) == ({"n": 0}, False)
    assert sets()["finished"] == ["a"]
    assert sets()["reserved"] == []
    assert timed_queue.mine("ann") == []


@pytest.mark.parametrize("result", [None, 0, "", [], {}, "text"])
def test_any_json_result_is_accepted_without_form(
    timed_queue: leaseq.Queue, take: Take, result: object
) -> None:
    timed_queue.finish(take("ann"), result)
    assert timed_queue.get("a").answers[0].result == result


def test_repeated_finish_succeeds_and_counts_once(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    lease = take("ann")
    timed_queue.finish(lease, {"x": 1})
    before = timed_queue.get("a")
    clock.tick(1000)
    assert timed_queue.finish(lease, {"x": 1}) == leaseq.Finished("a", late=False, replayed=True)
    assert timed_queue.get("a") == before
    assert timed_queue.stats().counters["finished"] == 1
    assert [e.what for e in timed_queue.journal()].count("finished") == 1


@pytest.mark.parametrize("with_clear", [False, True])
def test_answer_after_expiry_counts_if_item_was_not_reserved_again(
    timed_queue: leaseq.Queue, take: Take, clock: Clock, sets: Sets, with_clear: bool
) -> None:
    lease = take("ann")
    clock.tick(301)
    if with_clear:
        timed_queue.clear()
        assert "a" in sets()["inbound"]
    assert timed_queue.finish(lease, {"x": 1}).late
    assert timed_queue.finish(lease, {"x": 1}) == leaseq.Finished("a", late=True, replayed=True)
    assert timed_queue.get("a").answers[0].late
    assert sets() == {"inbound": ["b", "c"], "reserved": [], "scheduled": [], "finished": ["a"], "dead": []}


def test_late_answer_counts_for_item_that_died_by_expiry(
    timed_queue: leaseq.Queue, take: Take, clock: Clock, sets: Sets
) -> None:
    timed_queue.configure(max_attempts=1)
    lease = take("ann")
    clock.tick(301)
    timed_queue.clear()
    assert sets()["dead"] == ["a"]
    assert timed_queue.finish(lease, {}).late
    assert sets()["dead"] == []
    assert sets()["finished"] == ["a"]


def test_late_answer_counts_for_revived_item(
    timed_queue: leaseq.Queue, take: Take, clock: Clock, sets: Sets
) -> None:
    timed_queue.configure(max_attempts=1)
    lease = take("ann")
    clock.tick(301)
    timed_queue.clear()
    timed_queue.revive("a")
    assert timed_queue.finish(lease, {}).late
    assert sets()["finished"] == ["a"]
    assert sets()["inbound"] == ["b", "c"]


def test_answer_after_grant_to_another_person_is_refused_and_kept(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    stale = take("ann")
    clock.tick(301)
    current = take("bob")
    with pytest.raises(leaseq.LeaseLost) as error:
        timed_queue.finish(stale, {"by": "ann"})
    assert error.value.values["what"] == "reserved"
    assert error.value.answer_kept
    assert error.value.item.state == "reserved"
    item = timed_queue.get("a")
    assert [(a.person, a.token, a.result, a.late) for a in item.late_answers] == [
        ("ann", stale.token, {"by": "ann"}, True)
    ]
    assert item.leases[0].person == "bob"
    timed_queue.finish(current, {"by": "bob"})
    assert timed_queue.get("a").answers[0].result == {"by": "bob"}
    assert timed_queue.get("a").late_answers == item.late_answers


def test_a_refused_answer_sent_twice_is_kept_once(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    stale = take("ann")
    clock.tick(301)
    take("bob")
    for _ in range(2):
        with pytest.raises(leaseq.LeaseLost):
            timed_queue.finish(stale, {"x": 1})
        clock.tick(5)
    assert len(timed_queue.get("a").late_answers) == 1
    assert timed_queue.stats().counters["late"] == 1


def test_different_answer_with_same_token_is_kept_as_late_answer(
    timed_queue: leaseq.Queue, take: Take
) -> None:
    lease = take("ann")
    timed_queue.finish(lease, {"x": 1})
    with pytest.raises(leaseq.LeaseLost) as error:
        timed_queue.finish(lease, {"x": 2})
    assert error.value.values["what"] == "answered"
    assert error.value.answer_kept
    item = timed_queue.get("a")
    assert [a.result for a in item.answers] == [{"x": 1}]
    assert [a.result for a in item.late_answers] == [{"x": 2}]


@pytest.mark.parametrize("verb", ["abandon", "fail", "release"])
def test_an_answer_after_the_lease_was_ended_is_refused_and_kept(
    timed_queue: leaseq.Queue, take: Take, verb: str
) -> None:
    lease = take("ann")
    calls: dict[str, Callable[[], object]] = {
        "abandon": lambda: timed_queue.abandon(lease),
        "fail": lambda: timed_queue.fail(lease, "no"),
        "release": lambda: timed_queue.release("a"),
    }
    calls[verb]()
    with pytest.raises(leaseq.LeaseLost) as error:
        timed_queue.finish(lease, {"typed": "much"})
    assert error.value.answer_kept
    assert timed_queue.get("a").late_answers[0].result == {"typed": "much"}


@pytest.mark.parametrize(("token", "person"), [(99, "ann"), (1, "bob"), (2**53, "ann")])
def test_answer_with_token_never_granted_to_person_is_refused_and_not_kept(
    timed_queue: leaseq.Queue, take: Take, token: int, person: str
) -> None:
    take("ann")
    with pytest.raises(leaseq.LeaseLost) as error:
        timed_queue.finish(id="a", token=token, person=person, result={})
    assert not error.value.answer_kept
    assert timed_queue.get("a").late_answers == ()


def test_finish_of_removed_item_raises_item_not_found(timed_queue: leaseq.Queue, take: Take) -> None:
    lease = take("ann")
    timed_queue.remove("a")
    with pytest.raises(leaseq.ItemNotFound):
        timed_queue.finish(lease, {})


def test_lease_of_removed_item_is_refused_for_new_item_with_same_id(
    timed_queue: leaseq.Queue, take: Take
) -> None:
    lease = take("ann")
    timed_queue.remove("a")
    timed_queue.enqueue({"other": True}, id="a")
    with pytest.raises(leaseq.LeaseLost) as error:
        timed_queue.finish(lease, {})
    assert not error.value.answer_kept
    assert timed_queue.get("a").state == "inbound"


def test_finish_accepts_id_token_and_person_instead_of_lease(timed_queue: leaseq.Queue, take: Take) -> None:
    lease = take("ann")
    outcome = timed_queue.finish(id=lease.id, token=lease.token, person="ann", result={"x": 1})
    assert not outcome.late


def test_names_and_ids_may_contain_record_syntax(timed_queue: leaseq.Queue) -> None:
    for mark in (" w", " x1 n2 q3", "%d+", "finished 1 1", "p:ann", "g:a", "tick"):
        timed_queue.enqueue({"of": mark}, id=mark, priority=1)
        lease = timed_queue.reserve(mark)
        assert lease is not None
        assert (lease.id, lease.person, lease.draft) == (mark, mark, None)
        assert timed_queue.mine(mark) == [lease]
        timed_queue.finish(lease, {"of": mark})
        assert timed_queue.get(mark).answers[0].person == mark


def test_new_next_lease_is_reserved_at_time_of_finish(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    timed_queue.configure(holds=2)
    first, second = take("ann"), take("ann")
    timed_queue.configure(holds=1)
    clock.tick(1)
    outcome = timed_queue.finish(first, {}, then_reserve=True)
    assert outcome.next is not None
    assert outcome.next.id == second.id, "an item that ann held before"
    assert outcome.finished_at
    assert outcome.next.reserved_at < outcome.finished_at
    clock.tick(1)
    outcome = timed_queue.finish(second, {}, then_reserve=True)
    assert outcome.next is not None
    assert outcome.next.reserved_at == outcome.finished_at


def test_finish_returns_held_seconds_and_finished_at(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    lease = take("ann")
    clock.tick(41.5)
    outcome = timed_queue.finish(lease, {})
    assert outcome.held_seconds == pytest.approx(41.5)
    assert outcome.finished_at == timed_queue.get(lease.id).answers[0].finished_at
    clock.tick(100)
    repeated_outcome = timed_queue.finish(lease, {})
    assert repeated_outcome.replayed
    assert repeated_outcome.held_seconds == pytest.approx(41.5)
    assert repeated_outcome.finished_at == outcome.finished_at
    late_lease = take("ann")
    timed_queue.configure(lease_seconds=10)
    clock.tick(400)
    late_outcome = timed_queue.finish(late_lease, {}, then_reserve=True)
    assert late_outcome.late
    assert late_outcome.held_seconds == pytest.approx(400)
    assert late_outcome.next is not None


@pytest.mark.parametrize(
    ("result", "again"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"n": 1}, {"n": 1.0}),
        ({"n": 1}, {"n": True}),
        ([], {}),
        (9007199254740993, 9007199254740992),
    ],
)
def test_finish_again_with_another_text_loses_neither_answer(
    timed_queue: leaseq.Queue, take: Take, result: leaseq.Json, again: leaseq.Json
) -> None:
    """Answers are compared as text, so that none is taken for a repeat of a different one."""
    lease = take("ann")
    timed_queue.finish(lease, result)
    with pytest.raises(leaseq.LeaseLost) as error:
        timed_queue.finish(lease, again)
    assert error.value.answer_kept
    item = timed_queue.get("a")
    texts = [json.dumps(one.result) for one in (*item.answers, *item.late_answers)]
    assert texts == [json.dumps(result), json.dumps(again)]
