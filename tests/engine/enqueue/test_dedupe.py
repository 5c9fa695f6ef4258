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


def test_within_the_window_the_first_one_stands_for_all(hourly: leaseq.Queue, clock: Clock) -> None:
    assert hourly.enqueue({"text": "hello", "n": 1}, id="one") == Enqueued("one", added=True)
    clock.tick(HOUR - 1)
    assert hourly.enqueue({"n": 1, "text": "hello"}, id="two") == Enqueued("one", added=False)
    assert hourly.enqueue({"n": 1, "text": "hello"}) == Enqueued("one", added=False)
    assert hourly.enqueue({"text": "hello", "n": 2}, id="three").added
    assert [item.id for item in hourly.items("inbound")] == ["one", "three"]
    assert hourly.stats().counters["deduped"] == 2


def test_the_window_counts_from_the_first_one(hourly: leaseq.Queue, clock: Clock) -> None:
    hourly.enqueue({"n": 1}, id="one")
    clock.tick(HOUR - 1)
    assert not hourly.enqueue({"n": 1}).added  # does not extend the window
    clock.tick(2)
    assert hourly.enqueue({"n": 1}, id="two") == Enqueued("two", added=True)
    clock.tick(HOUR - 1)
    assert hourly.enqueue({"n": 1}) == Enqueued("two", added=False)


def test_the_window_is_over_at_its_very_end(hourly: leaseq.Queue, clock: Clock) -> None:
    hourly.enqueue({"n": 1}, id="one")
    clock.now = codec.microseconds(hourly.get("one").state_since) + HOUR * 1_000_000 - 1
    assert not hourly.enqueue({"n": 1}).added
    clock.now += 1
    assert hourly.enqueue({"n": 1}).added


def test_it_counts_in_whatever_state_it_is(hourly: leaseq.Queue) -> None:
    hourly.enqueue({"n": 1}, id="one", delay=60)
    assert hourly.enqueue({"n": 1}) == Enqueued("one", added=False)
    hourly.enqueue({"n": 2}, id="two")
    hourly.finish(not_none(hourly.reserve("ann")), {})
    assert hourly.enqueue({"n": 2}, id="again") == Enqueued("two", added=False)


def test_what_was_removed_does_not_count(hourly: leaseq.Queue, clock: Clock) -> None:
    hourly.enqueue({"n": 1}, id="one")
    hourly.remove("one")
    assert hourly.enqueue({"n": 1}, id="two").added
    hourly.remove("two")
    clock.tick(1)
    hourly.enqueue({"other": 1}, id="two")  # the same id, but another payload
    assert hourly.enqueue({"n": 1}, id="three") == Enqueued("three", added=True)


def test_many_at_once(hourly: leaseq.Queue) -> None:
    hourly.enqueue({"n": 0}, id="before")
    assert hourly.enqueue_many(
        [{"n": 0}, {"n": 1}, {"n": 1}, NewItem({"n": 2}, id="before")]
    ) == EnqueuedMany(1, 3)
    assert hourly.enqueue_many({"n": n % 400} for n in range(800)) == EnqueuedMany(398, 402)
    assert hourly.stats().counters["deduped"] == 404  # one of them had an existing id
    assert hourly.stats().inbound == 400


def test_a_chunk_that_takes_longer_than_a_millisecond_of_the_queue_s_time(
    hourly: leaseq.Queue, clock: Clock
) -> None:
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
def test_what_is_equal(hourly: leaseq.Queue, one: leaseq.Json, other: leaseq.Json, same: bool) -> None:
    hourly.enqueue(one)
    assert hourly.enqueue(other).added is not same


def test_extras_are_kept_with_the_item_that_stays(hourly: leaseq.Queue) -> None:
    hourly.enqueue({"n": 1}, id="one", priority=7, requires=["fr"], max_attempts=9)
    hourly.enqueue({"n": 1}, priority=200)
    item = hourly.get("one")
    assert (item.priority, item.requires, item.max_attempts, item.payload) == (7, ("fr",), 9, {"n": 1})


def test_a_program_that_runs_on_follows_the_policy(hourly: leaseq.Queue, same_queue: leaseq.Queue) -> None:
    hourly.configure(dedupe_seconds=0)
    assert same_queue.enqueue_many([{"n": 1}] * 2) == EnqueuedMany(2, 0)
    hourly.configure(dedupe_seconds=HOUR)
    assert same_queue.enqueue_many([{"n": 1}] * 2) == EnqueuedMany(
        1, 1
    )  # items enqueued without it are not remembered
    hourly.configure(dedupe_seconds=0)
    assert same_queue.enqueue_many([{"n": 1}] * 2) == EnqueuedMany(2, 0)
    assert same_queue.get(same_queue.enqueue({"n": 1}, id="plain").id).payload == {"n": 1}


def test_without_the_rule_nothing_is_computed_and_nothing_kept(
    timed_queue: leaseq.Queue, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("leaseq.engine.digest.digest")
    timed_queue.enqueue_many([{"n": 1}] * 3)
    assert not [key for key in server_contents.everything(server.redis, timed_queue.name) if b":seen:" in key]


def test_what_is_kept_for_it_goes_by_itself(hourly: leaseq.Queue, server: Server) -> None:
    hourly.enqueue_many([{"n": 1}, {"n": 2}])
    keys = list(server.redis.scan_iter(match=f"leaseq:{{{hourly.name}}}:seen:*", count=10_000))
    assert len(keys) == 2
    assert all(0 < server.redis.pttl(key) <= HOUR * 1000 for key in keys)


@pytest.mark.parametrize("was_there", [True, False])
def test_the_same_request_gets_the_same_answer_and_counts_once(
    hourly: leaseq.Queue, was_there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if was_there:
        hourly.enqueue({"n": 1}, id="first")
    monkeypatch.setattr("leaseq.engine.ids.request_id", lambda: "same")
    first_reply = hourly.enqueue({"n": 1}, id="one")
    counters = hourly.stats().counters
    assert hourly.enqueue({"n": 1}, id="one") == first_reply
    assert hourly.stats().counters == counters
