"""An equal payload within the policy's window is a duplicate, whatever its id."""

from __future__ import annotations

import pytest

import leaseq
from leaseq import Enqueued, EnqueuedMany, NewItem
from leaseq.engine import codec
from tests.conftest import Clock, Server
from tests.engine import server_contents
from tests.support.leases import not_none

HOUR = 3600


@pytest.fixture
def hourly(timed_queue: leaseq.Queue) -> leaseq.Queue:
    timed_queue.configure(dedupe_seconds=HOUR)
    return timed_queue


def test_equal_payload_within_window_returns_first_item(hourly: leaseq.Queue, clock: Clock) -> None:
    assert hourly.enqueue({"text": "hello", "n": 1}, id="one") == Enqueued("one", added=True)
    clock.tick(HOUR - 1)
    assert hourly.enqueue({"n": 1, "text": "hello"}, id="two") == Enqueued("one", added=False)
    assert hourly.enqueue({"n": 1, "text": "hello"}) == Enqueued("one", added=False)
    assert hourly.enqueue({"text": "hello", "n": 2}, id="three").added
    assert [item.id for item in hourly.items("inbound")] == ["one", "three"]
    assert hourly.stats().counters["deduped"] == 2


def test_window_starts_with_first_item(hourly: leaseq.Queue, clock: Clock) -> None:
    hourly.enqueue({"n": 1}, id="one")
    clock.tick(HOUR - 1)
    assert not hourly.enqueue({"n": 1}).added  # does not extend the window
    clock.tick(2)
    assert hourly.enqueue({"n": 1}, id="two") == Enqueued("two", added=True)
    clock.tick(HOUR - 1)
    assert hourly.enqueue({"n": 1}) == Enqueued("two", added=False)


def test_window_ends_exactly_after_dedupe_seconds(hourly: leaseq.Queue, clock: Clock) -> None:
    hourly.enqueue({"n": 1}, id="one")
    clock.now = codec.microseconds(hourly.get("one").state_since) + HOUR * 1_000_000 - 1
    assert not hourly.enqueue({"n": 1}).added
    clock.now += 1
    assert hourly.enqueue({"n": 1}).added


def test_duplicates_of_scheduled_and_finished_items_are_detected(hourly: leaseq.Queue) -> None:
    hourly.enqueue({"n": 1}, id="one", delay=60)
    assert hourly.enqueue({"n": 1}) == Enqueued("one", added=False)
    hourly.enqueue({"n": 2}, id="two")
    hourly.finish(not_none(hourly.reserve("ann")), {})
    assert hourly.enqueue({"n": 2}, id="again") == Enqueued("two", added=False)


def test_removed_item_does_not_count_as_duplicate(hourly: leaseq.Queue, clock: Clock) -> None:
    hourly.enqueue({"n": 1}, id="one")
    hourly.remove("one")
    assert hourly.enqueue({"n": 1}, id="two").added
    hourly.remove("two")
    clock.tick(1)
    hourly.enqueue({"other": 1}, id="two")  # the same id, but another payload
    assert hourly.enqueue({"n": 1}, id="three") == Enqueued("three", added=True)


def test_enqueue_many_counts_duplicates(hourly: leaseq.Queue) -> None:
    hourly.enqueue({"n": 0}, id="before")
    assert hourly.enqueue_many(
        [{"n": 0}, {"n": 1}, {"n": 1}, NewItem({"n": 2}, id="before")]
    ) == EnqueuedMany(1, 2, 1)
    assert hourly.enqueue_many({"n": n % 400} for n in range(800)) == EnqueuedMany(398, 402)
    assert hourly.stats().counters["deduped"] == 404  # one of them had an existing id
    assert hourly.stats().inbound == 400


def test_dedupe_works_for_chunk_spanning_two_milliseconds(hourly: leaseq.Queue, clock: Clock) -> None:
    clock.now += 900  # items take a microsecond each: the chunk's last ones enter in the next millisecond
    assert hourly.enqueue_many({"n": n} for n in range(250)) == EnqueuedMany(250, 0)
    assert hourly.enqueue_many({"n": n} for n in range(250)) == EnqueuedMany(0, 250)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": 1, "b": [1.0, {"c": "x", "d": None}]}, {"b": [1, {"d": None, "c": "x"}], "a": 1.0}, True),
        (1e22, 10**22, True),
        (-0.0, 0, True),
        (1.5, 1, False),
        (2**53, 2**53 + 1, False),
        (1, True, False),
        (0, False, False),
        (1, "1", False),
        ([1, 2], [2, 1], False),
        ({"a": None}, {}, False),
        ("\u00e9", "e\u0301", False),
        ("Z\u00fcrich \U0001f600", "Z\u00fcrich \U0001f600", True),
    ],
)
def test_payloads_are_compared_as_json_values(
    hourly: leaseq.Queue, one: leaseq.Json, other: leaseq.Json, same: bool
) -> None:
    hourly.enqueue(one)
    assert hourly.enqueue(other).added is not same


def test_duplicate_does_not_change_fields_of_first_item(hourly: leaseq.Queue) -> None:
    hourly.enqueue({"n": 1}, id="one", priority=7, requires=["fr"], max_attempts=9)
    hourly.enqueue({"n": 1}, priority=200)
    item = hourly.get("one")
    assert (item.priority, item.requires, item.max_attempts, item.payload) == (7, ("fr",), 9, {"n": 1})


def test_running_client_applies_changed_dedupe_seconds(
    hourly: leaseq.Queue, same_queue: leaseq.Queue
) -> None:
    hourly.configure(dedupe_seconds=0)
    assert same_queue.enqueue_many([{"n": 1}] * 2) == EnqueuedMany(2, 0)
    hourly.configure(dedupe_seconds=HOUR)
    assert same_queue.enqueue_many([{"n": 1}] * 2) == EnqueuedMany(
        1, 1
    )  # items enqueued without it are not remembered
    hourly.configure(dedupe_seconds=0)
    assert same_queue.enqueue_many([{"n": 1}] * 2) == EnqueuedMany(2, 0)
    assert same_queue.get(same_queue.enqueue({"n": 1}, id="plain").id).payload == {"n": 1}


def test_digest_is_neither_computed_nor_stored_without_dedupe(
    timed_queue: leaseq.Queue, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("leaseq.engine.arguments.digest")
    timed_queue.enqueue_many([{"n": 1}] * 3)
    assert not [key for key in server_contents.everything(server.redis, timed_queue.name) if b":seen:" in key]


def test_dedupe_keys_expire(hourly: leaseq.Queue, server: Server) -> None:
    hourly.enqueue_many([{"n": 1}, {"n": 2}])
    keys = list(server.redis.scan_iter(match=f"leaseq:{{{hourly.name}}}:seen:*", count=10_000))
    assert len(keys) == 2
    assert all(0 < server.redis.pttl(key) <= HOUR * 1000 for key in keys)


@pytest.mark.parametrize("exists", [True, False])
def test_repeated_request_returns_same_result_and_counts_once(
    hourly: leaseq.Queue, exists: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if exists:
        hourly.enqueue({"n": 1}, id="first")
    monkeypatch.setattr("leaseq.engine.arguments.request_id", lambda: "same")
    first_reply = hourly.enqueue({"n": 1}, id="one")
    counters = hourly.stats().counters
    assert hourly.enqueue({"n": 1}, id="one") == first_reply
    assert hourly.stats().counters == counters
