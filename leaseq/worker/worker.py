"""The worker: its threads, and how they are stopped."""

from __future__ import annotations

import inspect
import random
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import Literal

from leaseq import validation
from leaseq.engine.client import Client, checked
from leaseq.errors import Invalid, ServerRefused, ServerUnavailable
from leaseq.models import Json, Lease
from leaseq.queue import Queue
from leaseq.worker.heartbeat import Renewer
from leaseq.worker.outcomes import OutcomeSender, WorkerStats
from leaseq.worker.retry import Retry
from leaseq.worker.source import Handler, Source

_WAIT = 2.0  # seconds to wait for an item, divided among the queues
_LOOK = 1.0  # seconds between two polls of the messages to the thread of run()
_MAX_CONCURRENCY = 256


@dataclass(slots=True, eq=False)
class _Job:
    """One lease in work. ``stage`` is guarded by the worker's lock."""

    queue: Queue
    lease: Lease
    thread: threading.Thread
    stage: Literal["working", "sending", "given back"] = "working"


class Worker:
    """Takes items of one or more queues and hands each lease to the queue's function, in threads.

    What the function returns is the result; what it raises fails the item with that text. Leases are
    renewed meanwhile. The function doesn't finish or give back the lease itself.

    ``concurrency`` items at most are in work at once, over all queues, in turn. A program is one person,
    so that it answers no item twice: of each queue it works on as many at once as the policy's ``holds``
    allows. What its person holds when it starts, after a crash for instance, is worked first, but not
    renewed: an item that kills its worker runs out, and dies like any other. So each worker process needs
    a ``person`` of its own.
    """

    def __init__(
        self,
        client: Client,
        handlers: Mapping[str, Handler],
        *,
        person: str,
        concurrency: int = 1,
        skills: Sequence[str] = (),
        grace: float = 30,
    ) -> None:
        self._client = checked(client)
        self._concurrency = validation.integer(concurrency, "concurrency", 1, _MAX_CONCURRENCY)
        self._person = validation.person_name(person)
        self._skills = validation.skills(skills)
        self._grace = validation.number(grace, "grace", 0, 86_400)
        self._sources = [
            Source(Queue(client, name), handle, self._person, self._concurrency)
            for name, handle in _checked(handlers).items()
        ]
        self._lock = threading.Lock()
        self._jobs: set[_Job] = set()
        self._renewer = Renewer()
        self._retry = Retry()
        self._stop = threading.Event()  # takes no more
        self._over = threading.Event()  # once set, no call is repeated
        self._outcomes = OutcomeSender(self._retry, self._over)
        # Messages to the thread of run(). A SimpleQueue, because its put() is reentrant: a signal handler may
        # call it while the same thread is inside another put().
        self._messages: SimpleQueue[Literal["stop", "signal", "ended"]] = SimpleQueue()
        self._broken: BaseException | None = None
        self._ran = False

    @property
    def stats(self) -> WorkerStats:
        return self._outcomes.stats

    def stop(self) -> None:
        """Reserve no more, finish what is in work, and give back what isn't done within ``grace`` seconds.

        Any thread may call it; it doesn't wait.
        """
        self._stop.set()
        self._messages.put("stop")

    def run(self) -> None:
        """Work until ``stop()``, SIGTERM or Ctrl-C (these two in the main thread), or until the client is
        closed; a second signal gives back at once what is in work. A worker runs once.

        A function that goes on past that can't be ended: its thread ends with the program, its result is
        dropped.
        """
        if self._ran:
            raise RuntimeError("a worker runs once, and this one did: make another one")
        self._ran = True
        slots = [
            threading.Thread(
                target=self._slot, args=(number,), name=f"leaseq-worker-{number + 1}", daemon=True
            )
            for number in range(self._concurrency)
        ]
        with self._signals():
            self._renewer.start()
            for slot in slots:
                slot.start()
            signals = int(self._next_message() == "signal")
            self._stop.set()
            self._wait_for(slots, signals)
            self._give_back()
            stuck = {job.thread for job in self._in_work() if job.stage == "given back"}
            for slot in slots:
                if slot not in stuck:
                    slot.join()
            self._renewer.end()
        if self._broken is not None:
            raise self._broken

    @contextmanager
    def _signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        numbers = (signal.SIGTERM, signal.SIGINT)
        before = {
            number: signal.signal(number, lambda *_: self._messages.put("signal")) for number in numbers
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _wait_for(self, slots: Sequence[threading.Thread], signals: int) -> None:
        """Wait until all threads have ended, the grace time is over, or a second signal came."""
        until = time.monotonic() + self._grace
        while any(slot.is_alive() for slot in slots) and signals < 2:
            left = until - time.monotonic()
            if left <= 0:
                return
            signals += self._next_message(min(left, _LOOK)) == "signal"

    def _next_message(self, seconds: float | None = None) -> str | None:
        """The next message to this thread, within that time. It polls once a second: the system may
        deliver a second signal to another thread, and Python handles it only once the main thread runs."""
        while True:
            try:
                return self._messages.get(timeout=_LOOK if seconds is None else seconds)
            except Empty:
                if seconds is not None:
                    return None

    def _in_work(self) -> list[_Job]:
        with self._lock:
            return list(self._jobs)

    def _give_back(self) -> None:
        self._over.set()
        for job in self._in_work():
            with self._lock:
                if job.stage != "working":
                    continue
                job.stage = "given back"
            self._return(job.queue, job.lease)

    def _return(self, queue: Queue, lease: Lease) -> None:
        self._renewer.drop(lease)
        self._outcomes.give_back(queue, lease)

    def _slot(self, number: int) -> None:
        """The loop of one thread: one item after the other."""
        at = number % len(self._sources)
        order = self._sources[at:] + self._sources[:at]
        try:
            while not self._stop.is_set() and not self._client.closed:
                taken = self._take(order)
                if taken is not None:
                    source, lease = taken
                    order.remove(source)  # the others have their turn first
                    order.append(source)
                    self._work(source, lease)
        except BaseException as error:  # noqa: BLE001 - raised again by run(), which ends the other threads
            self._broken = error
        finally:
            self._messages.put("ended")

    def _take(self, order: Sequence[Source]) -> tuple[Source, Lease] | None:
        """A new lease, from the first queue that has one; else wait for one of each queue in
        turn."""
        waits = [0.0, _WAIT / len(order)] if len(order) > 1 else [_WAIT]
        waited = False
        for wait in waits:
            for source in order:
                if self._stop.is_set():
                    return None
                lease, tried = self._ask(source, wait)
                if lease is not None:
                    return source, lease
                waited = waited or (tried and wait > 0)
        if not waited:  # nothing here is for this thread now
            self._stop.wait(random.uniform(0.1, 0.5))  # noqa: S311 - not all at once
        return None

    def _ask(self, source: Source, wait: float) -> tuple[Lease | None, bool]:
        """A lease to work on, and whether a reserve returned nothing."""
        lease: Lease | None = None
        inside = new = False
        try:
            inside = self._retry.call(source.enter, self._stop)
            if inside:
                reserve = partial(source.reserve, self._skills, wait, self._stop)
                lease, new = self._retry.call(reserve, self._stop)
        except (ServerUnavailable, ServerRefused):
            pass  # the log has it
        finally:
            if inside and not new:
                source.leave()
        if lease is None or not new:
            return None, inside and lease is None
        if self._stop.is_set():
            self._return(source.queue, lease)
            source.leave(lease)
            return None, True
        return lease, True

    def _work(self, source: Source, lease: Lease) -> None:
        job = _Job(source.queue, lease, threading.current_thread())
        with self._lock:
            too_late = self._over.is_set()  # else the thread that gives back sees this job
            if not too_late:
                self._jobs.add(job)
        if too_late:
            self._return(source.queue, lease)
            source.leave(lease)
            return
        if not source.was_left(lease):
            self._renewer.add(source.queue, lease)
        result: Json = None
        raised: BaseException | None = None
        try:
            result = source.handle(lease)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it is, the item failed by it
            raised = error
        self._renewer.drop(lease)
        with self._lock:
            given_back = job.stage == "given back"
            if not given_back:
                job.stage = "sending"
        if not given_back:
            if raised is not None:
                self._outcomes.fail(source.queue, lease, raised)
            else:
                self._outcomes.finish(source.queue, lease, result)
        source.leave(lease)
        with self._lock:
            self._jobs.discard(job)


def _checked(handlers: object) -> Mapping[str, Handler]:
    if not isinstance(handlers, Mapping) or not handlers:
        raise Invalid("handlers", "a mapping from queue names to the functions that work on their items")
    for name, handle in handlers.items():
        if not callable(handle) or inspect.iscoroutinefunction(handle):
            limit = f"functions that take a lease and are not async; that of {name!r} is not one"
            raise Invalid("handlers", limit)
    return handlers
