"""The waiting list, by the test's clock: who is woken, in which order, and the effect of a lost waiter."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import leaseq
from leaseq import NewItem
from leaseq.engine.keys import Keys
from tests.conftest import Clock, Server
from tests.support.waiting import eventually


@pytest.fixture
def join_line(timed_queue: leaseq.Queue, clock: Clock) -> Callable[..., None]:
    """Return a function that lets people join the line, a moment apart, each with their name as waiter."""

    def join_line(*people: str) -> None:
        for person in people:
            clock.tick(0.1)
            assert not isinstance(timed_queue._reserve(person, f"r-{person}", "", person), leaseq.Lease)

    return join_line


def try_reserve(timed_queue: leaseq.Queue, person: str, woken: bool, skills: str = "") -> str | None:
    outcome = timed_queue._reserve(person, f"r-{person}", skills, person, woken)
    return outcome.id if isinstance(outcome, leaseq.Lease) else None


def test_waiter_silent_for_over_five_seconds_is_not_woken(
    timed_queue: leaseq.Queue, clock: Clock, server: Server
) -> None:
    """A waiter that has not looked for five seconds is not woken."""
    timed_queue.configure()
    for name in ("first", "second"):
        timed_queue._commands.run("reserve", name, "r", "", f"w-{name}", 0)
        clock.tick(1)
    clock.tick(3.5)  # 5.5 seconds after the first, 4.5 after the second
    pubsub = server.redis.pubsub()
    pubsub.psubscribe("leaseq:*")
    eventually(lambda: (pubsub.get_message() or {}).get("type") == "psubscribe")
    timed_queue.enqueue({})
    message = None
    while message is None:
        message = pubsub.get_message(timeout=1)
    pubsub.close()
    assert message["channel"] == f"leaseq:{{{timed_queue.name}}}:wake".encode()
    assert message["data"] == b"w-second"


@pytest.mark.parametrize(("microseconds", "count"), [(5_000_000, 1), (5_000_001, 0)])
def test_waiter_is_present_for_exactly_five_seconds(
    timed_queue: leaseq.Queue, join_line: Callable[..., None], clock: Clock, microseconds: int, count: int
) -> None:
    """Afterwards the next one is woken instead, and has left the line as well."""
    timed_queue.configure()
    join_line("ann")
    start_time = clock.now
    join_line("bob")
    clock.now = start_time + microseconds
    timed_queue.enqueue({})
    assert timed_queue.stats().waiting == count


def test_waiter_killed_after_wake_up_is_forgotten(
    timed_queue: leaseq.Queue, join_line: Callable[..., None], server: Server
) -> None:
    """The last entry of the line expires by itself, and then an enqueue has no extra cost."""
    timed_queue.configure()
    join_line("ann")
    timed_queue.enqueue({}, id="a")
    assert timed_queue.reserve("bob") is not None
    keys = Keys(timed_queue.name)
    assert server.redis.hlen(keys.waiter_times) == 1
    assert 0 < server.redis.ttl(keys.waiter_times) <= 60
    server.redis.delete(keys.waiter_times)  # as if it had expired
    timed_queue.enqueue({}, id="b")
    assert server.redis.hget(keys.ledger, "woken") is None


def test_an_expired_item_goes_to_the_first_in_line(
    timed_queue: leaseq.Queue, clock: Clock, join_line: Callable[..., None]
) -> None:
    timed_queue.configure(lease_seconds=4)
    timed_queue.enqueue({}, id="a")
    timed_queue.reserve("gone")
    join_line("first", "second")
    clock.tick(4)
    assert try_reserve(timed_queue, "second", woken=False) is None
    assert try_reserve(timed_queue, "first", woken=True) == "a"


def test_next_assignment_wakes_another_waiter(
    timed_queue: leaseq.Queue, clock: Clock, join_line: Callable[..., None]
) -> None:
    timed_queue.configure(answers=2)
    join_line("died", "second", "third")
    timed_queue.enqueue({}, id="a")  # wakes the first, who doesn't come
    clock.tick(3.5)
    assert try_reserve(timed_queue, "second", woken=False) == "a"
    assert timed_queue.stats().waiting == 0, "the third is woken for the second answer"
    assert try_reserve(timed_queue, "third", woken=True) == "a"


def test_woken_waiter_at_holds_limit_wakes_next_waiter(
    timed_queue: leaseq.Queue, join_line: Callable[..., None]
) -> None:
    timed_queue.configure()
    join_line("ann", "bob")
    timed_queue.enqueue({}, id="french", requires=["fr"])  # wakes ann, and then bob, for nothing
    assert try_reserve(timed_queue, "ann", woken=True) is None
    assert try_reserve(timed_queue, "bob", woken=True) is None
    timed_queue.enqueue({}, id="any", priority=200)
    lease = timed_queue.reserve("ann", skills=["fr"])
    assert lease is not None
    assert lease.id == "french"
    assert try_reserve(timed_queue, "ann", woken=True) == "french"
    assert timed_queue.stats().waiting == 0, "bob is woken"
    assert try_reserve(timed_queue, "bob", woken=True) == "any"


@pytest.mark.parametrize("paused", [False, True])
def test_one_waiter_is_woken_for_each_item(
    timed_queue: leaseq.Queue, join_line: Callable[..., None], paused: bool
) -> None:
    """No waiter has to call the server before."""
    timed_queue.configure()
    join_line("ann", "bob", "cyd")
    if paused:
        timed_queue.pause()
    timed_queue.enqueue_many([{}, {}])
    assert timed_queue.stats().waiting == (3 if paused else 1)
    timed_queue.resume()
    assert timed_queue.stats().waiting == 1


def test_woken_waiter_that_leaves_wakes_next_waiter(
    timed_queue: leaseq.Queue, join_line: Callable[..., None]
) -> None:
    timed_queue.configure()
    join_line("ann", "bob")
    timed_queue.enqueue({})
    assert timed_queue.stats().waiting == 1
    timed_queue._commands.run("end_wait", "ann", "ann", "r-ann", 0)
    assert timed_queue.stats().waiting == 0


def test_woken_waiter_without_skill_wakes_next_and_keeps_place(
    timed_queue: leaseq.Queue, join_line: Callable[..., None], server: Server
) -> None:
    timed_queue.configure()
    join_line("ann", "bob", "cyd")
    timed_queue.enqueue({}, requires=["fr"])
    assert server.redis.zrange(Keys(timed_queue.name).waiters, 0, -1) == [b"bob", b"cyd"]
    assert try_reserve(timed_queue, "ann", woken=True) is None
    assert server.redis.zrange(Keys(timed_queue.name).waiters, 0, -1) == [b"ann", b"cyd"]


def waiters(server: Server, queue: leaseq.Queue) -> list[bytes]:
    """Return the waiters in the order in which they are woken."""
    names: list[bytes] = server.redis.zrange(Keys(queue.name).waiters, 0, -1)
    return names


def test_waiters_that_begin_at_same_time_keep_order_of_calls(
    timed_queue: leaseq.Queue, server: Server
) -> None:
    timed_queue.configure()
    for person in ("cyd", "bob", "ann"):
        assert try_reserve(timed_queue, person, woken=False) is None
    assert waiters(server, timed_queue) == [b"cyd", b"bob", b"ann"]


def test_waiter_that_begins_during_wake_up_of_others_is_behind_them(
    timed_queue: leaseq.Queue, join_line: Callable[..., None], server: Server
) -> None:
    timed_queue.configure()
    join_line("cyd", "bob")
    timed_queue.enqueue_many(
        NewItem({}, requires=("fr",)) for _ in range(2)
    )  # both are woken, but get nothing
    join_line("ann")
    for person in ("cyd", "bob", "ann"):  # each thereby wakes the next
        assert try_reserve(timed_queue, person, woken=True) is None
    assert waiters(server, timed_queue) == [b"cyd", b"bob", b"ann"]


@pytest.fixture
def french(timed_queue: leaseq.Queue, join_line: Callable[..., None]) -> None:
    """A waiting item for which ann and bob, in line, were woken, but lack the skill."""
    timed_queue.configure(answers=2)
    join_line("ann", "bob")
    timed_queue.enqueue({}, id="french", requires=["fr"])
    for person in ("ann", "bob"):
        assert try_reserve(timed_queue, person, woken=True) is None


@pytest.mark.usefixtures("french")
@pytest.mark.parametrize(("person", "microseconds"), [("ann", 200_000), ("bob", 3_000_000)])
def test_waiter_without_wake_up_gets_turn_some_time_after_last_wake_up(
    timed_queue: leaseq.Queue, clock: Clock, server: Server, person: str, microseconds: int
) -> None:
    """The first in line after the woken ones had time to come; the others when no message can still be on its
    way."""
    clock.now = int(server.redis.hget(Keys(timed_queue.name).ledger, "woken")) + microseconds - 1
    assert try_reserve(timed_queue, person, woken=False, skills="fr") is None
    clock.now += 1
    assert try_reserve(timed_queue, person, woken=False, skills="fr") == "french"


@pytest.mark.usefixtures("french")
def test_waiter_that_takes_assignment_without_wake_up_wakes_another(
    timed_queue: leaseq.Queue, clock: Clock
) -> None:
    clock.tick(1)
    assert timed_queue.stats().waiting == 2
    assert try_reserve(timed_queue, "ann", woken=False, skills="fr") == "french"
    assert timed_queue.stats().waiting == 0, "bob is woken"
