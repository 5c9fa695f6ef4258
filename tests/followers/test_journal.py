"""A follower's place in a journal, and what it says when it is behind."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import pytest

import leaseq
from leaseq.engine.keys import Keys
from leaseq.followers import Lag, MemoryPlace, Place, ServerPlace, read_on
from tests.conftest import Clock, Server

log = logging.getLogger("tests.followers")


def read_ids(queue: leaseq.Queue, place: Place, limit: int = 100) -> list[str | None]:
    ids: list[str | None] = []

    def note(rows: Sequence[leaseq.EventRow]) -> None:
        ids.extend(row.id for row in rows if row.id)

    assert read_on(queue.event_rows, place, note, limit) >= len(ids)
    return ids


@pytest.fixture
def followed_queue(queue: leaseq.Queue) -> leaseq.Queue:
    queue.configure()
    for id in ("a", "b", "c"):
        queue.enqueue({}, id=id)
    return queue


@pytest.mark.parametrize("is_stored", [False, True])
def test_each_event_is_handed_on_once(followed_queue: leaseq.Queue, is_stored: bool) -> None:
    place = ServerPlace(followed_queue, "test") if is_stored else MemoryPlace()
    assert read_ids(followed_queue, place) == ["a", "b", "c"]
    assert read_ids(followed_queue, place) == []
    followed_queue.enqueue({}, id="d")
    assert read_ids(followed_queue, place) == ["d"]


def test_read_ends_at_its_limit(followed_queue: leaseq.Queue) -> None:
    place = MemoryPlace()
    ids = [read_ids(followed_queue, place, 1) for _ in range(5)]
    assert ids == [[], ["a"], ["b"], ["c"], []]


def test_events_are_handed_on_again_after_an_interruption(followed_queue: leaseq.Queue) -> None:
    place = ServerPlace(followed_queue, "test")

    def fail(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_on(followed_queue.event_rows, place, fail, 100)
    assert read_ids(followed_queue, ServerPlace(followed_queue, "test")) == ["a", "b", "c"]


def test_followers_of_one_name_share_their_place(followed_queue: leaseq.Queue) -> None:
    assert read_ids(followed_queue, ServerPlace(followed_queue, "test")) == ["a", "b", "c"]
    assert read_ids(followed_queue, ServerPlace(followed_queue, "test")) == []
    assert read_ids(followed_queue, ServerPlace(followed_queue, "other")) == ["a", "b", "c"]


def test_lag_is_logged_once_until_the_follower_has_caught_up(
    server: Server, queue_name: str, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock.from_now(0)
    queue, lag = leaseq.Queue(server.client, queue_name, clock=clock), Lag("the test", log)
    queue.configure()
    queue.enqueue({}, id="a")
    read_to = queue.journal()[-1].cursor
    clock.tick(59)
    queue.enqueue({}, id="b")
    lag.check(queue, read_to, has_more=True)
    assert caplog.text == ""
    clock.tick(3)
    queue.enqueue({}, id="c")
    for _ in range(2):
        lag.check(queue, read_to, has_more=True)
    assert caplog.text.count("the test is 0:01:02 behind") == 1
    for _ in range(2):
        lag.check(queue, queue.journal()[-1].cursor, has_more=False)
    assert caplog.text.count("the test has caught up") == 1
    lag.check(queue, read_to, has_more=True)
    assert caplog.text.count("behind") == 2


def test_lag_of_a_journal_that_was_lost_is_unknown(
    server: Server, followed_queue: leaseq.Queue, caplog: pytest.LogCaptureFixture
) -> None:
    server.redis.delete(Keys(followed_queue.name).journal)
    Lag("the test", log).check(followed_queue, "5.0", has_more=True)
    assert caplog.text == ""
