"""Programs ask and people answer while the server and the programs are killed: each question is settled, and
none is settled twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress

import pytest

import leaseq
from leaseq.engine.connection import Connection
from leaseq.engine.durability import Wait
from leaseq.engine.replies import Reply
from leaseq.engine.scripts import BoundScript, Words
from leaseq.server.embedded import EmbeddedServer
from tests.conftest import Server
from tests.support.waiting import eventually, retry_while_unavailable

ASKERS, PEOPLE = 12, 4
Outcome = tuple[str, object]


def settle(queue: leaseq.Queue, id: str, timeout: float) -> Outcome:
    """Ask until the question is settled, as a program does that calls again after each error."""
    while True:
        try:
            answered = queue.ask({"question": id}, id=id, timeout=timeout)
        except leaseq.NotAnswered as error:
            return error.reason, None
        except leaseq.ServerUnavailable:
            time.sleep(0.02)
        else:
            return "answered", answered.result


class Crowd:
    """Each question is asked by two programs at the same time; people answer, give back, walk away; a manager
    cancels some."""

    def __init__(self, url: str, seed: int, questions: int) -> None:
        self.dice, self.clients = random.Random(seed), [leaseq.connect(url) for _ in range(5)]
        self.queues = [leaseq.Queue(client, "questions") for client in self.clients]
        self.queue = self.queues[0]
        self.queue.configure(lease_seconds=0.5, max_attempts=1_000, retry_seconds=0.05, retry_max_seconds=0.1)
        self.stop, self.ids = threading.Event(), [f"q-{n:04}" for n in range(questions)]

    def run(self, faults: Callable[[], object]) -> dict[str, list[Outcome]]:
        """The outcomes of each question, as its two askers got them."""
        with ThreadPoolExecutor(ASKERS + PEOPLE + 1) as pool:
            workers: list[Future[None]] = [pool.submit(self._answer, n) for n in range(PEOPLE)]
            workers.append(pool.submit(self._cancel_some))
            # A short timeout now and then, so that questions expire while they wait and while they are held.
            timeouts = {id: self.dice.choice([60, 60, 60, 0.3]) for id in self.ids}
            futures = {
                id: [pool.submit(settle, self.queues[n + 1], id, timeouts[id]) for n in range(2)]
                for id in self.ids
            }
            try:
                faults()
                return {id: [one.result(120) for one in both] for id, both in futures.items()}
            finally:
                self.stop.set()
                for worker in workers:
                    worker.result(60)

    def _answer(self, number: int) -> None:
        dice, queue, name = random.Random(self.dice.random()), self.queues[3 + number % 2], f"person {number}"
        while not self.stop.is_set():
            with suppress(leaseq.ServerUnavailable, leaseq.LeaseLost, leaseq.ItemNotFound):
                lease = queue.reserve(name, wait=0.2)
                if lease is None:
                    continue
                way = dice.choices(["finish", "abandon", "fail", "walk away"], [85, 6, 4, 5])[0]
                if way == "finish":
                    self._finish(queue, lease)
                elif way == "walk away":
                    self.stop.wait(0.6)
                else:
                    getattr(queue, way)(lease)

    @staticmethod
    def _finish(queue: leaseq.Queue, lease: leaseq.Lease) -> None:
        retry_while_unavailable(lambda: queue.finish(lease, {"by": lease.person, "token": lease.token}))

    def _cancel_some(self) -> None:
        dice = random.Random(self.dice.random())
        while not self.stop.wait(0.05):
            with suppress(leaseq.LeaseqError):
                open_items = [*self.queue.items("inbound"), *self.queue.items("reserved")]
                if open_items and dice.random() < 0.3:
                    self.queue.cancel(dice.choice(open_items).id, "no longer needed")

    def close(self) -> None:
        for client in self.clients:
            client.close()


def kill_repeatedly(server: EmbeddedServer, rounds: int, dice: random.Random) -> None:
    for _ in range(rounds):
        time.sleep(dice.uniform(0.05, 0.4))
        assert server.pid is not None
        os.kill(server.pid, signal.SIGKILL)
        server.stop()
        server.start()


def all_events(queue: leaseq.Queue) -> Iterator[leaseq.Event]:
    after: str | None = None
    while page := queue.journal(after=after, limit=10_000):
        yield from page
        after = page[-1].cursor


def test_each_question_is_settled_once_while_the_server_is_killed(
    seed: int,
    rounds: int,
    report_figure: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    """In a soak with 100,000 calls."""
    kills, calls, run_script = (
        rounds * (6 if request.config.getoption("--soak") else 1),
        Counter[str](),
        Connection.run_script,
    )

    def count(self: Connection, bound: BoundScript, args: Words, wait: Wait | None = None) -> Reply:
        calls[bound.script.name] += 1
        return run_script(self, bound, args, wait)

    monkeypatch.setattr(Connection, "run_script", count)
    with (
        tempfile.TemporaryDirectory(prefix="leaseq") as folder,
        EmbeddedServer(folder) as server,
        closing(Crowd(server.url, seed, questions=80 * kills)) as crowd,
    ):
        outcomes = crowd.run(lambda: kill_repeatedly(server, kills, random.Random(seed)))
        crowd.queue.clear()
        items = {id: crowd.queue.get(id) for id in crowd.ids}
        events = Counter((event.id, event.what) for event in all_events(crowd.queue))
    kinds = Counter(kind for both in outcomes.values() for kind, _ in both)
    assert set(kinds) <= {"answered", "cancelled", "expired"}
    assert kinds["answered"]
    assert kinds["cancelled"]
    for id, both in outcomes.items():
        item = items[id]
        assert len(item.answers) == (item.state == "finished"), (id, item)
        assert events[id, "finished"] == (item.state == "finished"), id
        assert events[id, "cancelled"] + events[id, "lapsed"] <= 1, id
        assert events[id, "enqueued"] == 1, id
        assert not events[id, "cancelled"] or item.state == "dead", id
        for kind, result in both:
            if kind == "answered":
                assert result == item.answers[0].result, id
            elif kind == "cancelled":
                assert (item.state, item.died_of) == ("dead", "cancelled"), id
            else:  # somebody who had begun in time may have answered since
                assert item.state != "dead" or item.died_of in ("expired", "cancelled"), id
    report_figure(
        f"{len(outcomes)} questions of two askers each, {calls.total():,} calls, {kills} kills: "
        f"{', '.join(f'{count} {kind}' for kind, count in sorted(kinds.items()))}; each settled once"
    )


ASK_AND_DIE = """
import os, sys
from redis.connection import AbstractConnection
import leaseq

url, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
sent = 0


def die_after(method):
    def send(self, *arguments, **options):
        global sent
        if sent == count:
            os._exit(9)
        result = method(self, *arguments, **options)
        sent += 1
        return result
    return send


AbstractConnection.send_packed_command = die_after(AbstractConnection.send_packed_command)
with leaseq.connect(url) as client:
    leaseq.Queue(client, name).ask("x", id="one", timeout=60)
"""


@pytest.mark.parametrize("commands", [0, 1, 2, 3, 4, 5, 6, 8])
def test_program_killed_after_any_command_asks_again(
    server: Server, queue: leaseq.Queue, commands: int
) -> None:
    """It dies before or after it subscribed, added the question, looked; the next run gets the one answer."""
    queue.configure()
    arguments = (sys.executable, "-c", ASK_AND_DIE, server.url, queue.name, str(commands))
    program = subprocess.Popen(arguments)
    with ThreadPoolExecutor(1) as pool:
        if commands == 8:  # it may wait for the answer by then
            eventually(lambda: program.poll() is not None or queue.stats().inbound == 1)
            program.kill()
        assert program.wait(60) in (9, -9)
        future = pool.submit(queue.ask, "x", id="one", timeout=60)
        lease = queue.reserve("ann", wait=30)
        assert lease is not None
        queue.finish(lease, "yes")
        assert future.result(30).result == "yes"
    assert queue.stats().counters["enqueued"] == 1
