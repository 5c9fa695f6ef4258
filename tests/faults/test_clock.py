"""The server's clock steps by a minute while people work: no lease is doubled, and none stays on for it."""

from __future__ import annotations

import random
import tempfile
import time
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import leaseq
from leaseq.embedded import EmbeddedServer
from tests.faults.clock import WrongClock
from tests.faults.history import Call, History
from tests.faults.judge import judged
from tests.faults.people import LEASE_SECONDS, RULES, crowd

STEP = 60.0
SLACK = 0.3  # how much longer than its time a lease may last by a step back, and the length of a call


@contextmanager
def server() -> Iterator[tuple[EmbeddedServer, WrongClock]]:
    with tempfile.TemporaryDirectory(prefix="leaseq") as folder:
        clock = WrongClock(Path(folder))
        with clock.wearing(), EmbeddedServer(Path(folder) / "data", fsync="no") as embedded:
            yield embedded, clock


def by_our_clock(history: History, clock: WrongClock) -> History:
    """The same calls, with the times that the server told put as ours: a lease lasts as long as it was given
    for, and ends sooner only where the clock was set forward meanwhile."""
    began: dict[
        tuple[str, int, float], float
    ] = {}  # a lease that was told again began when it was first told
    for call in sorted(history.calls, key=lambda call: call.start):
        if told := call.granted:
            began.setdefault((told.id, told.token, told.expires), call.start)

    def ours(call: Call) -> Call:
        told = call.granted
        if told is None:
            return replace(call, until=call.start if call.until else 0.0)
        start = began[told.id, told.token, told.expires]
        after = bisect_left(clock.forward, start)
        ends = [start + LEASE_SECONDS, *clock.forward[after : after + 1]]
        return replace(call, granted=replace(told, expires=min(ends)))

    return History(history.seed, [ours(call) for call in history.calls])


def test_steps_of_a_minute_under_load(seed: int, rounds: int) -> None:
    dice = random.Random(seed)
    with (
        server() as (embedded, clock),
        crowd(embedded.url, "clock", seed, people=8, items=100 * rounds) as people,
    ):
        for number in range(rounds):
            people.wait_for(60 * (number + 1))
            time.sleep(dice.uniform(0, 0.2))
            clock.step(STEP if number == 0 else dice.choice((STEP, -STEP)))
            people.wait_for(people.grants() + 20)
            clock.step(-clock.seconds)
        people.done()
        found = judged(by_our_clock(people.history, clock), replace(RULES, slack=SLACK), people.queue)
    assert not found, "\n".join(map(str, found))


def test_a_step_back_keeps_no_lease_on() -> None:
    """It returns when it would have: by the queue's own time, which never goes back."""
    with server() as (embedded, clock):
        queue = leaseq.Queue(leaseq.connect(embedded.url), "q")
        queue.configure(lease_seconds=1)
        queue.enqueue({})
        given = time.monotonic()
        assert queue.reserve("ann") is not None
        clock.step(-STEP)
        back = queue.reserve("bob", wait=30)
        assert back is not None
        assert 1 <= time.monotonic() - given < STEP / 4
        assert (back.expires_at - back.reserved_at).total_seconds() == 1


def test_a_step_forward_ends_a_lease_early_and_the_answer_counts() -> None:
    with server() as (embedded, clock):
        queue = leaseq.Queue(leaseq.connect(embedded.url), "q")
        queue.enqueue_many([{}, {}])
        ann, bob = queue.reserve("ann"), queue.reserve("bob")
        assert ann is not None
        assert bob is not None
        clock.step(10 * STEP)
        assert queue.finish(ann, {"by": "ann"}).late
        eve = queue.reserve("eve")
        assert eve is not None
        assert (eve.id, eve.token > bob.token) == (bob.id, True)
