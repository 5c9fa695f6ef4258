"""The worker: runs its threads, and stops them."""

from __future__ import annotations

import asyncio
import inspect
import signal
import threading
import time
from collections.abc import Awaitable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Literal, TypeAlias

from leaseq import validation
from leaseq.engine.client import Client, check_client, connection_of, copy_for_worker
from leaseq.models import Json, Lease
from leaseq.queue import Queue
from leaseq.worker.handlers import Handlers, checked_handlers
from leaseq.worker.heartbeat import Renewer
from leaseq.worker.outcomes import OutcomeSender, Retry, WorkerStats
from leaseq.worker.source import Reserver, Source
from leaseq.worker.tasks import RAISED, EventLoop, RunningTask

_POLL = 1.0  # seconds between two polls for messages in the thread of run()
_CLEAN_UP = 5.0  # seconds that cancelled coroutines have to end
_MAX_CONCURRENCY = 256

Order: TypeAlias = Literal["turn", "strict"]
ORDERS: tuple[Order, ...] = ("turn", "strict")


@dataclass(slots=True, eq=False)
class _Job:
    """A lease being worked on. The worker's lock guards ``stage``, ``task`` and ``is_lost``."""

    queue: Queue
    lease: Lease
    thread: threading.Thread
    stage: Literal["working", "sending", "given back"] = "working"
    task: RunningTask | None = None  # if the handler is a coroutine function
    is_lost: bool = False


class Worker:
    """A process that takes items from queues and calls the queue's function with each lease, in threads.

    The function's return value is the result; an exception, or a result that doesn't fit the queue's form,
    fails the item. The worker renews the lease; the function must not finish or give it back itself.
    A coroutine function runs on the worker's event loop; its task is cancelled if the lease is lost.

    Instead of one function, a queue may have several, selected by the payload field that ``by`` names:
    ``Worker(client, {"mail": {"welcome": f, "reset": g}}, by="kind")``. An item whose value has no handler
    fails. With ``retry=False``, a failed item is dead immediately. ``by`` and ``retry`` apply to all queues,
    or, as a mapping from queue names, to some of them.

    The worker works on at most ``concurrency`` items at a time, across all queues. If several queues have
    items, ``order`` determines which comes next: with ``turn`` each queue in turn, with ``strict`` the first
    in the order of ``handlers``. If none has any, the worker waits for all queues simultaneously.

    A worker is one person, so it never answers an item twice, and it works on at most as many items of a
    queue at a time as the policy's ``holds`` allows. Each worker process needs its own ``person``. Leases
    that this person holds when the worker starts, for instance after a crash, are worked on first but not
    renewed: if an item kills its worker, the lease expires, and in the end the item dies like any other.
    """

    def __init__(
        self,
        client: Client,
        handlers: Handlers,
        *,
        person: str,
        concurrency: int = 1,
        order: Order = "turn",
        by: str | Mapping[str, str] | None = None,
        retry: bool | Mapping[str, bool] = True,
        skills: Collection[str] = (),
        grace: float = 30,
    ) -> None:
        self._client = copy_for_worker(check_client(client))
        self._concurrency = validation.integer(concurrency, "concurrency", 1, _MAX_CONCURRENCY)
        self._person = validation.person_name(person)
        self._skills = validation.skills(skills)
        self._grace = validation.number(grace, "grace", 0, 86_400)
        self._order = validation.one_of(order, ORDERS, "order")
        self._sources = [
            Source(Queue(self._client, name), queue_handlers, self._person, self._concurrency)
            for name, queue_handlers in checked_handlers(handlers, by, retry).items()
        ]
        self._lock = threading.Lock()
        self._jobs: set[_Job] = set()
        self._renewer = Renewer()
        self._loop = EventLoop()
        self._retry = Retry()
        self._stop = threading.Event()  # once set, no more items are taken
        self._reservers = [self._new_reserver(number) for number in range(self._concurrency)]
        self._stop_retrying = threading.Event()  # once set, no call is repeated
        self._outcomes = OutcomeSender(self._retry, self._stop_retrying)
        # Messages to the thread of run(). A SimpleQueue, because its put() is reentrant: a signal handler may
        # call it while the same thread is inside another put().
        self._messages: SimpleQueue[Literal["stop", "signal", "ended"]] = SimpleQueue()
        self._error: BaseException | None = None
        self._has_run = False

    @property
    def stats(self) -> WorkerStats:
        """The counts so far."""
        return self._outcomes.stats

    def stop(self) -> None:
        """Stop reserving, finish the current items, and give back those not done within ``grace`` seconds.

        May be called from any thread; returns immediately.
        """
        self._stop_reservers()
        self._messages.put("stop")

    def run(self) -> None:
        """Work until ``stop()``, SIGTERM or Ctrl-C (signals only in the main thread), or until the client is
        closed. A second signal gives back unfinished items immediately. A worker can run only once.

        A function that is still running after that can't be stopped: its thread ends with the program, and
        its result is dropped. A coroutine is cancelled and has five seconds to clean up.
        """
        if self._has_run:
            raise RuntimeError("a worker can run only once, and this one already has: create another one")
        self._has_run = True
        slots = [
            threading.Thread(
                target=self._run_slot, args=(reserver,), name=f"leaseq-worker-{number}", daemon=True
            )
            for number, reserver in enumerate(self._reservers, 1)
        ]
        with self._signals():
            self._renewer.start()
            for slot in slots:
                slot.start()
            signals = int(self._next_message() == "signal")
            self._stop_reservers()
            self._wait_for(slots, signals)
            self._give_back()
            stuck_threads = {job.thread for job in self._jobs_in_work() if job.stage == "given back"}
            for slot in slots:
                if slot not in stuck_threads:
                    slot.join()
            self._renewer.end()
            self._loop.end(_CLEAN_UP)
        if self._client.closed:
            connection_of(
                self._client
            ).drop_idle_connections()  # used after the close to end the worker's leases
        if self._error is not None:
            raise self._error

    def _stop_reservers(self) -> None:
        self._stop.set()
        for reserver in self._reservers:
            reserver.stop()

    @contextmanager
    def _signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        numbers = (signal.SIGTERM, signal.SIGINT)
        handlers_before = {
            number: signal.signal(number, lambda *_: self._messages.put("signal")) for number in numbers
        }
        try:
            yield
        finally:
            for number, handler in handlers_before.items():
                signal.signal(number, handler)

    def _wait_for(self, slots: Sequence[threading.Thread], signals: int) -> None:
        """Wait until all threads have ended, the grace time is over, or a second signal arrives."""
        until = time.monotonic() + self._grace
        while any(slot.is_alive() for slot in slots) and signals < 2:
            remaining = until - time.monotonic()
            if remaining <= 0:
                return
            signals += self._next_message(min(remaining, _POLL)) == "signal"

    def _next_message(self, seconds: float | None = None) -> str | None:
        """The next message to this thread, or None after ``seconds``. Polls once a second: the system may
        deliver a second signal to another thread, and Python handles it only when the main thread runs."""
        while True:
            try:
                return self._messages.get(timeout=_POLL if seconds is None else seconds)
            except Empty:
                if seconds is not None:
                    return None

    def _jobs_in_work(self) -> list[_Job]:
        with self._lock:
            return list(self._jobs)

    def _give_back(self) -> None:
        self._stop_retrying.set()
        for job in self._jobs_in_work():
            with self._lock:
                if job.stage != "working":
                    continue
                job.stage = "given back"
            self._give_back_lease(job.queue, job.lease)

    def _give_back_unworked(self, source: Source, lease: Lease) -> None:
        self._give_back_lease(source.queue, lease)
        source.release_slot(lease)

    def _give_back_lease(self, queue: Queue, lease: Lease) -> None:
        self._renewer.drop(lease)
        self._outcomes.give_back(queue, lease)

    def _new_reserver(self, number: int) -> Reserver:
        round_robin = self._order == "turn"
        first = number % len(self._sources) if round_robin else 0
        return Reserver(
            self._sources[first:] + self._sources[:first],
            round_robin=round_robin,
            skills=self._skills,
            retry=self._retry,
            stop=self._stop,
            give_back=self._give_back_unworked,
        )

    def _run_slot(self, reserver: Reserver) -> None:
        """The loop of one thread: one item after the other."""
        try:
            while not self._stop.is_set() and not self._client.closed:
                grant = reserver.take()
                if grant is not None:
                    self._work(*grant)
        except BaseException as error:  # noqa: BLE001 - raised again by run(), which ends the other threads
            self._error = error
        finally:
            self._messages.put("ended")

    def _work(self, source: Source, lease: Lease) -> None:
        job = _Job(source.queue, lease, threading.current_thread())
        with self._lock:
            is_too_late = self._stop_retrying.is_set()  # if not, _give_back() will find this job
            if not is_too_late:
                self._jobs.add(job)
        if is_too_late:
            self._give_back_unworked(source, lease)
            return
        if not source.is_leftover(lease):
            self._renewer.add(source.queue, lease, lambda: self._mark_lost(job))
        result: Json = None
        exception: BaseException | None = None
        try:
            result = source.handlers.choose(lease.payload)(lease)
            if inspect.isawaitable(result):
                result = self._result_of(job, result)
        except (Exception, *RAISED, asyncio.CancelledError) as error:  # noqa: BLE001 - it fails the item
            exception = error
        self._renewer.drop(lease)
        with self._lock:
            is_given_back = job.stage == "given back"
            if not is_given_back:
                job.stage = "sending"
        if not is_given_back:
            self._send(source, job, result, exception)
        source.release_slot(lease)
        with self._lock:
            self._jobs.discard(job)

    def _send(self, source: Source, job: _Job, result: Json, exception: BaseException | None) -> None:
        retry = source.handlers.retry
        if exception is None:
            self._outcomes.finish(job.queue, job.lease, result, retry=retry)
        elif isinstance(exception, asyncio.CancelledError) and job.is_lost:
            self._outcomes.count_cancelled(job.queue, job.lease)
        else:
            self._outcomes.fail(job.queue, job.lease, exception, retry=retry)

    def _result_of(self, job: _Job, awaitable: Awaitable[Json]) -> Json:
        """Return a handler coroutine's result; it is cancelled if the lease is lost or given back."""
        task = self._loop.run(awaitable)
        with self._lock:
            job.task = task
            is_over = job.is_lost or job.stage != "working"
        if is_over:
            task.cancel()
        return task.result()

    def _mark_lost(self, job: _Job) -> None:
        with self._lock:
            job.is_lost = True
            if job.task is not None:
                job.task.cancel()
