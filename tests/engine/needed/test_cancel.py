"""Cancelled items: nobody needs their answer any more."""

from __future__ import annotations

from typing import Any

import pytest

import leaseq
from tests.conftest import Clock
from tests.engine.conftest import Sets


def take(queue: leaseq.Queue, person: str = "ann") -> leaseq.Lease:
    lease = queue.reserve(person)
    assert lease is not None
    return lease


@pytest.mark.parametrize(("arguments", "hold"), [({}, False), ({"delay": 60}, False), ({}, True)])
def test_open_item_is_dead_at_once(
    timed_queue: leaseq.Queue, sets: Sets, arguments: dict[str, Any], hold: bool
) -> None:
    timed_queue.enqueue("x", id="one", **arguments)
    lease = take(timed_queue) if hold else None
    item = timed_queue.cancel("one", "sent by mistake, sorry", by="meg")
    assert (item.state, item.died_of, item.last_error) == ("dead", "cancelled", "sent by mistake, sorry")
    assert item.failures == 0
    assert sets() == {"inbound": [], "reserved": [], "scheduled": [], "finished": [], "dead": ["one"]}
    assert timed_queue.stats().counters["cancelled"] == 1
    (event,) = [event for event in timed_queue.journal() if event.what == "cancelled"]
    assert (event.id, event.person, event.detail) == ("one", "meg", "sent by mistake, sorry")
    if lease is not None:
        assert timed_queue.reserve("ann") is None, "they hold nothing any more"
        with pytest.raises(leaseq.LeaseLost) as lost:
            timed_queue.finish(lease, "an answer")
        assert lost.value.answer_kept
        assert [answer.result for answer in timed_queue.get("one").late_answers] == ["an answer"]


def test_cancel_again_changes_nothing(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.enqueue("x", id="one")
    first = timed_queue.cancel("one")
    clock.tick(1)
    assert (first.last_error, timed_queue.cancel("one", "another reason")) == ("cancelled", first)
    assert timed_queue.stats().counters["died"] == 1


def test_finished_item_is_not_cancelled(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue("x", id="one")
    timed_queue.finish(take(timed_queue), "yes")
    with pytest.raises(leaseq.Invalid) as refusal:
        timed_queue.cancel("one")
    assert refusal.value.field == "id"
    assert timed_queue.get("one").state == "finished"
    with pytest.raises(leaseq.ItemNotFound):
        timed_queue.cancel("other")


def test_answers_that_count_stay(three: leaseq.Queue) -> None:
    three.enqueue("x", id="one")
    three.finish(take(three, "ann"), "yes")
    take(three, "bob")
    item = three.cancel("one")
    assert (item.state, [answer.person for answer in item.answers]) == ("dead", ["ann"])
    assert three.reserve("cyd") is None


def test_undone_answer_of_cancelled_item_dies_when_it_comes_back(three: leaseq.Queue) -> None:
    three.enqueue("x", id="one")
    lease = take(three, "ann")
    three.finish(lease, "yes")
    three.cancel("one", "solved")
    three.abandon(three.undo_finish(lease))
    item = three.get("one")
    assert (item.state, item.died_of, three.reserve("bob")) == ("dead", "cancelled", None)


def test_revived_item_is_needed_again(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue("x", id="one", expires=60)
    timed_queue.cancel("one")
    item = timed_queue.revive("one")
    assert (item.state, item.died_of) == ("inbound", None)
    assert item.expires is not None, "until its deadline"
    timed_queue.finish(take(timed_queue), "yes")
    assert timed_queue.get("one").state == "finished"


def test_abandon_of_cancelled_item_is_not_undone(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue("x", id="one")
    lease = take(timed_queue)
    timed_queue.abandon(lease)
    timed_queue.cancel("one")
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.take_back(lease)
    assert timed_queue.get("one").state == "dead"
