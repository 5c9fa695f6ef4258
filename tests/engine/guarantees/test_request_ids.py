"""A repeated call with the same ``request_id=`` acts once, and returns the same result."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

import leaseq
from leaseq import Conflict, Enqueued, EnqueuedMany, NewItem
from tests.conftest import Server
from tests.support.leases import not_none
from tests.support.refused import refused

OTHER_CALLS = 15  # a request is remembered for this number of further calls


def test_repeated_enqueue_returns_existing_item(timed_queue: leaseq.Queue) -> None:
    first = timed_queue.enqueue({"n": 1}, request_id="r")
    assert first.added
    assert timed_queue.enqueue({"n": 1}, request_id="r") == first
    assert timed_queue.get(first.id).payload == {"n": 1}
    assert timed_queue.stats().inbound == timed_queue.stats().counters["enqueued"] == 1


def test_repeated_enqueue_by_another_process_returns_same_id(
    timed_queue: leaseq.Queue, same_queue: leaseq.Queue
) -> None:
    first = timed_queue.enqueue({"b": [1.0], "a": "x"}, request_id="r", priority=7)
    assert same_queue.enqueue({"a": "x", "b": [1]}, request_id="r", priority=7) == first


def test_same_request_id_adds_item_in_each_queue(
    timed_queue: leaseq.Queue, server: Server, queue_name: str
) -> None:
    other = leaseq.Queue(server.client, f"{queue_name}.other")
    enqueued_items = {timed_queue.enqueue({}, request_id="r"), other.enqueue({}, request_id="r")}
    assert len({one.id for one in enqueued_items}) == 2
    assert all(one.added for one in enqueued_items)
    assert timed_queue.enqueue({}, request_id="s").added


def test_ids_from_requests_are_higher_than_ids_from_time(timed_queue: leaseq.Queue) -> None:
    """Ids from requests are higher than ids from the time until the year 2248."""
    timed_queue.enqueue_many([{}] * 100)
    latest = max(one.id for one in timed_queue.items("inbound"))
    timed_queue.enqueue_many([{}] * 100, request_id="r")
    request_ids = sorted(one.id for one in timed_queue.items("inbound", limit=250) if one.id > latest)
    assert len(request_ids) == 100
    assert {len(id) for id in request_ids} == {len(latest)}
    assert latest < "g" <= request_ids[0]


def test_request_is_remembered_for_15_calls_and_then_a_duplicate(
    timed_queue: leaseq.Queue,
) -> None:
    first = timed_queue.enqueue({"n": 1}, request_id="r")
    for _ in range(OTHER_CALLS):
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
        for _ in range(OTHER_CALLS + 1):
            timed_queue.enqueue({})
    counters = timed_queue.stats().counters
    with refused("request_id") as error:
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


def test_repeated_enqueue_does_not_restore_removed_item(timed_queue: leaseq.Queue) -> None:
    first = timed_queue.enqueue({"n": 1}, request_id="r")
    timed_queue.remove(first.id)
    assert timed_queue.enqueue({"n": 1}, request_id="r") == first
    assert timed_queue.stats().inbound == 0


def test_request_that_added_nothing_is_remembered(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({"n": 1}, id="a")
    for _ in range(2):
        assert timed_queue.enqueue({"n": 1}, id="a", request_id="r") == Enqueued("a", added=False)
    with refused("request_id", "request_id"):
        timed_queue.enqueue({"n": 1}, id="b", request_id="r")
    assert timed_queue.stats().inbound == 1


def test_request_ids_with_common_prefix_are_distinct(timed_queue: leaseq.Queue) -> None:
    ids = [timed_queue.enqueue({"n": 1}, request_id=one).id for one in ("r-1", "r-12", "r", "r/1", "r/0")]
    assert len(set(ids)) == 5


def test_repeated_enqueue_with_dedupe_returns_same_result(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(dedupe_seconds=3600)
    first = timed_queue.enqueue({"n": 1}, request_id="r")
    assert timed_queue.enqueue({"n": 1}, request_id="r") == first
    for _ in range(2):
        assert timed_queue.enqueue({"n": 1}, request_id="s") == Enqueued(first.id, added=False)
    with refused("request_id", "request_id"):
        timed_queue.enqueue({"n": 2}, request_id="s")
    assert timed_queue.stats().counters["deduped"] == 1


def test_repeated_enqueue_many_adds_once_and_returns_same_counts(timed_queue: leaseq.Queue) -> None:
    items = [{"n": 0}, NewItem({"n": 1}), NewItem({"n": 2}, id="mine")]
    for _ in range(2):
        assert timed_queue.enqueue_many(iter(items), request_id="r") == EnqueuedMany(added=3, duplicates=0)
    assert [item.payload for item in timed_queue.items("inbound")] == [{"n": n} for n in range(3)]
    with pytest.raises(leaseq.Invalid) as error:
        timed_queue.enqueue_many([{"n": 0}, {"n": 7}, {"n": 2}], request_id="r")
    assert error.value.field == "request_id"
    assert timed_queue.stats().inbound == 3


def test_repeated_enqueue_many_adds_chunks_missing_after_failure(timed_queue: leaseq.Queue) -> None:
    """If the source or the server fails half-way, only the first chunks are added."""
    items = [{"n": n} for n in range(600)]

    def broken_items() -> Any:
        yield from items[:500]
        raise OSError("the file is on a disk that went away")

    with pytest.raises(OSError, match="went away"):
        timed_queue.enqueue_many(broken_items(), request_id="r")
    assert timed_queue.stats().inbound == 500
    assert timed_queue.enqueue_many(items, request_id="r") == EnqueuedMany(added=600, duplicates=0)
    assert timed_queue.stats().inbound == 600


def test_enqueue_many_with_forgotten_request_adds_no_duplicates(timed_queue: leaseq.Queue) -> None:
    items = [{"n": n} for n in range(3)]
    timed_queue.enqueue_many(items, request_id="r")
    for _ in range(OTHER_CALLS + 1):
        timed_queue.enqueue({})
    assert timed_queue.enqueue_many(items, request_id="r") == EnqueuedMany(added=0, duplicates=3)


@pytest.mark.parametrize("bad", ["", "a b", "x" * 129, "é", "a\x07b", 7])
def test_invalid_request_id_is_refused(timed_queue: leaseq.Queue, bad: Any) -> None:
    for call in (
        lambda: timed_queue.enqueue({}, request_id=bad),
        lambda: timed_queue.enqueue_many([{}], request_id=bad),
    ):
        with pytest.raises(leaseq.Invalid) as error:
            call()
        assert error.value.field == "request_id"
    assert not timed_queue.exists()


# An existing id with another payload: `on_conflict` reports it, so that no payload is lost silently.


def test_on_conflict_reports_different_payload_of_existing_id(timed_queue: leaseq.Queue) -> None:
    conflicts: list[Conflict] = []
    timed_queue.enqueue({"a": 1, "b": 2}, id="one", on_conflict=conflicts.append)
    timed_queue.enqueue({"b": 2.0, "a": 1}, id="one", on_conflict=conflicts.append)  # the same JSON
    assert conflicts == []
    assert timed_queue.enqueue({"a": True, "b": 2}, id="one", on_conflict=conflicts.append) == Enqueued(
        "one", False
    )
    assert conflicts == [Conflict(0, "one")]
    assert timed_queue.get("one").payload == {"a": 1, "b": 2}


def test_enqueue_many_reports_each_conflict_with_its_place(timed_queue: leaseq.Queue) -> None:
    conflicts: list[Conflict] = []
    timed_queue.enqueue_many(NewItem({"n": n}, id=f"{n}") for n in range(300))
    new_items = [NewItem({"n": n if n % 140 else -n - 1}, id=f"{n}") for n in range(301)]
    result = timed_queue.enqueue_many(new_items, on_conflict=conflicts.append)
    assert result == EnqueuedMany(added=1, duplicates=297, conflicts=3)
    assert conflicts == [Conflict(0, "0"), Conflict(140, "140"), Conflict(280, "280")]


def test_item_removed_before_comparison_counts_as_different(
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
        added=1, duplicates=1, conflicts=1
    )
    assert conflicts == [Conflict(2, "a")]
