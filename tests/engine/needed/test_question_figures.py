"""A queue's figures of questions: how many are open, how soon they are answered, how many ran out."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest

import leaseq
from leaseq.engine.keys import Keys
from tests.conftest import Clock, Server
from tests.engine.clear.alerts import alert_events
from tests.support.leases import not_none

Act = Callable[[leaseq.Queue], object]


def ask(queue: leaseq.Queue, id: str, timeout: float = 1_000) -> None:
    with contextlib.suppress(leaseq.StillWaiting):
        queue.ask({"text": id}, id=id, timeout=timeout, wait=0)


def answer(queue: leaseq.Queue, person: str = "ann") -> leaseq.Finished:
    return queue.finish(not_none(queue.reserve(person)), {"text": "yes"})


def reopen(queue: leaseq.Queue) -> None:
    answer(queue)
    queue.reopen("one", queue.get("one").answers[0].token)


def revive(queue: leaseq.Queue) -> None:
    queue.configure(max_attempts=1)
    lease = not_none(queue.reserve("ann"))
    queue.fail(lease, "unreadable")
    assert queue.stats().questions == 0
    queue.revive("one")


OPEN: dict[str, tuple[int, Act]] = {
    "nothing": (1, lambda _: None),
    "held": (1, lambda queue: queue.reserve("ann")),
    "abandoned": (1, lambda queue: queue.abandon(not_none(queue.reserve("ann")), "later")),
    "answered": (0, answer),
    "reopened": (1, reopen),
    "revived": (1, revive),
    "cancelled": (0, lambda queue: queue.cancel("one")),
    "removed": (0, lambda queue: queue.remove("one")),
    "asked again": (1, lambda queue: ask(queue, "one")),
    "another": (2, lambda queue: ask(queue, "two")),
    "an item with a deadline": (1, lambda queue: queue.enqueue("x", expires=60)),
}


@pytest.mark.parametrize("name", OPEN)
def test_open_questions_are_counted(timed_queue: leaseq.Queue, server: Server, name: str) -> None:
    ask(timed_queue, "one")
    count, act = OPEN[name]
    act(timed_queue)
    assert timed_queue.stats().questions == count
    assert server.redis.zcard(Keys(timed_queue.name).expiring) == (name == "an item with a deadline")


def test_one_of_several_answers_is_enough(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(answers=2)
    ask(timed_queue, "one")
    answer(timed_queue)
    lease = not_none(timed_queue.reserve("bob"))
    timed_queue.abandon(lease, "busy")
    timed_queue.take_back(lease)
    assert timed_queue.stats().questions == 0


def test_one_that_ran_out_is_counted_once(timed_queue: leaseq.Queue, clock: Clock) -> None:
    """Also with several answers, of which somebody gives one in time, and somebody's lease outlives it."""
    timed_queue.configure(answers=4, lease_seconds=50)
    ask(timed_queue, "one", timeout=60)
    answer(timed_queue)
    clock.tick(40)
    timed_queue.reserve("bob")
    timed_queue.reserve("cleo")
    clock.tick(21)
    timed_queue.clear()
    clock.tick(60)
    timed_queue.clear()
    stats = timed_queue.stats()
    assert (stats.questions, stats.dead, stats.counters["lapsed"]) == (0, 3, 1)
    assert [event.what for event in timed_queue.journal()].count("lapsed") == 1


def test_deadline_of_what_everybody_holds_is_told_once(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.configure(answers=2, lease_seconds=50)
    ask(timed_queue, "one", timeout=30)
    for person in ("ann", "bob"):
        timed_queue.reserve(person)
    for _ in range(3):
        clock.tick(31)
        timed_queue.clear()
    assert (timed_queue.stats().dead, timed_queue.stats().counters["lapsed"]) == (2, 1)


def test_median_is_of_the_latest_first_answers(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.configure(answers=2)
    assert timed_queue.stats().answer_seconds is None
    for seconds in (5, 7, 1_000):
        ask(timed_queue, f"after {seconds}", timeout=5_000)
        clock.tick(seconds)
        answer(timed_queue)
        clock.tick(500)
        answer(timed_queue, "bob")
    assert timed_queue.stats().answer_seconds == pytest.approx(7, abs=0.01)
    for n in range(100):
        ask(timed_queue, str(n))
        clock.tick(2)
        answer(timed_queue)
        timed_queue.remove(str(n))
    assert timed_queue.stats().answer_seconds == pytest.approx(2, abs=0.01)


def test_item_that_somebody_waits_for_is_a_question(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue("x", id="one", expires=60)
    with pytest.raises(leaseq.StillWaiting):
        timed_queue.wait_for("one", 0)
    assert timed_queue.stats().questions == 1
    answer(timed_queue)
    assert timed_queue.stats().questions == 0


def test_alert_names_the_oldest_open_question(
    timed_queue: leaseq.Queue, server: Server, clock: Clock
) -> None:
    """Also if many others, which are younger, end before it, and it is found only by a later call."""
    timed_queue.configure(alerts=("question>120",))
    timed_queue.enqueue("x")
    ask(timed_queue, "one", timeout=9_000)
    clock.tick(100)
    for n in range(250):
        ask(timed_queue, str(n))
    for _ in range(4):
        timed_queue.clear()
    assert alert_events(timed_queue) == []
    clock.tick(21)
    for _ in range(3):
        timed_queue.clear()
    assert alert_events(timed_queue) == [("alert.raised", "question", 120, 121)]
    timed_queue.cancel("one")
    for _ in range(7):
        timed_queue.clear()
    assert alert_events(timed_queue)[1:] == [("alert.resolved", "question", 120, 21)]
    timed_queue.configure(alerts=())
    timed_queue.clear()
    assert not server.redis.hexists(Keys(timed_queue.name).ledger, "question")
