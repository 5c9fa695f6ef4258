"""How a worker behaves while the server is away."""

from __future__ import annotations

import tempfile
import threading
from itertools import chain

import pytest

import leaseq
from leaseq.server.embedded import EmbeddedServer
from leaseq.worker.retry import Retry
from tests.support.waiting import TIMEOUT, eventually
from tests.worker.conftest import HeldFunction, Start, wait_for


def test_while_the_server_is_away_it_waits_and_nothing_is_lost(
    start: Start, queue_name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The server goes away during work on an item, and the result is ready before it is back."""
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
        eventually(lambda: "trying again" in caplog.text, "the log says that it is away")
        server.start()
        eventually(lambda: thread.worker.stats.finished == 2, "both finished")
        assert "the server is back" in caplog.text
        assert thread.stop() == leaseq.WorkerStats(finished=2)
        assert [answer.result for answer in queue.answers()] == [1, 1]
        client.close()


def test_what_the_server_keeps_refusing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """For instance, a result for which it has no memory, or which the worker's user may not write."""
    monkeypatch.setattr("leaseq.worker.retry._RETRY", (0.001, 0.001))
    errors = chain([leaseq.ServerUnavailable("away")] * 20, [leaseq.ServerRefused("no")] * 20)

    def call() -> None:
        for error in errors:
            raise error

    with pytest.raises(leaseq.ServerRefused):
        Retry().call(call, threading.Event())
    assert len(list(errors)) == 12, "it was tried eight times"


def test_a_server_that_stays_away_does_not_keep_it_from_stopping(
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


def test_nor_does_one_that_went_away_while_it_waited_in_several_queues(
    start: Start, queue_name: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaseq.worker.taker._WAIT", 0.5)
    with tempfile.TemporaryDirectory(prefix="leaseq") as folder, EmbeddedServer(folder) as server:
        client = leaseq.connect(server.url)
        queues = [leaseq.Queue(client, f"{queue_name}.{name}") for name in ("high", "low")]
        for queue in queues:
            queue.configure()
        thread = start({queue.name: lambda _: None for queue in queues}, client=client)
        eventually(lambda: all(queue.stats().waiting for queue in queues), "it waits in both")
        server.stop()
        eventually(lambda: "trying again" in caplog.text, "the log says that it is away")
        assert thread.stop() == leaseq.WorkerStats()
        client.close()
