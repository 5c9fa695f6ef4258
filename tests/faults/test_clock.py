"""The server's clock steps by a minute while people work: no lease is doubled, and none stays on for it."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import leaseq
from leaseq.server.embedded import EmbeddedServer
from tests.faults.clock import WrongClock
from tests.faults.history import Call, History
from tests.faults.judge import judged
from tests.faults.people import LEASE_SECONDS, RULES, crowd

STEP = 60.0
CACHED = 0.01  # seconds for which a server may go on by the time that it read last


@contextmanager
def server() -> Iterator[tuple[EmbeddedServer, WrongClock]]:
    with tempfile.TemporaryDirectory(prefix="leaseq") as folder:
        clock = WrongClock(Path(folder))
        with clock.wearing(), EmbeddedServer(Path(folder) / "data", fsync="no") as embedded:
            yield embedded, clock


def by_our_clock(history: History, clock: WrongClock) -> History:
    """The same calls, with the times that the server told put as ours: a lease lasts as long as it was given
    for, and ends sooner only where the clock was set forward meanwhile."""
    forward = [step for step in clock.steps if step.seconds > 0]
    first: dict[tuple[str, int, float], Call] = {}  # a lease that was told again began when it was first told
    for call in sorted(history.calls, key=lambda call: call.start):
        if told := call.granted:
            first.setdefault((told.id, told.token, told.expires), call)

    def ours(call: Call) -> Call:
        granted = call.granted
        if granted is None:
            return replace(call, until=call.start if call.until else 0.0)
        grant = first[granted.id, granted.token, granted.expires]
        before = round((granted.expires - LEASE_SECONDS - grant.start) / STEP)  # so many steps forward
        least = sum(step.after < grant.start - CACHED for step in forward)
        most = sum(step.before < grant.end for step in forward)
        before = min(max(before, least), most)
        start = granted.expires - LEASE_SECONDS - before * STEP
        start = min(max(start, grant.start), grant.end)  # whatever was told, it was then
        ends = [start + LEASE_SECONDS, *(step.before for step in forward[before : before + 1])]
        return replace(call, granted=replace(granted, expires=min(ends)))

    return History(history.seed, [ours(call) for call in history.calls])


def hidden(history: History, clock: WrongClock) -> float:
    """A step back hides the time since the queue's last change, by which a lease lasts longer: the most."""
    moves = [call for call in history.calls if call.id or call.granted]
    return max(
        min((call.end for call in moves if call.start > step.after), default=step.after)  # none: all is done
        - max(call.start for call in moves if call.end < step.before)
        for step in clock.steps
    )


def test_steps_of_a_minute_under_load(seed: int, rounds: int) -> None:
    dice = random.Random(seed)
    with (
        server() as (embedded, clock),
        crowd(embedded.url, "clock", seed, people=8, items=100 * rounds) as people,
    ):
        for number in range(rounds):
            people.wait_for(60 * (number + 1) + dice.randrange(10))
            clock.step(STEP if number == 0 else dice.choice((STEP, -STEP)))
            people.wait_for_more(20)
            clock.step(-clock.seconds)
        people.done()
        slack = 0.1 + 2 * hidden(people.history, clock)
        faults = judged(by_our_clock(people.history, clock), replace(RULES, slack=slack), people.queue)
    print(f"{len(clock.steps)} steps of {STEP:g} s, {people.grants()} grants, faults found: {len(faults)}")
    assert not faults, "\n".join(map(str, faults))


def test_a_step_back_keeps_no_lease_on() -> None:
    """It returns when it would have: by the queue's own time, which never goes back."""
    with server() as (embedded, clock):
        queue = leaseq.Queue(leaseq.connect(embedded.url), "q")
        queue.configure(lease_seconds=1)
        queue.enqueue({})
        given = time.monotonic()
        assert queue.reserve("ann") is not None
        clock.step(-STEP)
        back = queue.reserve("bob", wait=STEP / 2)
        assert back is not None
        assert time.monotonic() - given >= 1
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
