"""Decisions: what an item's answer is, and until when a recorded one counts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import leaseq
from tests.conftest import Clock, Server
from tests.support.leases import take

CAT, DOG = {"label": "cat"}, {"label": "dog"}


@pytest.fixture
def twice_answered(timed_queue: leaseq.Queue) -> leaseq.Queue:
    """Item a needs two answers and has them: ann's cat and bob's dog; b waits."""
    timed_queue.configure(answers=2)
    timed_queue.enqueue({"n": 1}, id="a")
    for person, result in (("ann", CAT), ("bob", DOG)):
        timed_queue.finish(take(timed_queue, person), result)
    timed_queue.enqueue({"n": 2}, id="b")
    return timed_queue


def tokens(queue: leaseq.Queue, id: str = "a") -> list[int]:
    return [answer.token for answer in queue.get(id).answers]


def decide(queue: leaseq.Queue, **changes: Any) -> bool:
    terms: dict[str, Any] = {"how": "reviewed", "by": "meg d", "agreement": 0.5, "tokens": tokens(queue)}
    return queue.decide("a", CAT, **terms | changes)


def test_only_answer_is_the_decision(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({"n": 1}, id="a")
    assert timed_queue.decision("a") is None
    lease = take(timed_queue, "ann")
    assert timed_queue.decision("a") is None
    timed_queue.finish(lease, CAT)
    at = timed_queue.get("a").answers[0].finished_at
    assert timed_queue.decision("a") == leaseq.Decision("a", {"n": 1}, CAT, "single", None, None, at)


def test_several_answers_are_undecided_until_a_decision_is_recorded(twice_answered: leaseq.Queue) -> None:
    undecided = twice_answered.decision("a")
    assert undecided is not None
    assert (undecided.how, undecided.result) == ("undecided", None)
    assert decide(twice_answered)
    decision = twice_answered.decision("a")
    assert decision is not None
    assert (decision.how, decision.result, decision.agreement, decision.by) == ("reviewed", CAT, 0.5, "meg d")
    (event,) = [event for event in twice_answered.journal() if event.what == "decided"]
    assert (event.id, event.person, event.at) == ("a", "meg d", decision.at)
    assert event.detail == "reviewed"
    assert [one.id for one in twice_answered.decisions()] == ["a"]


def test_equal_decision_is_recorded_once(twice_answered: leaseq.Queue, clock: Clock) -> None:
    decide(twice_answered)
    decision = twice_answered.decision("a")
    clock.tick(5)
    assert decide(twice_answered, tokens=reversed(tokens(twice_answered)))
    assert twice_answered.decision("a") == decision
    assert decide(twice_answered, agreement=None)
    assert [event.what for event in twice_answered.journal()].count("decided") == 2


def reopen(queue: leaseq.Queue, _: leaseq.Answer) -> None:
    queue.reopen("a", tokens(queue)[0])


def correct(queue: leaseq.Queue, _: leaseq.Answer) -> None:
    queue.correct("a", tokens(queue)[0], DOG, by="mona")


def undo(queue: leaseq.Queue, answer: leaseq.Answer) -> None:
    queue.undo_finish(id="a", token=answer.token, person=answer.person)


def ask_one_more(queue: leaseq.Queue, _: leaseq.Answer) -> None:
    queue.change("a", answers=3)


def ask_one_more_and_get_it(queue: leaseq.Queue, answer: leaseq.Answer) -> None:
    ask_one_more(queue, answer)
    queue.finish(take(queue, "cyd"), DOG)


@pytest.mark.parametrize("act", [reopen, correct, undo, ask_one_more, ask_one_more_and_get_it])
def test_decision_no_longer_counts_after_other_answers(
    twice_answered: leaseq.Queue, act: Callable[[leaseq.Queue, leaseq.Answer], None]
) -> None:
    before = tokens(twice_answered)
    decide(twice_answered)
    twice_answered.remove("b")
    act(twice_answered, twice_answered.get("a").answers[1])
    decision = twice_answered.decision("a")
    assert decision is None or decision.how == "undecided"
    if act is not ask_one_more:
        assert not decide(twice_answered, tokens=before)
    assert decide(twice_answered, how="majority", by=None, agreement=None)


def test_decision_counts_again_with_the_same_answers(twice_answered: leaseq.Queue) -> None:
    decide(twice_answered)
    twice_answered.change("a", answers=3)
    assert twice_answered.decision("a") is None
    twice_answered.change("a", answers=2)
    decision = twice_answered.decision("a")
    assert decision is not None
    assert decision.how == "reviewed"


def test_decisions_are_read_by_time_each_once(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.configure(answers=2)
    timed_queue.enqueue_many(leaseq.NewItem({"n": n}, id=f"{n}") for n in range(300))
    for person in ("ann", "bob"):
        for _ in range(300):
            timed_queue.finish(take(timed_queue, person), CAT)
    clock.tick(60)
    timed_queue.decide("7", CAT, how="agreed", agreement=1, tokens=tokens(timed_queue, "7"))
    found = list(timed_queue.decisions())
    assert sorted(int(one.id) for one in found) == list(range(300))
    since = datetime.fromtimestamp(clock() / 1e6, UTC) - timedelta(seconds=30)
    assert [one.id for one in timed_queue.decisions(since=since)] == ["7"]
    assert len(list(timed_queue.decisions(until=since))) == 299


def test_nothing_is_left_of_the_decision_on_a_removed_item(
    twice_answered: leaseq.Queue, server: Server
) -> None:
    decide(twice_answered)
    twice_answered.remove("a")
    assert not server.redis.exists(f"leaseq:{{{twice_answered.name}}}:decisions")


def test_erased_person_no_longer_names_a_decision(twice_answered: leaseq.Queue) -> None:
    decide(twice_answered)
    assert twice_answered.erase_person("meg d", "erased-1").items == 1
    decision = twice_answered.decision("a")
    assert decision is not None
    assert (decision.by, decision.result) == ("erased-1", CAT)


@pytest.mark.parametrize(
    ("field", "bad"),
    [
        *(("how", how) for how in ("", "agree", None, 7)),
        *(("agreement", share) for share in (-0.1, 1.1, "1", float("nan"), True)),
        *(("by", name) for name in ("", "a\tb", 7)),
        *(("tokens", numbers) for numbers in ([0], ["1"], [True], [2**60])),
    ],
)
def test_bad_decisions_are_refused(twice_answered: leaseq.Queue, field: str, bad: object) -> None:
    with pytest.raises(leaseq.Invalid) as refused:
        decide(twice_answered, **{field: bad})
    assert refused.value.field == field
    decision = twice_answered.decision("a")
    assert decision is not None
    assert decision.how == "undecided"


def test_decision_on_a_missing_item_is_refused(twice_answered: leaseq.Queue) -> None:
    with pytest.raises(leaseq.ItemNotFound):
        twice_answered.decide("no", CAT, how="agreed", tokens=[1])
    with pytest.raises(leaseq.ItemNotFound):
        twice_answered.decision("no")
    with pytest.raises(leaseq.Invalid):
        twice_answered.decide("a", float("nan"), how="agreed", tokens=tokens(twice_answered))
    with pytest.raises(leaseq.Invalid):
        twice_answered.decisions(since="yesterday")  # type: ignore[arg-type]
