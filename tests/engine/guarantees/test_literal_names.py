"""Names and ids are compared literally, not as patterns: ``a.b`` is not ``axb``."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import leaseq
from tests.conftest import Clock

Take = Callable[[str], leaseq.Lease]


@pytest.fixture
def queue_with_two_answers(timed_queue: leaseq.Queue) -> leaseq.Queue:
    """A queue with one item that wants two answers."""
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="one")
    return timed_queue


def test_finish_does_not_remove_lease_of_item_with_similar_id(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    timed_queue.configure(holds=2)
    for id in ("axb", "a.b"):
        timed_queue.enqueue({}, id=id)
    _, second = take("ann"), take("ann")
    clock.tick(1)
    timed_queue.finish(second, {})
    assert [lease.id for lease in timed_queue.mine("ann")] == ["axb"]


def test_person_with_name_similar_to_answerer_can_reserve(
    queue_with_two_answers: leaseq.Queue, take: Take
) -> None:
    queue_with_two_answers.finish(take("axb"), {})
    assert take("a.b").id == "one"


def test_person_with_name_similar_to_answerer_can_renew(
    queue_with_two_answers: leaseq.Queue, take: Take, clock: Clock
) -> None:
    lease = take("a.b")
    queue_with_two_answers.finish(take("axb"), {})
    clock.tick(301)
    queue_with_two_answers.clear()
    assert queue_with_two_answers.renew(lease).token == lease.token


def test_abandons_of_people_with_similar_names_count_separately(
    timed_queue: leaseq.Queue, take: Take
) -> None:
    timed_queue.configure(max_abandons=2)
    timed_queue.enqueue({}, id="one")
    timed_queue.abandon(take("axb"))
    timed_queue.abandon(take("a.b"))
    assert timed_queue.get("one").state == "dead"
