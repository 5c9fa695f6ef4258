"""Waiting: in line, across clients and processes, and awake the moment there is something."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

import leaseq
from leaseq.engine.client import connection_of
from leaseq.engine.keys import Keys
from leaseq.engine.notifications import LookAgain
from tests.conftest import Clock, Server
from tests.engine.waiters import LONG, Start, got, in_line
from tests.support.patience import eventually


def test_who_began_first_gets_the_first_across_clients(
    server: Server, queue: leaseq.Queue, start: Start
) -> None:
    queue.configure()
    elsewhere = leaseq.Queue(leaseq.connect(server.url), queue.name)
    waiting = [start(f"p{n}", on=elsewhere if n % 2 else queue) for n in range(6)]
    for n in range(6):
        queue.enqueue({}, id=f"{n}")
        assert got(waiting[n]) == [f"{n}"]
    assert in_line(server, queue) == 0
    assert server.redis.hget(Keys(queue.name).ledger, "line") is None, "an enqueue pays nothing any more"


def test_as_many_wake_as_there_are_items(queue: leaseq.Queue, start: Start) -> None:
    queue.configure()
    waiting = [start(f"p{n}") for n in range(4)]
    queue.enqueue_many([{}, {}, {}])
    assert len(set(got(*waiting[:3]))) == 3
    assert not waiting[3].done()
    queue.enqueue({})
    got(waiting[3])


def abandoned_and_resumed(queue: leaseq.Queue, lease: leaseq.Lease) -> None:
    queue.abandon(lease)
    queue.resume()


COMES_BACK: dict[str, Callable[[leaseq.Queue, leaseq.Lease], object]] = {
    "abandoned": lambda queue, lease: queue.abandon(lease),
    "released": lambda queue, lease: queue.release(lease.id),
    "failed": lambda queue, lease: queue.fail(lease, "no"),
    "expired": lambda *_: None,
    "resumed": abandoned_and_resumed,
}


@pytest.mark.parametrize("how", COMES_BACK)
def test_what_comes_back_wakes(queue: leaseq.Queue, start: Start, how: str) -> None:
    """Also a lease that runs out and a retry that comes due while nothing runs but those who wait."""
    queue.configure(lease_seconds=0.5, retry_seconds=0.2)
    queue.enqueue({}, id="a")
    lease = queue.reserve("ann")
    assert lease is not None
    if how == "resumed":
        queue.pause()
    bob = start("bob")
    COMES_BACK[how](queue, lease)
    assert got(bob) == ["a"]


def test_what_is_not_for_the_first_goes_to_who_may_have_it(queue: leaseq.Queue, start: Start) -> None:
    queue.configure()
    ann, bob, cyd = start("ann"), start("bob", skills=["fr"]), start("cyd", skills=["fr"])
    queue.enqueue({}, id="french", requires=["fr"])
    assert got(bob) == ["french"]
    queue.enqueue({}, id="any")
    assert got(ann) == ["any"], "who was passed over kept their place"
    assert not cyd.done()
    queue.enqueue({})
    got(cyd)


def test_the_time_is_over(server: Server, queue: leaseq.Queue) -> None:
    queue.configure()
    assert queue.reserve("ann", wait=0.05) is None
    assert in_line(server, queue) == 0
    assert leaseq.Queue(server.client, f"{queue.name}.none").reserve("ann", wait=0.01) is None


def test_who_holds_their_full_number_does_not_wait(queue: leaseq.Queue) -> None:
    queue.enqueue({}, id="a")
    queue.reserve("ann")
    found: list[leaseq.Lease | None] = []
    thread = threading.Thread(target=lambda: found.append(queue.reserve("ann", wait=LONG)))
    thread.start()
    thread.join(LONG / 2)
    assert [lease.id for lease in found if lease] == ["a"]


def test_who_died_in_line_holds_up_nobody(server: Server, queue: leaseq.Queue, start: Start) -> None:
    queue.configure()
    code = (
        "import sys, leaseq; leaseq.Queue(leaseq.connect(sys.argv[1]), sys.argv[2]).reserve('gone', wait=600)"
    )
    child = subprocess.Popen([sys.executable, "-c", code, server.url, queue.name])
    eventually(lambda: in_line(server, queue) == 1)
    child.kill()
    child.wait(LONG)
    ann = start("ann")
    queue.enqueue({}, id="a")
    assert got(ann) == ["a"]


@pytest.mark.parametrize("wait", [-1, 3_601, float("nan"), "1", True, None])
def test_how_long(queue: leaseq.Queue, wait: object) -> None:
    """Refused, though nobody would have to wait."""
    queue.enqueue({})
    with pytest.raises(leaseq.Invalid) as refused:
        queue.reserve("ann", wait=wait)  # type: ignore[arg-type]
    assert refused.value.field == "wait"


def test_the_line_by_the_tests_clock(timed: leaseq.Queue, clock: Clock, server: Server) -> None:
    """Who has said nothing for five seconds is not woken any more."""
    timed.configure()
    for name in ("first", "second"):
        timed._commands.reserve(name, "r", "", f"w-{name}")
        clock.tick(1)
    clock.tick(3.5)  # five and a half after the first, four and a half after the second
    pubsub = server.redis.pubsub()
    pubsub.psubscribe("leaseq:*")
    eventually(lambda: (pubsub.get_message() or {}).get("type") == "psubscribe")
    timed.enqueue({})
    message = None
    while message is None:
        message = pubsub.get_message(timeout=1)
    pubsub.close()
    assert message["channel"] == f"leaseq:{{{timed.name}}}:wake".encode()
    assert message["data"] == b"w-second"


def test_who_was_killed_after_being_woken_is_forgotten(
    timed: leaseq.Queue, stand: Callable[..., None], server: Server
) -> None:
    """Their entry is the last of the line: it goes by itself, and an enqueue pays nothing any more."""
    timed.configure()
    stand("ann")
    timed.enqueue({}, id="a")
    assert timed.reserve("bob") is not None
    keys = Keys(timed.name)
    assert server.redis.hlen(keys.line_until) == 1
    assert 0 < server.redis.ttl(keys.line_until) <= 60
    server.redis.delete(keys.line_until)  # as its time does
    timed.enqueue({}, id="b")
    assert server.redis.hget(keys.ledger, "line") is None


def test_who_stands_in_line_for_long_is_woken_first(
    timed: leaseq.Queue, clock: Clock, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as they look now and then, as who waits does."""
    monkeypatch.setattr("leaseq.engine.notifications._LOOK_AGAIN", (0.05, 0.05))
    looks: list[str] = []
    reserve = leaseq.Queue._reserve

    def look(self: leaseq.Queue, who: str, *more: Any) -> Any:
        looks.append(who)
        return reserve(self, who, *more)

    monkeypatch.setattr(leaseq.Queue, "_reserve", look)
    timed.configure()
    ann, bob = start("ann", on=timed), start("bob", on=timed)
    for _ in range(4):
        clock.tick(2)
        seen = len(looks)
        eventually(lambda seen=seen: {"ann", "bob"} <= set(looks[seen + 1 :]))  # type: ignore[misc]
    timed.enqueue({}, id="a")
    assert got(ann) == ["a"]
    timed.enqueue({}, id="b")
    assert got(bob) == ["b"]


def test_a_wake_up_between_two_looks_is_not_lost(
    server: Server, queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The item comes, and its wake-up is heard, while the answer is under way that there is nothing."""
    monkeypatch.setattr("leaseq.engine.notifications._LOOK_AGAIN", (LONG, LONG))
    queue.configure()

    class Meanwhile(leaseq.Queue):
        def _reserve(
            self, who: str, request: str, can: str, waiter: str | None = None, woken: bool = False
        ) -> leaseq.Lease | LookAgain:
            if woken or not waiter:
                return super()._reserve(who, request, can, waiter, woken)
            if not queue.stats().inbound:  # else she looks by herself, since her time is over
                super()._reserve(who, request, can, waiter)
                queue.enqueue({}, id="a")
                channel = connection_of(server.client).listener._channels[Keys(queue.name).wake]
                eventually(channel.waiters[waiter].roused.is_set)
            return LookAgain(LONG, 0)

    lease = Meanwhile(server.client, queue.name).reserve("ann", wait=LONG / 2)
    assert lease is not None
    assert lease.id == "a"


@pytest.fixture
def stand(timed: leaseq.Queue, clock: Clock) -> Callable[..., None]:
    """Let people stand in line, a moment apart, each as the waiter of their name."""

    def stand(*people: str) -> None:
        for person in people:
            clock.tick(0.1)
            assert not isinstance(timed._reserve(person, f"r-{person}", "", person), leaseq.Lease)

    return stand


def look(timed: leaseq.Queue, person: str, woken: bool) -> str | None:
    found = timed._reserve(person, f"r-{person}", "", person, woken)
    return found.id if isinstance(found, leaseq.Lease) else None


def test_what_ran_out_is_for_the_first_in_line_whoever_looks_first(
    timed: leaseq.Queue, clock: Clock, stand: Callable[..., None]
) -> None:
    timed.configure(lease_seconds=4)
    timed.enqueue({}, id="a")
    timed.reserve("gone")
    stand("first", "second")
    clock.tick(4)
    assert look(timed, "second", woken=False) is None
    assert look(timed, "first", woken=True) == "a"


def test_the_next_answer_wakes_another_than_who_took_the_one_before(
    timed: leaseq.Queue, clock: Clock, stand: Callable[..., None]
) -> None:
    timed.configure(answers=2)
    stand("died", "second", "third")
    timed.enqueue({}, id="a")  # wakes the first, who does not come
    clock.tick(3.5)
    assert look(timed, "second", woken=False) == "a"
    assert timed.stats().waiting == 0, "the third is woken for the other answer"
    assert look(timed, "third", woken=True) == "a"


def test_who_is_woken_and_has_their_hands_full_by_now_makes_room_for_the_next(
    timed: leaseq.Queue, stand: Callable[..., None]
) -> None:
    timed.configure()
    stand("ann", "bob")
    timed.enqueue({}, id="french", requires=["fr"])  # ann is woken for nothing, and so is bob then
    assert look(timed, "ann", woken=True) is None
    assert look(timed, "bob", woken=True) is None
    timed.enqueue({}, id="any", priority=200)
    elsewhere = timed.reserve("ann", skills=["fr"])
    assert elsewhere is not None
    assert elsewhere.id == "french"
    assert look(timed, "ann", woken=True) == "french"
    assert timed.stats().waiting == 0, "bob is woken"
    assert look(timed, "bob", woken=True) == "any"


@pytest.mark.parametrize("paused", [False, True])
def test_as_many_are_woken_at_once_as_there_are_items(
    timed: leaseq.Queue, stand: Callable[..., None], paused: bool
) -> None:
    """Nobody has to look by themselves first."""
    timed.configure()
    stand("ann", "bob", "cyd")
    if paused:
        timed.pause()
    timed.enqueue_many([{}, {}])
    assert timed.stats().waiting == (3 if paused else 1)
    timed.resume()
    assert timed.stats().waiting == 1


def test_who_was_woken_and_leaves_makes_room_for_the_next(
    timed: leaseq.Queue, stand: Callable[..., None]
) -> None:
    timed.configure()
    stand("ann", "bob")
    timed.enqueue({})
    assert timed.stats().waiting == 1
    timed._commands.leave_line("ann", "ann", "r-ann", 0)
    assert timed.stats().waiting == 0


def test_what_is_not_for_who_was_woken_wakes_the_next(
    timed: leaseq.Queue, stand: Callable[..., None], server: Server
) -> None:
    timed.configure()
    stand("ann", "bob", "cyd")
    timed.enqueue({}, requires=["fr"])
    assert server.redis.zrange(Keys(timed.name).line, 0, -1) == [b"bob", b"cyd"]
    assert look(timed, "ann", woken=True) is None
    assert server.redis.zrange(Keys(timed.name).line, 0, -1) == [b"ann", b"cyd"]
