"""Workers that run in a thread of the test, and end with it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import leaseq
from leaseq.worker import Handler
from tests.support.waiting import TIMEOUT


class WorkerThread:
    """A worker that runs in a thread, as in a program that also does other things."""

    def __init__(self, worker: leaseq.Worker) -> None:
        self.worker = worker
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.worker.run()
        except Exception as error:  # noqa: BLE001 - the test raises it
            self.error = error

    def stop(self) -> leaseq.WorkerStats:
        self.worker.stop()
        return self.join()

    def join(self) -> leaseq.WorkerStats:
        self._thread.join(TIMEOUT)
        assert not self._thread.is_alive(), "the worker did not end"
        error, self.error = self.error, None
        if error is not None:
            raise error
        return self.worker.stats


Start = Callable[..., WorkerThread]


@pytest.fixture(autouse=True)
def shorten_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit waits to 0.1 s, after which a worker notices that it was stopped."""
    monkeypatch.setattr("leaseq.worker.source._WAIT", 0.1)


@pytest.fixture
def start(server: Any, queue_name: str) -> Iterator[Start]:
    """Return a function that starts a worker on the test's queue, or on the queues given by name."""
    threads: list[WorkerThread] = []

    def start_worker(
        handle: Handler | dict[str, Handler], *, client: leaseq.Client | None = None, **options: Any
    ) -> WorkerThread:
        handlers = handle if isinstance(handle, dict) else {queue_name: handle}
        options = {"person": "bot", "grace": 0, **options}
        thread = WorkerThread(leaseq.Worker(client or server.client, handlers, **options))
        threads.append(thread)
        return thread

    yield start_worker
    for thread in threads:
        thread.stop()


def wait_for(event: threading.Event) -> None:
    assert event.wait(TIMEOUT), "the event was not set"


class HeldFunction:
    """A handler that waits until the test releases it, and records the tokens of its leases."""

    def __init__(self) -> None:
        self.at_work = threading.Event()
        self.go_on = threading.Event()
        self.tokens: list[int] = []

    def __call__(self, lease: leaseq.Lease) -> str:
        self.tokens.append(lease.token)
        self.at_work.set()
        assert self.go_on.wait(TIMEOUT)
        return "done"


@pytest.fixture
def handle() -> HeldFunction:
    return HeldFunction()
