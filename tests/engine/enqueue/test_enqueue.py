from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

import leaseq
from leaseq import NewItem
from leaseq.engine import codec
from leaseq.engine.keys import Keys
from tests.conftest import Clock, Server
from tests.engine.conftest import Sets
from tests.support.leases import not_none
from tests.support.refused import refused


def test_an_item_waits_with_its_payload_unchanged(timed_queue: leaseq.Queue) -> None:
    payload = {"text": "Zürich \u2028 \U0001f600", "n": 1.5, "deep": [{"a": None}, True], "": ""}
    result = timed_queue.enqueue(payload, id="one")
    assert result == leaseq.Enqueued("one", added=True)
    item = timed_queue.get("one")
    assert (item.state, item.payload, item.priority, item.attempts) == ("inbound", payload, 100, 0)


def test_generated_ids_are_unique_and_sort_by_time(timed_queue: leaseq.Queue) -> None:
    ids = [timed_queue.enqueue({"n": n}).id for n in range(5)]
    assert len(set(ids)) == 5
    assert ids == sorted(ids)


def test_equal_payloads_are_separate_items(timed_queue: leaseq.Queue) -> None:
    assert timed_queue.enqueue_many([{"same": 1}] * 3) == leaseq.EnqueuedMany(added=3, duplicates=0)
    assert timed_queue.stats().inbound == 3


def test_record_of_scheduled_item_has_no_letter_for_its_time(
    timed_queue: leaseq.Queue, server: Server, clock: Clock
) -> None:
    at = codec.to_datetime(clock.now + 60_000_000)
    timed_queue.enqueue_many(
        [
            NewItem({}, id="now", priority=1),
            NewItem({}, id="delayed", priority=1, delay=60),
            NewItem({}, id="due later", priority=1, at=at),
        ]
    )
    records = server.redis.hgetall(Keys(timed_queue.name).items)
    assert {id.decode(): codec.parse_record(text.decode())[1] for id, text in records.items()} == {
        "now": {"p": "1", "s": "high"},
        "delayed": {"p": "1"},
        "due later": {"p": "1"},
    }


def test_enqueue_with_existing_id_changes_nothing(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({"n": 1}, id="one")
    assert timed_queue.enqueue({"n": 2}, id="one", priority=1).added is False
    assert timed_queue.get("one").payload == {"n": 1}
    assert timed_queue.stats().counters["enqueued"] == 1


@pytest.mark.parametrize("state", ["reserved", "scheduled", "finished", "dead"])
def test_existing_id_is_detected_in_every_state(timed_queue: leaseq.Queue, sets: Sets, state: str) -> None:
    timed_queue.enqueue({"n": 1}, id="one", delay=60 if state == "scheduled" else 0, max_attempts=1)
    lease = timed_queue.reserve("ann")
    if state == "finished":
        timed_queue.finish(not_none(lease), {})
    elif state == "dead":
        timed_queue.fail(not_none(lease), "no")
    assert timed_queue.enqueue({"n": 2}, id="one").added is False
    assert [s for s, ids in sets().items() if ids] == [state]


def test_first_of_duplicate_ids_in_same_call_is_added(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({"n": 0}, id="old")
    batch = [NewItem({"n": n}, id=id) for n, id in enumerate(["a", "b", "a", "old"])]
    assert timed_queue.enqueue_many(batch) == leaseq.EnqueuedMany(added=2, duplicates=0, conflicts=2)
    assert timed_queue.get("a").payload == {"n": 0}
    assert timed_queue.enqueue_many(batch) == leaseq.EnqueuedMany(added=0, duplicates=2, conflicts=2)


def test_enqueue_many_keeps_order_across_chunks(timed_queue: leaseq.Queue, sets: Sets) -> None:
    items = [NewItem({"n": n}, id=f"{n:04}") for n in range(777)]
    assert timed_queue.enqueue_many(iter(items)) == leaseq.EnqueuedMany(777, 0)
    assert sets()["inbound"] == [new.id for new in items]


def test_chunk_has_at_most_250_items(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue_many([{}] * 600)
    times = [event.at for event in timed_queue.journal(limit=700) if event.what == "enqueued"]
    assert max(times.count(at) for at in set(times)) == 250


def test_chunks_are_limited_by_payload_size(timed_queue: leaseq.Queue) -> None:
    payload = {"text": "x" * 260_000}
    assert timed_queue.enqueue_many([payload] * 9).added == 9
    assert timed_queue.items("inbound", limit=1)[0].payload == payload
    calls = {event.at for event in timed_queue.journal() if event.what == "enqueued"}
    assert len(calls) == 3, "about a megabyte for each call"


def test_enqueue_many_without_items_creates_no_queue(timed_queue: leaseq.Queue) -> None:
    assert timed_queue.enqueue_many([]) == leaseq.EnqueuedMany(0, 0)
    assert not timed_queue.exists()


def test_delayed_item_is_scheduled_until_due(timed_queue: leaseq.Queue, clock: Clock, sets: Sets) -> None:
    timed_queue.enqueue({}, id="later", delay=60)
    assert sets()["scheduled"] == ["later"]
    clock.tick(59)
    assert timed_queue.reserve("ann") is None
    clock.tick(2)
    lease = timed_queue.reserve("ann")
    assert lease is not None
    assert lease.id == "later"


def test_item_enqueued_for_future_time_is_scheduled_until_then(
    timed_queue: leaseq.Queue, clock: Clock
) -> None:
    at = datetime.fromtimestamp(clock() / 1e6, UTC) + timedelta(seconds=60)
    timed_queue.enqueue({}, id="later", at=at, priority=5)
    item = timed_queue.get("later")
    assert (item.state, item.state_since, item.priority) == ("scheduled", at, 5)
    clock.tick(59)
    assert timed_queue.reserve("ann") is None
    clock.tick(2)
    lease = timed_queue.reserve("ann")
    assert lease is not None
    assert lease.id == "later"


def test_item_enqueued_for_past_time_is_inbound_immediately(
    timed_queue: leaseq.Queue, clock: Clock, sets: Sets
) -> None:
    now = datetime.fromtimestamp(clock() / 1e6, UTC)
    timed_queue.enqueue_many(
        NewItem({}, id=f"{days}", at=now - timedelta(days=days)) for days in (0, 1, 9_999)
    )
    assert sets()["inbound"] == ["0", "1", "9999"]


def test_repeated_request_with_start_time_returns_same_item(timed_queue: leaseq.Queue, clock: Clock) -> None:
    """With a delay relative to the caller's clock, it would be another request."""
    at = datetime.fromtimestamp(clock() / 1e6, UTC) + timedelta(seconds=60)
    first = timed_queue.enqueue({}, at=at, request_id="reminder")
    clock.tick(30)
    assert timed_queue.enqueue({}, at=at, request_id="reminder") == first
    timed_queue.enqueue({}, request_id="others")
    with refused("request_id", "request_id"):
        timed_queue.enqueue({}, at=at + timedelta(1), request_id="reminder")


def test_priority_selects_band_of_policy(timed_queue: leaseq.Queue, sets: Sets) -> None:
    timed_queue.configure(bands=(10, 20))
    timed_queue.enqueue_many(NewItem({}, id=f"p{p}", priority=p) for p in (21, 20, 11, 10, 0, 1_000_000))
    assert sets()["inbound"] == ["p10", "p0", "p20", "p11", "p21", "p1000000"]


@pytest.mark.parametrize("priority", [0, 99, 100, 101])
def test_priority_near_default_is_stored(timed_queue: leaseq.Queue, priority: int) -> None:
    timed_queue.enqueue({}, id="one", priority=priority)
    assert timed_queue.get("one").priority == priority


def test_due_and_max_attempts_are_stored(timed_queue: leaseq.Queue) -> None:
    due = datetime(2031, 5, 4, 3, 2, 1, 123456, tzinfo=UTC)
    timed_queue.enqueue({}, id="one", due=due, max_attempts=7, priority=42)
    item = timed_queue.get("one")
    assert (item.due, item.max_attempts, item.priority) == (due, 7, 42)


def test_max_attempts_of_item_overrides_policy(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(max_attempts=5)
    timed_queue.enqueue({}, id="one", max_attempts=1)
    assert timed_queue.fail(not_none(timed_queue.reserve("ann")), "no").retry_at is None


def test_first_item_creates_queue_with_default_policy(timed_queue: leaseq.Queue, server: Server) -> None:
    assert not timed_queue.exists()
    timed_queue.enqueue({})
    assert timed_queue.exists()
    assert timed_queue.policy == leaseq.Policy()
    assert timed_queue.name in leaseq.queues(server.client)


def test_bad_item_is_named_by_index_and_its_chunk_is_not_added(timed_queue: leaseq.Queue) -> None:
    with pytest.raises(leaseq.Invalid) as error:
        timed_queue.enqueue_many([{"n": 1}, {"n": 2}, NewItem({}, priority=-1)])
    assert error.value.field == "items[2].priority"
    assert not timed_queue.exists()


def test_repeated_request_is_recognised_after_15_other_enqueues(timed_queue: leaseq.Queue) -> None:
    row = ["one", "", "{}", "two", "", "{}"]
    timed_queue.enqueue({})
    assert timed_queue._commands.run("enqueue", "mine", *row).rest == [2]
    for _ in range(15):
        timed_queue.enqueue({})
    assert timed_queue._commands.run("enqueue", "mine", *row).rest == [2]
