"""A call with a ``request_id=`` acts once, and returns the same again."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

import leaseq
from leaseq import Conflict, Enqueued, EnqueuedMany, NewItem
from tests.conftest import Server
from tests.support.leases import not_none

OTHERS = 15  # calls that may come in between


def test_an_enqueue_sent_again_names_the_item_that_is_there(timed_queue: leaseq.Queue) -> None:
    first = timed_queue.enqueue({"n": 1}, request_id="r")
    assert first.added
    assert timed_queue.enqueue({"n": 1}, request_id="r") == first
    assert timed_queue.get(first.id).payload == {"n": 1}
    assert timed_queue.stats().inbound == timed_queue.stats().counters["enqueued"] == 1


def test_another_process_that_sends_it_again_makes_the_same_id(
    timed_queue: leaseq.Queue, same_queue: leaseq.Queue
) -> None:
    first = timed_queue.enqueue({"b": [1.0], "a": "x"}, request_id="r", priority=7)
    assert same_queue.enqueue({"a": "x", "b": [1]}, request_id="r", priority=7) == first


def test_a_request_id_makes_an_item_in_each_queue(
    timed_queue: leaseq.Queue, server: Server, queue_name: str
) -> None:
    other = leaseq.Queue(server.client, f"{queue_name}.other")
    enqueued_items = {timed_queue.enqueue({}, request_id="r"), other.enqueue({}, request_id="r")}
    assert len({one.id for one in enqueued_items}) == 2
    assert all(one.added for one in enqueued_items)
    assert timed_queue.enqueue({}, request_id="s").added


def test_no_item_of_a_request_has_an_id_that_is_made_from_the_time(timed_queue: leaseq.Queue) -> None:
    """Ids from requests are higher than ids from the time until the year 2248."""
    timed_queue.enqueue_many([{}] * 100)
    latest = max(one.id for one in timed_queue.items("inbound"))
    timed_queue.enqueue_many([{}] * 100, request_id="r")
    request_ids = sorted(one.id for one in timed_queue.items("inbound", limit=250) if one.id > latest)
    assert len(request_ids) == 100
    assert {len(id) for id in request_ids} == {len(latest)}
    assert latest < "g" <= request_ids[0]


def test_it_is_the_same_answer_after_so_many_others_and_the_same_item_ever_after(
    timed_queue: leaseq.Queue,
) -> None:
    first = timed_queue.enqueue({"n": 1}, request_id="r")
    for _ in range(OTHERS):
        timed_queue.enqueue({})
    assert timed_queue.enqueue({"n": 1}, request_id="r") == first
    timed_queue.enqueue({})
    assert timed_queue.enqueue({"n": 1}, request_id="r") == Enqueued(first.id, added=False)
    timed_queue.finish(not_none(timed_queue.reserve("ann")), {})
    assert timed_queue.enqueue({"n": 1}, request_id="r") == Enqueued(first.id, added=False)
    assert timed_queue.get(first.id).state == "finished"


@pytest.mark.parametrize("forgotten", [False, True], ids=["remembered", "forgotten"])
def test_a_request_id_used_for_another_payload_is_refused(timed_queue: leaseq.Queue, forgotten: bool) -> None:
    first = timed_queue.enqueue({"n": 1}, request_id="r")
    if forgotten:
        for _ in range(OTHERS + 1):
            timed_queue.enqueue({})
    counters = timed_queue.stats().counters
    with pytest.raises(leaseq.Invalid, match="used with different content") as error:
        timed_queue.enqueue({"n": 2}, request_id="r")
    assert error.value.field == "request_id"
    assert timed_queue.stats().counters == counters
    assert timed_queue.enqueue({"n": 1}, request_id="r") == Enqueued(first.id, added=not forgotten)


@pytest.mark.parametrize(
    "other_arguments",
    [
        {"id": "b"},
        {"id": None},
        {"priority": 1},
        {"delay": 5},
        {"requires": ["fr"]},
        {"due": datetime(2031, 1, 1, tzinfo=UTC)},
        {"max_attempts": 2},
    ],
    ids="+".join,
)
def test_a_request_id_used_for_another_item_is_refused(
    timed_queue: leaseq.Queue, other_arguments: dict[str, Any]
) -> None:
    timed_queue.enqueue({"n": 1}, id="a", request_id="r")
    assert timed_queue.enqueue({"n": 1}, id="a", request_id="r") == Enqueued("a", added=True)
    with pytest.raises(leaseq.Invalid) as error:
        timed_queue.enqueue({"n": 1}, request_id="r", **{"id": "a", **other_arguments})
    assert error.value.field == "request_id"
    assert [item.id for item in timed_queue.items("inbound")] == ["a"]
    assert timed_queue.enqueue({"n": 1}, id="b", request_id="r 2".replace(" ", "-")).added


def test_a_request_sent_again_brings_nothing_back(timed_queue: leaseq.Queue) -> None:
    first = timed_queue.enqueue({"n": 1}, request_id="r")
    timed_queue.remove(first.id)
    assert timed_queue.enqueue({"n": 1}, request_id="r") == first
    assert timed_queue.stats().inbound == 0


def test_a_request_that_added_nothing_is_remembered_as_well(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({"n": 1}, id="a")
    for _ in range(2):
        assert timed_queue.enqueue({"n": 1}, id="a", request_id="r") == Enqueued("a", added=False)
    with pytest.raises(leaseq.Invalid, match="request_id"):
        timed_queue.enqueue({"n": 1}, id="b", request_id="r")
    assert timed_queue.stats().inbound == 1


def test_a_request_id_that_begins_like_another_is_another(timed_queue: leaseq.Queue) -> None:
    ids = [timed_queue.enqueue({"n": 1}, request_id=one).id for one in ("r-1", "r-12", "r", "r/1", "r/0")]
    assert len(set(ids)) == 5


def test_with_dedupe_a_request_sent_again_says_the_same(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(dedupe_seconds=3600)
    first = timed_queue.enqueue({"n": 1}, request_id="r")
    assert timed_queue.enqueue({"n": 1}, request_id="r") == first
    for _ in range(2):
        assert timed_queue.enqueue({"n": 1}, request_id="s") == Enqueued(first.id, added=False)
    with pytest.raises(leaseq.Invalid, match="request_id"):
        timed_queue.enqueue({"n": 2}, request_id="s")
    assert timed_queue.stats().counters["deduped"] == 1


def test_many_sent_again_enter_once_and_are_counted_the_same(timed_queue: leaseq.Queue) -> None:
    items = [{"n": 0}, NewItem({"n": 1}), NewItem({"n": 2}, id="mine")]
    for _ in range(2):
        assert timed_queue.enqueue_many(iter(items), request_id="r") == EnqueuedMany(added=3, duplicates=0)
    assert [item.payload for item in timed_queue.items("inbound")] == [{"n": n} for n in range(3)]
    with pytest.raises(leaseq.Invalid) as error:
        timed_queue.enqueue_many([{"n": 0}, {"n": 7}, {"n": 2}], request_id="r")
    assert error.value.field == "request_id"
    assert timed_queue.stats().inbound == 3


def test_each_chunk_of_many_is_a_call_and_the_rest_goes_in(timed_queue: leaseq.Queue) -> None:
    """For instance if the server went away half-way: only the first chunks were added."""
    items = [{"n": n} for n in range(600)]

    def broken_items() -> Any:
        yield from items[:500]
        raise OSError("the file is on a disk that went away")

    with pytest.raises(OSError, match="went away"):
        timed_queue.enqueue_many(broken_items(), request_id="r")
    assert timed_queue.stats().inbound == 500
    assert timed_queue.enqueue_many(items, request_id="r") == EnqueuedMany(added=600, duplicates=0)
    assert timed_queue.stats().inbound == 600


def test_many_whose_request_is_forgotten_still_enter_once(timed_queue: leaseq.Queue) -> None:
    items = [{"n": n} for n in range(3)]
    timed_queue.enqueue_many(items, request_id="r")
    for _ in range(OTHERS + 1):
        timed_queue.enqueue({})
    assert timed_queue.enqueue_many(items, request_id="r") == EnqueuedMany(added=0, duplicates=3)


@pytest.mark.parametrize("bad", ["", "a b", "x" * 129, "é", "a\x07b", 7])
def test_a_request_id_that_is_no_good(timed_queue: leaseq.Queue, bad: Any) -> None:
    for call in (
        lambda: timed_queue.enqueue({}, request_id=bad),
        lambda: timed_queue.enqueue_many([{}], request_id=bad),
    ):
        with pytest.raises(leaseq.Invalid) as error:
            call()
        assert error.value.field == "request_id"
    assert not timed_queue.exists()


# An existing id with another payload: `on_conflict` reports it, so that no payload is lost silently.


def test_who_asks_is_told_of_another_payload(timed_queue: leaseq.Queue) -> None:
    conflicts: list[Conflict] = []
    timed_queue.enqueue({"a": 1, "b": 2}, id="one", on_conflict=conflicts.append)
    timed_queue.enqueue({"b": 2.0, "a": 1}, id="one", on_conflict=conflicts.append)  # the same JSON
    assert conflicts == []
    assert timed_queue.enqueue({"a": True, "b": 2}, id="one", on_conflict=conflicts.append) == Enqueued(
        "one", False
    )
    assert conflicts == [Conflict(0, "one")]
    assert timed_queue.get("one").payload == {"a": 1, "b": 2}


def test_of_many_each_conflict_is_told_with_its_place(timed_queue: leaseq.Queue) -> None:
    conflicts: list[Conflict] = []
    timed_queue.enqueue_many(NewItem({"n": n}, id=f"{n}") for n in range(300))
    new_items = [NewItem({"n": n if n % 140 else -n - 1}, id=f"{n}") for n in range(301)]
    result = timed_queue.enqueue_many(new_items, on_conflict=conflicts.append)
    assert result == EnqueuedMany(added=1, duplicates=300)
    assert conflicts == [Conflict(0, "0"), Conflict(140, "140"), Conflict(280, "280")]


def test_an_item_that_was_removed_since_the_server_compared_it_had_another_payload(
    timed_queue: leaseq.Queue,
) -> None:
    timed_queue.enqueue({"n": 1}, id="one")
    assert not timed_queue._differs(("one", "", '{"n": 1}'))
    timed_queue.remove("one")
    assert timed_queue._differs(("one", "", '{"n": 1}'))


def test_two_payloads_for_one_id_in_one_call_conflict(timed_queue: leaseq.Queue) -> None:
    conflicts: list[Conflict] = []
    batch = [NewItem({"n": 1}, id="a"), NewItem({"n": 1}, id="a"), NewItem({"n": 2}, id="a")]
    assert timed_queue.enqueue_many(batch, on_conflict=conflicts.append) == EnqueuedMany(
        added=1, duplicates=2
    )
    assert conflicts == [Conflict(2, "a")]
