"""The server's clock steps by a minute during work: no lease is doubled, and none lasts longer."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

import leaseq
from leaseq.server.embedded import EmbeddedServer
from tests.faults.clock import WrongClock
from tests.faults.history import Call, History
from tests.faults.judge import find_faults
from tests.faults.people import LEASE_SECONDS, RULES, crowd
from tests.support.leases import take
from tests.support.waiting import eventually

STEP = 60.0
CACHE_SECONDS = 0.01  # seconds for which a server may use a cached time


@contextmanager
def server_and_clock() -> Iterator[tuple[EmbeddedServer, WrongClock]]:
    with tempfile.TemporaryDirectory(prefix="leaseq") as folder:
        clock = WrongClock(Path(folder))
        with clock.attach(), EmbeddedServer(Path(folder) / "data", fsync="no") as embedded:
            yield embedded, clock


def convert_to_our_clock(history: History, clock: WrongClock) -> History:
    """Return the same calls with the server's times converted to ours: a lease lasts its normal time, and
    ends sooner only if the clock was set forward during it."""
    forward = [step for step in clock.steps if step.seconds > 0]
    # A lease that was returned repeatedly began with its first reply.
    first_calls: dict[tuple[str, int, float], Call] = {}
    for call in sorted(history.calls, key=lambda call: call.start):
        if grant := call.grant:
            first_calls.setdefault((grant.id, grant.token, grant.expires), call)

    def convert(call: Call) -> Call:
        grant = call.grant
        if grant is None:
            return replace(call, retry_at=call.start if call.retry_at else 0.0)
        first_call = first_calls[grant.id, grant.token, grant.expires]
        # The number of steps forward before the lease:
        steps_before = round((grant.expires - LEASE_SECONDS - first_call.start) / STEP)
        min_steps = sum(step.after < first_call.start - CACHE_SECONDS for step in forward)
        max_steps = sum(step.before < first_call.end for step in forward)
        steps_before = min(max(steps_before, min_steps), max_steps)
        start = grant.expires - LEASE_SECONDS - steps_before * STEP
        start = min(max(start, first_call.start), first_call.end)  # within the first call
        ends = [start + LEASE_SECONDS, *(step.before for step in forward[steps_before : steps_before + 1])]
        return replace(call, grant=replace(grant, expires=min(ends)))

    return History(history.seed, [convert(call) for call in history.calls])


def hidden_seconds(history: History, clock: WrongClock) -> float:
    """Return the largest time that a step back hides: the time since the queue's last change, by which a
    lease gets longer."""
    moves = [call for call in history.calls if call.id or call.grant]
    return max(
        min((call.end for call in moves if call.start > step.after), default=step.after)  # none: all is done
        - max(call.start for call in moves if call.end < step.before)
        for step in clock.steps
    )


def test_clock_steps_of_a_minute_under_load_double_no_lease(seed: int, rounds: int) -> None:
    dice = random.Random(seed)
    with (
        server_and_clock() as (embedded, clock),
        crowd(embedded.url, "clock", seed, people=8, items=100 * rounds) as people,
    ):
        for number in range(rounds):
            people.wait_for_grants(60 * (number + 1) + dice.randrange(10))
            clock.step(STEP if number == 0 else dice.choice((STEP, -STEP)))
            people.wait_for_more_grants(20)
            clock.step(-clock.seconds)
        people.wait_until_done()
        slack = 0.1 + 2 * hidden_seconds(people.history, clock)
        faults = find_faults(
            convert_to_our_clock(people.history, clock), replace(RULES, slack=slack), people.queue
        )
    print(f"{len(clock.steps)} steps of {STEP:g} s, {people.grants()} grants, faults found: {len(faults)}")
    assert not faults, "\n".join(map(str, faults))


def test_clock_step_back_does_not_extend_a_lease() -> None:
    """The item returns on time by the queue's own time, which never goes back."""
    with server_and_clock() as (embedded, clock):
        queue = leaseq.Queue(leaseq.connect(embedded.url), "q")
        queue.configure(lease_seconds=1)
        queue.enqueue({})
        start = time.monotonic()
        assert queue.reserve("ann") is not None
        clock.step(-STEP)
        second_lease = queue.reserve("bob", wait=STEP / 2)
        assert second_lease is not None
        assert time.monotonic() - start >= 1
        assert (second_lease.expires_at - second_lease.reserved_at).total_seconds() == 1


def test_clock_step_forward_expires_a_lease_and_late_answer_counts() -> None:
    with server_and_clock() as (embedded, clock):
        queue = leaseq.Queue(leaseq.connect(embedded.url), "q")
        queue.enqueue_many([{}, {}])
        ann_lease, bob_lease = queue.reserve("ann"), queue.reserve("bob")
        assert ann_lease is not None
        assert bob_lease is not None
        clock.step(10 * STEP)
        assert queue.finish(ann_lease, {"by": "ann"}).late
        eve_lease = queue.reserve("eve")
        assert eve_lease is not None
        assert (eve_lease.id, eve_lease.token > bob_lease.token) == (bob_lease.id, True)


def test_clock_steps_neither_prolong_a_wait_for_an_answer_nor_lose_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with server_and_clock() as (embedded, clock), ThreadPoolExecutor(1) as pool:
        queue = leaseq.Queue(leaseq.connect(embedded.url), "q")
        queue.configure(holds=2)

        def ask(id: str, timeout: float) -> Future[leaseq.Answered]:
            future = pool.submit(queue.ask, "x", id=id, timeout=timeout)
            eventually(lambda: queue.stats().inbound == 1)
            return future

        asked = ask("back", 1)
        clock.step(-STEP)
        monkeypatch.setattr(time, "time", lambda: 0.0)  # and so does the asker's
        with pytest.raises(leaseq.NotAnswered):
            asked.result(STEP / 2)
        eventually(lambda: queue.clear().died == 1, seconds=STEP / 2)
        monkeypatch.undo()

        asked = ask("held", 30)
        lease = take(queue, "ann")
        queue.enqueue("x", expires=30)
        clock.step(2 * STEP)
        eventually(lambda: queue.clear().died == 1)
        assert not asked.done(), "who has begun may still answer"
        queue.finish(lease, "yes")
        assert (asked.result(STEP / 2).result, asked.result().late) == ("yes", True)

        asked = ask("forward", STEP)
        clock.step(2 * STEP)
        eventually(lambda: queue.clear().died == 1)
        with pytest.raises(leaseq.NotAnswered) as error:
            asked.result(STEP / 2)
        assert error.value.reason == "expired"
