"""A program as a worker: it finishes, fails, renews, stops in good order, and loses nothing when killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

import leaseq
from leaseq import Lease, Worker
from tests.conftest import Server

LONG = 30  # seconds: far more than any of this takes
Run = Callable[..., Worker]


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + LONG
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def run(server: Server, queue: leaseq.Queue) -> Iterator[Run]:
    """Start a worker in a thread; it is stopped with the test."""
    started: list[tuple[Worker, threading.Thread]] = []

    def start(handle: Callable[[Lease], object], **more: object) -> Worker:
        handlers = more.pop("handlers", {queue.name: handle})
        worker = Worker(server.client, handlers, **{"person": "bot", **more})  # type: ignore[arg-type]
        thread = threading.Thread(target=worker.run)
        thread.start()
        started.append((worker, thread))
        return worker

    yield start
    for worker, thread in started:
        worker.stop()
        thread.join(LONG)
        assert not thread.is_alive()


def test_what_it_returns_is_the_result_and_what_it_raises_a_fail(queue: leaseq.Queue, run: Run) -> None:
    queue.configure(holds=4, max_attempts=1)
    queue.enqueue_many(leaseq.NewItem({"n": n}, id=f"{n}") for n in range(12))

    def handle(lease: Lease) -> object:
        if lease.payload["n"] == 7:
            raise ValueError("seven is torn")
        return {"twice": 2 * lease.payload["n"]}

    worker = run(handle, concurrency=4)
    until(lambda: queue.stats().finished == 11 and queue.stats().dead == 1)
    assert {a.id: a.result["twice"] for a in queue.answers()} == {f"{n}": 2 * n for n in range(12) if n != 7}
    assert {answer.person for answer in queue.answers()} == {"bot"}
    assert queue.get("7").last_error == "ValueError: seven is torn"
    until(lambda: (worker.worked.finished, worker.worked.failed) == (11, 1))


def test_no_lease_is_worked_by_two_of_its_threads(queue: leaseq.Queue, run: Run) -> None:
    """Whose hands are full gets back a lease that they hold: it must not be worked again for that."""
    queue.configure(holds=2)
    queue.enqueue_many([{}] * 20)
    seen: Counter[int] = Counter()

    def handle(lease: Lease) -> object:
        seen[lease.token] += 1
        time.sleep(0.01)
        return {}

    run(handle, concurrency=6)
    until(lambda: queue.stats().finished == 20)
    assert set(seen.values()) == {1}


def test_a_lease_is_renewed_while_it_is_worked(queue: leaseq.Queue, run: Run) -> None:
    queue.configure(lease_seconds=0.4)
    queue.enqueue({}, id="slow")
    run(lambda _: time.sleep(1.5) or {"done": True})
    until(lambda: queue.stats().finished == 1)
    item = queue.get("slow")
    assert (item.attempts, item.failures, item.answers[0].late) == (1, 0, False)
    assert item.history[0].renewals >= 2


def test_a_result_that_does_not_fit_the_form_fails(queue: leaseq.Queue, run: Run) -> None:
    form = {"ask": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}
    queue.configure(form=form, max_attempts=1)
    queue.enqueue({}, id="a")
    run(lambda _: {"n": "many"})
    until(lambda: queue.stats().dead == 1)
    assert "n" in (queue.get("a").last_error or "")


def test_several_queues_in_turn(server: Server, queue: leaseq.Queue, run: Run) -> None:
    others = [leaseq.Queue(server.client, f"{queue.name}.{n}") for n in range(3)]
    for one in others:
        one.enqueue_many([{}] * 5)
    run(None, handlers={one.name: lambda _: {} for one in others})
    until(lambda: all(one.stats().finished == 5 for one in others))


def test_stop_finishes_what_is_in_work_and_takes_no_more(queue: leaseq.Queue, run: Run) -> None:
    queue.enqueue_many([{}, {}])
    begun, go_on = threading.Event(), threading.Event()

    def handle(_: Lease) -> object:
        begun.set()
        assert go_on.wait(LONG)
        return {}

    worker = run(handle)
    assert begun.wait(LONG)
    worker.stop()
    go_on.set()
    until(lambda: queue.stats().finished == 1)
    stats = queue.stats()
    assert (stats.inbound, stats.reserved) == (1, 0)


def test_what_is_not_done_within_the_grace_is_given_back(queue: leaseq.Queue, run: Run) -> None:
    queue.enqueue({}, id="endless")
    begun, end = threading.Event(), threading.Event()

    def handle(_: Lease) -> object:
        begun.set()
        end.wait(LONG)
        return {}

    worker = run(handle, grace=0.1)
    assert begun.wait(LONG)
    worker.stop()
    until(lambda: queue.get("endless").state == "inbound")
    assert queue.get("endless").history[-1].how == "abandoned"
    end.set()
    assert queue.stats().finished == 0


def test_a_killed_worker_loses_nothing(server: Server, queue: leaseq.Queue, run: Run) -> None:
    queue.configure(lease_seconds=1)
    queue.enqueue({}, id="a")
    code = (
        "import sys, time, leaseq\n"
        "client, handle = leaseq.connect(sys.argv[1]), lambda _: time.sleep(600)\n"
        "leaseq.Worker(client, {sys.argv[2]: handle}, person='doomed').run()"
    )
    child = subprocess.Popen([sys.executable, "-c", code, server.url, queue.name])
    until(lambda: queue.stats().reserved == 1)
    os.kill(child.pid, signal.SIGKILL)
    child.wait(LONG)
    run(lambda _: {"by": "another"})
    until(lambda: queue.stats().finished == 1)
    assert [grant.how for grant in queue.get("a").history] == ["expired", "finished"]


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"concurrency": 0}, "concurrency"),
        ({"person": ""}, "person"),
        ({"grace": -1}, "grace"),
        ({"skills": "fr"}, "skills"),
    ],
)
def test_bad_arguments_are_refused_by_name(
    server: Server, queue: leaseq.Queue, more: dict[str, object], field: str
) -> None:
    with pytest.raises(leaseq.Invalid) as refused:
        Worker(server.client, {queue.name: lambda _: {}}, **{"person": "bot", **more})  # type: ignore[arg-type]
    assert refused.value.field == field
