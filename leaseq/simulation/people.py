"""Simulates people who think, finish, give back, fail and walk away.

    plan = simulation.Plan(people=8, think=0.5, walk_away_rate=0.1, seconds=60, seed=1)
    outcome = simulation.run(queue, plan)

Each person is a thread. A person who walks away keeps the item until its lease expires, and is replaced by a
new person. So is a person who has answered or refused all items that are left.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from leaseq import validation
from leaseq.errors import Invalid, LeaseLost, LeaseqError
from leaseq.form import check_result, marked_texts, member_at, only_asked
from leaseq.models import Json
from leaseq.simulation.fake_values import value_for

if TYPE_CHECKING:
    from leaseq.models import Lease
    from leaseq.queue import Queue

TICK = 0.2  # seconds between two reads of the queue while it runs
LONGEST_WAIT = 0.5  # the longest wait of a person without an item
NEW_PERSON = "sim-newcomer"  # never works, so every item is available to this name
AGAIN_RATE = 0.5  # share of the items given back that the same person may get again


@dataclass(frozen=True, slots=True)
class Plan:
    """The number of people, and their behaviour. The items that the three rates leave are finished."""

    people: int = 8
    think: float = 2.0  # seconds over an item, on average
    abandon_rate: float = 0.05
    fail_rate: float = 0.03
    walk_away_rate: float = 0.02
    seconds: float | None = None  # stop after this time; None: when nothing is left to do
    seed: int | None = None  # the same choices again; which person gets which item is still a race

    def __post_init__(self) -> None:
        validation.integer(self.people, "people", 1, 1_000)
        validation.number(self.think, "think", 0, 86_400)
        for name in ("abandon_rate", "fail_rate", "walk_away_rate"):
            validation.number(getattr(self, name), name, 0, 1)
        if self.abandon_rate + self.fail_rate + self.walk_away_rate > 1:
            raise Invalid("rates", "format", what="rates")
        if self.seconds is not None:
            validation.number(self.seconds, "seconds", 0, 604_800)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Counts of what the people have done so far."""

    seconds: float
    reserved: int = 0
    finished: int = 0
    late: int = 0  # of the finished: after the lease expired
    abandoned: int = 0
    failed: int = 0
    walked_away: int = 0
    lost: int = 0  # too late: another person had the item
    ran_out: int = 0  # leases that expired during the run: their items were returned
    left: int = 0  # items inbound, reserved and scheduled when last looked at


def run(
    queue: Queue,
    plan: Plan,
    *,
    stop: threading.Event | None = None,
    on_tick: Callable[[Outcome], None] | None = None,
) -> Outcome:
    """Let the plan's people work until nothing is left, the time is up or ``stop`` is set.

    Raises Invalid if no answer can be generated for the queue's form, and the first error of a person.
    """
    return _Simulation(queue, plan, stop or threading.Event()).run(on_tick)


class _Simulation:
    """The simulated people, and their shared counts."""

    def __init__(self, queue: Queue, plan: Plan, stop: threading.Event) -> None:
        self._queue = queue
        self._plan = plan
        self._stop = stop
        self._form = _form_of(queue)
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._error: LeaseqError | None = None
        self._remaining = 0
        self._expired_before = queue.stats().counters["expired"]
        self._expired_count = 0
        self._start = time.monotonic()

    def run(self, on_tick: Callable[[Outcome], None] | None) -> Outcome:
        slots = range(1, self._plan.people + 1)
        threads = [threading.Thread(target=self._run_slot, args=(slot,)) for slot in slots]
        for thread in threads:
            thread.start()
        try:
            while not self._stop.is_set():
                self._check_progress()
                if on_tick:
                    on_tick(self.outcome())
                self._stop.wait(TICK)
        finally:
            self._stop.set()
            for thread in threads:
                thread.join()
        if self._error:
            raise self._error
        return self.outcome()

    def outcome(self) -> Outcome:
        with self._lock:
            return Outcome(
                round(time.monotonic() - self._start, 3),
                left=self._remaining,
                ran_out=self._expired_count,
                **self._counts,
            )

    def _check_progress(self) -> None:
        """Count what is left, and check whether to stop."""
        stats = self._queue.stats()
        self._remaining = stats.inbound + stats.reserved + stats.scheduled
        self._expired_count = stats.counters["expired"] - self._expired_before
        limit = self._plan.seconds
        if self._remaining == 0 or (limit is not None and time.monotonic() - self._start >= limit):
            self._stop.set()

    def _run_slot(self, slot: int) -> None:
        rng = Random(None if self._plan.seed is None else f"{self._plan.seed}/{slot}")  # noqa: S311
        try:
            for turn in itertools.count(1):
                name = f"sim-{slot}" if turn == 1 else f"sim-{slot}.{turn}"
                if not self._work_until_gone(name, rng):
                    return
        except LeaseqError as error:
            with self._lock:
                self._error = self._error or error
            self._stop.set()

    def _work_until_gone(self, person: str, rng: Random) -> bool:
        """Work as one person. True: they walked away or can get no more items, and must be replaced."""
        while not self._stop.is_set():
            lease = self._queue.reserve(person)
            if lease is None:
                if self._needs_replacement(person):
                    return True
                self._stop.wait(rng.uniform(0.1, 1) * LONGEST_WAIT)
                continue
            self._count("reserved")
            try:
                if self._handle(lease, rng):
                    return True
            except LeaseLost:
                self._count("lost")
        return False

    def _needs_replacement(self, person: str) -> bool:
        """Whether this person had or passed over all items that wait, and a new person could get one."""
        if self._queue.why_nothing(person).reason != "not-eligible":
            return False
        return self._queue.why_nothing(NEW_PERSON).reason is None

    def _handle(self, lease: Lease, rng: Random) -> bool:
        """Think about an item and do something with it. True: they walked away from it."""
        # The time that people take for a task: never zero, mostly near the mean, with a long tail.
        if self._stop.wait(rng.gammavariate(4, self._plan.think / 4) if self._plan.think else 0):
            self._queue.abandon(lease, reason="the simulation ended")
            self._count("abandoned")
            return False
        choice = rng.random()
        plan = self._plan
        if choice < plan.walk_away_rate:
            self._count("walked_away")
            return True
        choice -= plan.walk_away_rate
        if choice < plan.abandon_rate:
            again = rng.random() < AGAIN_RATE
            self._queue.abandon(lease, reason=f"simulated: {'later' if again else 'not for me'}", again=again)
            self._count("abandoned")
        elif choice - plan.abandon_rate < plan.fail_rate:
            self._queue.fail(lease, "simulated: this one is broken")
            self._count("failed")
        else:
            outcome = self._queue.finish(lease, self._answer(lease, rng))
            self._count("finished")
            if outcome.late:
                self._count("late")
        return False

    def _answer(self, lease: Lease, rng: Random) -> Json:
        form = lease.form or self._form
        if not form or not form.get("ask"):
            return {"answer": value_for({"type": "string"}, rng)}
        return answer_to(form, rng, lease.payload)

    def _count(self, name: str) -> None:
        with self._lock:
            self._counts[name] += 1


def _form_of(queue: Queue) -> Json:
    """The queue's form, None if it asks nothing. Raises Invalid if no answer can be generated for it."""
    form = queue.policy.form
    if not form or not form.get("ask"):
        return None
    rng = Random(0)  # noqa: S311
    for _ in range(20):
        try:
            check_result(form, answer_to(form, rng))
        except Invalid as error:
            raise Invalid("form", "simulated_form", why=str(error)) from error
    return form


def answer_to(form: Json, rng: Random, payload: Json = None) -> Json:
    """An answer that a person might give to an item with this payload."""
    answer = value_for(form["ask"], rng)
    for name, path in marked_texts(form).items():
        text = member_at(payload, path)
        if name in answer and isinstance(text, str):
            answer[name] = [_placed(passage, text, rng) for passage in answer[name] if text]
    return only_asked(form, answer)


def _placed(passage: dict[str, Json], text: str, rng: Random) -> dict[str, Json]:
    """The passage at a random place of the text."""
    start = rng.randrange(len(text))
    end = rng.randint(start + 1, len(text))
    words = {"text": text[start:end]} if "text" in passage else {}
    return {**passage, "start": start, "end": end, **words}
