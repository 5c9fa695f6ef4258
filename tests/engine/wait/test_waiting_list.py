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
def stand(timed_queue: leaseq.Queue, clock: Clock) -> Callable[..., None]:
    """Return a function that lets people join the line, a moment apart, each with their name as waiter."""

    def stand(*people: str) -> None:
        for person in people:
            clock.tick(0.1)
            assert not isinstance(timed_queue._reserve(person, f"r-{person}", "", person), leaseq.Lease)

    return stand


def look(timed_queue: leaseq.Queue, person: str, woken: bool, skills: str = "") -> str | None:
    outcome = timed_queue._reserve(person, f"r-{person}", skills, person, woken)
    return outcome.id if isinstance(outcome, leaseq.Lease) else None


def test_the_line_by_the_tests_clock(timed_queue: leaseq.Queue, clock: Clock, server: Server) -> None:
    """A waiter that has not looked for five seconds is not woken."""
    timed_queue.configure()
    for name in ("first", "second"):
        timed_queue._commands.reserve(name, "r", "", f"w-{name}")
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
def test_a_waiter_counts_for_five_seconds_to_the_last_moment(
    timed_queue: leaseq.Queue, stand: Callable[..., None], clock: Clock, microseconds: int, count: int
) -> None:
    """Afterwards the next one is woken instead, and has left the line as well."""
    timed_queue.configure()
    stand("ann")
    start_time = clock.now
    stand("bob")
    clock.now = start_time + microseconds
    timed_queue.enqueue({})
    assert timed_queue.stats().waiting == count


def test_who_was_killed_after_being_woken_is_forgotten(
    timed_queue: leaseq.Queue, stand: Callable[..., None], server: Server
) -> None:
    """Theirs is the last entry of the line: it expires by itself, and an enqueue has no extra cost any
    longer."""
    timed_queue.configure()
    stand("ann")
    timed_queue.enqueue({}, id="a")
    assert timed_queue.reserve("bob") is not None
    keys = Keys(timed_queue.name)
    assert server.redis.hlen(keys.line_until) == 1
    assert 0 < server.redis.ttl(keys.line_until) <= 60
    server.redis.delete(keys.line_until)  # as if it had expired
    timed_queue.enqueue({}, id="b")
    assert server.redis.hget(keys.ledger, "line") is None


def test_an_expired_item_goes_to_the_first_in_line(
    timed_queue: leaseq.Queue, clock: Clock, stand: Callable[..., None]
) -> None:
    timed_queue.configure(lease_seconds=4)
    timed_queue.enqueue({}, id="a")
    timed_queue.reserve("gone")
    stand("first", "second")
    clock.tick(4)
    assert look(timed_queue, "second", woken=False) is None
    assert look(timed_queue, "first", woken=True) == "a"


def test_the_next_answer_wakes_another_than_who_took_the_one_before(
    timed_queue: leaseq.Queue, clock: Clock, stand: Callable[..., None]
) -> None:
    timed_queue.configure(answers=2)
    stand("died", "second", "third")
    timed_queue.enqueue({}, id="a")  # wakes the first, who doesn't come
    clock.tick(3.5)
    assert look(timed_queue, "second", woken=False) == "a"
    assert timed_queue.stats().waiting == 0, "the third is woken for the second answer"
    assert look(timed_queue, "third", woken=True) == "a"


def test_who_is_woken_and_has_their_hands_full_by_now_makes_room_for_the_next(
    timed_queue: leaseq.Queue, stand: Callable[..., None]
) -> None:
    timed_queue.configure()
    stand("ann", "bob")
    timed_queue.enqueue({}, id="french", requires=["fr"])  # wakes ann, and then bob, for nothing
    assert look(timed_queue, "ann", woken=True) is None
    assert look(timed_queue, "bob", woken=True) is None
    timed_queue.enqueue({}, id="any", priority=200)
    lease = timed_queue.reserve("ann", skills=["fr"])
    assert lease is not None
    assert lease.id == "french"
    assert look(timed_queue, "ann", woken=True) == "french"
    assert timed_queue.stats().waiting == 0, "bob is woken"
    assert look(timed_queue, "bob", woken=True) == "any"


@pytest.mark.parametrize("paused", [False, True])
def test_as_many_are_woken_at_once_as_there_are_items(
    timed_queue: leaseq.Queue, stand: Callable[..., None], paused: bool
) -> None:
    """Nobody has to look by themselves first."""
    timed_queue.configure()
    stand("ann", "bob", "cyd")
    if paused:
        timed_queue.pause()
    timed_queue.enqueue_many([{}, {}])
    assert timed_queue.stats().waiting == (3 if paused else 1)
    timed_queue.resume()
    assert timed_queue.stats().waiting == 1


def test_who_was_woken_and_leaves_makes_room_for_the_next(
    timed_queue: leaseq.Queue, stand: Callable[..., None]
) -> None:
    timed_queue.configure()
    stand("ann", "bob")
    timed_queue.enqueue({})
    assert timed_queue.stats().waiting == 1
    timed_queue._commands.leave_line("ann", "ann", "r-ann", 0)
    assert timed_queue.stats().waiting == 0


def test_what_is_not_for_who_was_woken_wakes_the_next(
    timed_queue: leaseq.Queue, stand: Callable[..., None], server: Server
) -> None:
    timed_queue.configure()
    stand("ann", "bob", "cyd")
    timed_queue.enqueue({}, requires=["fr"])
    assert server.redis.zrange(Keys(timed_queue.name).line, 0, -1) == [b"bob", b"cyd"]
    assert look(timed_queue, "ann", woken=True) is None
    assert server.redis.zrange(Keys(timed_queue.name).line, 0, -1) == [b"ann", b"cyd"]


def waiters(server: Server, queue: leaseq.Queue) -> list[bytes]:
    """Return the waiters in the order in which they are woken."""
    names: list[bytes] = server.redis.zrange(Keys(queue.name).line, 0, -1)
    return names


def test_waiters_that_begin_at_one_moment_are_woken_in_the_order_of_their_calls(
    timed_queue: leaseq.Queue, server: Server
) -> None:
    timed_queue.configure()
    for person in ("cyd", "bob", "ann"):
        assert look(timed_queue, person, woken=False) is None
    assert waiters(server, timed_queue) == [b"cyd", b"bob", b"ann"]


def test_a_waiter_that_begins_while_those_in_front_are_woken_stands_behind_them(
    timed_queue: leaseq.Queue, stand: Callable[..., None], server: Server
) -> None:
    timed_queue.configure()
    stand("cyd", "bob")
    timed_queue.enqueue_many(
        NewItem({}, requires=("fr",)) for _ in range(2)
    )  # both are woken, but get nothing
    stand("ann")
    for person in ("cyd", "bob", "ann"):  # each thereby wakes the next
        assert look(timed_queue, person, woken=True) is None
    assert waiters(server, timed_queue) == [b"cyd", b"bob", b"ann"]


@pytest.fixture
def french(timed_queue: leaseq.Queue, stand: Callable[..., None]) -> None:
    """A waiting item for which ann and bob, in line, were woken, but lack the skill."""
    timed_queue.configure(answers=2)
    stand("ann", "bob")
    timed_queue.enqueue({}, id="french", requires=["fr"])
    for person in ("ann", "bob"):
        assert look(timed_queue, person, woken=True) is None


@pytest.mark.usefixtures("french")
@pytest.mark.parametrize(("person", "microseconds"), [("ann", 200_000), ("bob", 3_000_000)])
def test_a_waiter_that_was_not_woken_has_its_turn_a_while_after_the_last_wake_up(
    timed_queue: leaseq.Queue, clock: Clock, server: Server, person: str, microseconds: int
) -> None:
    """The first in line after the woken ones had time to come; the others when no message can still be on its
    way."""
    clock.now = int(server.redis.hget(Keys(timed_queue.name).ledger, "line")) + microseconds - 1
    assert look(timed_queue, person, woken=False, skills="fr") is None
    clock.now += 1
    assert look(timed_queue, person, woken=False, skills="fr") == "french"


@pytest.mark.usefixtures("french")
def test_a_waiter_that_takes_an_answer_without_a_wake_up_wakes_another_for_the_next(
    timed_queue: leaseq.Queue, clock: Clock
) -> None:
    clock.tick(1)
    assert timed_queue.stats().waiting == 2
    assert look(timed_queue, "ann", woken=False, skills="fr") == "french"
    assert timed_queue.stats().waiting == 0, "bob is woken"
