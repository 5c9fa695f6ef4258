"""A worker while the server is unavailable."""

from __future__ import annotations

import tempfile
import threading
from itertools import chain

import pytest

import leaseq
from leaseq.server.embedded import EmbeddedServer
from leaseq.worker.outcomes import Retry
from tests.support.refused import unavailable
from tests.support.waiting import TIMEOUT, eventually
from tests.worker.conftest import HeldFunction, Start, wait_for


def test_worker_waits_for_server_and_loses_nothing(
    start: Start, queue_name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The server stops while an item is handled, and the result is ready before the server is back."""
    at_work, go_on = threading.Event(), threading.Event()

    def handle(lease: leaseq.Lease) -> int:
        at_work.set()
        assert go_on.wait(TIMEOUT)
        return lease.attempt

    with tempfile.TemporaryDirectory(prefix="leaseq") as folder, EmbeddedServer(folder) as server:
        client = leaseq.connect(server.url)
        queue = leaseq.Queue(client, queue_name)
        queue.enqueue_many([{}, {}])
        thread = start(handle, client=client)
        wait_for(at_work)
        server.stop()
        go_on.set()
        eventually(lambda: "trying again" in caplog.text, "the log says that it is unavailable")
        server.start()
        eventually(lambda: thread.worker.stats.finished == 2, "both finished")
        assert "the server is back" in caplog.text
        assert thread.stop() == leaseq.WorkerStats(finished=2)
        assert [answer.result for answer in queue.answers()] == [1, 1]
        client.close()


def test_call_is_given_up_after_repeated_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server refuses a call if it has no memory, or the worker's user lacks the right, for instance."""
    monkeypatch.setattr("leaseq.worker.outcomes._RETRY", (0.001, 0.001))
    errors = chain([unavailable()] * 20, [leaseq.ServerRefused("restoring")] * 20)

    def call() -> None:
        for error in errors:
            raise error

    with pytest.raises(leaseq.ServerRefused):
        Retry().call(call, threading.Event())
    assert len(list(errors)) == 12, "it was tried eight times"


class RecordedWaits(threading.Event):
    """An event that nobody sets, and whose waits take no time."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.seconds.append(timeout or 0)
        return False


def test_waits_between_calls_double_up_to_the_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leaseq.worker.outcomes._RETRY", (1, 5))
    errors, waits = [unavailable()] * 6, RecordedWaits()

    def call() -> None:
        if errors:
            raise errors.pop()

    Retry().call(call, waits)
    for seconds, longest in zip(waits.seconds, (1, 2, 4, 5, 5, 5), strict=True):
        assert longest / 2 <= seconds <= longest


def test_worker_can_be_stopped_while_server_is_unavailable(
    start: Start, handle: HeldFunction, queue_name: str, caplog: pytest.LogCaptureFixture
) -> None:
    with tempfile.TemporaryDirectory(prefix="leaseq") as folder, EmbeddedServer(folder) as server:
        client = leaseq.connect(server.url)
        leaseq.Queue(client, queue_name).enqueue({})
        thread = start(handle, client=client)
        wait_for(handle.at_work)
        server.stop()
        handle.go_on.set()
        eventually(lambda: "trying again" in caplog.text, "it tries to send the result")
        assert thread.stop() == leaseq.WorkerStats(lost=1)


def test_worker_can_be_stopped_after_server_ends_during_multi_queue_wait(
    start: Start, queue_name: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaseq.worker.source._WAIT", 0.5)
    with tempfile.TemporaryDirectory(prefix="leaseq") as folder, EmbeddedServer(folder) as server:
        client = leaseq.connect(server.url)
        queues = [leaseq.Queue(client, f"{queue_name}.{name}") for name in ("high", "low")]
        for queue in queues:
            queue.configure()
        thread = start({queue.name: lambda _: None for queue in queues}, client=client)
        eventually(lambda: all(queue.stats().waiting for queue in queues), "it waits in both")
        server.stop()
        eventually(lambda: "trying again" in caplog.text, "the log says that it is unavailable")
        assert thread.stop() == leaseq.WorkerStats()
        client.close()
