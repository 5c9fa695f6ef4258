"""Names and ids are compared literally, not as patterns: ``a.b`` is not ``axb``."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import leaseq
from tests.conftest import Clock

Take = Callable[[str], leaseq.Lease]


@pytest.fixture
def of_two_answers(timed_queue: leaseq.Queue) -> leaseq.Queue:
    """A queue with one item that wants two answers."""
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="one")
    return timed_queue


def test_what_is_finished_leaves_the_right_item_in_the_hands(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    timed_queue.configure(holds=2)
    for id in ("axb", "a.b"):
        timed_queue.enqueue({}, id=id)
    _, second = take("ann"), take("ann")
    clock.tick(1)
    timed_queue.finish(second, {})
    assert [lease.id for lease in timed_queue.mine("ann")] == ["axb"]


def test_one_who_answered_keeps_the_item_from_nobody_else(of_two_answers: leaseq.Queue, take: Take) -> None:
    of_two_answers.finish(take("axb"), {})
    assert take("a.b").id == "one"


def test_one_who_answered_keeps_nobody_from_renewing(
    of_two_answers: leaseq.Queue, take: Take, clock: Clock
) -> None:
    lease = take("a.b")
    of_two_answers.finish(take("axb"), {})
    clock.tick(301)
    of_two_answers.clear()
    assert of_two_answers.renew(lease).token == lease.token


def test_two_who_gave_an_item_back_are_two(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.configure(max_abandons=2)
    timed_queue.enqueue({}, id="one")
    timed_queue.abandon(take("axb"))
    timed_queue.abandon(take("a.b"))
    assert timed_queue.get("one").state == "dead"
