"""The effect of signals on a worker's process."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

import leaseq
from tests.conftest import Server
from tests.support.waiting import TIMEOUT, eventually
from tests.worker.conftest import Start

PROGRAM = """
import sys, threading
import leaseq

def handle(lease):
    print(lease.id, flush=True)
    threading.Event().wait(float(lease.payload))
    return "done"

worker = leaseq.Worker(leaseq.connect(sys.argv[1]), {sys.argv[2]: handle}, person="bot", grace=600)
worker.run()
print(worker.stats, flush=True)
"""


@pytest.fixture
def program(server: Server, queue: leaseq.Queue) -> Iterator[subprocess.Popen[str]]:
    """A process with a worker in its main thread. It prints the id of each item that it begins."""
    command = [sys.executable, "-c", PROGRAM, server.url, queue.name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        timer = threading.Timer(TIMEOUT, process.kill)  # so that a failing test does not wait forever
        timer.start()
        yield process
        timer.cancel()
        process.kill()


def read_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_first_signal_lets_worker_finish_its_item(
    queue: leaseq.Queue, program: subprocess.Popen[str], number: signal.Signals
) -> None:
    queue.enqueue(0.5, id="one")
    assert read_line(program) == "one"
    program.send_signal(number)
    queue.enqueue(0, id="two")
    assert read_line(program) == str(leaseq.WorkerStats(finished=1))
    assert program.wait(TIMEOUT) == 0
    assert queue.get("two").attempts == 0


def test_second_signal_gives_item_back_immediately(
    queue: leaseq.Queue, program: subprocess.Popen[str]
) -> None:
    queue.enqueue(3_600, id="one")
    assert read_line(program) == "one"
    program.send_signal(signal.SIGTERM)
    program.send_signal(signal.SIGINT)  # a different signal, since two equal ones may be merged
    assert read_line(program) == str(leaseq.WorkerStats(given_back=1))
    assert program.wait(TIMEOUT) == 0
    item = queue.get("one")
    assert (item.state, item.failures) == ("inbound", 0)
    assert (item.history[-1].how, item.history[-1].reason) == ("abandoned", "the worker stopped")


def test_item_of_a_killed_worker_is_finished_by_another_worker(
    queue: leaseq.Queue, program: subprocess.Popen[str], start: Start
) -> None:
    queue.configure(lease_seconds=1)
    queue.enqueue(3_600, id="one")
    assert read_line(program) == "one"
    program.kill()
    start(lambda _: "by another", person="other-bot")
    eventually(lambda: queue.stats().finished == 1, "finished")
    assert [grant.how for grant in queue.get("one").history] == ["expired", "finished"]
