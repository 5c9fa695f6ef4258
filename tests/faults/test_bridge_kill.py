"""Rows from SQL are answered by people and archived while each part of the bridge is killed repeatedly."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

import leaseq
from leaseq import webhooks
from leaseq.bridge import schema
from leaseq.bridge.database import open_database
from leaseq.bridge.verify import verify
from leaseq.server.embedded import EmbeddedServer
from tests.support.databases import PostgreSQL, postgresql
from tests.support.receiver import Receiver
from tests.support.waiting import eventually

QUEUE = "round"
LOOPBACK = webhooks.networks("127.0.0.0/8")
PEOPLE = 20
KILLS = 3  # kills of each part, in the long form
PROGRAMS = ("migrate", "archive", "webhooks")
PARTS = ("server", "database", *PROGRAMS)


class Programs:
    """The two parts of the bridge and the webhooks, each a process that is started again after a kill."""

    def __init__(self, server: str, database: str, log: Path) -> None:
        self._environment = {
            **os.environ,
            "LEASEQ_REDIS_URL": server,
            "LEASEQ_DATABASE": database,
            "LEASEQ_WEBHOOK_ALLOW": "127.0.0.0/8",
        }
        self._log_path = log
        self._log = log.open("ab")
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, part: str) -> None:
        arguments = (
            ("webhook", "run") if part == "webhooks" else ("bridge", "run", "--window", "500", "--part", part)
        )
        command = [sys.executable, "-m", "leaseq", *arguments]
        self._processes[part] = subprocess.Popen(
            command, env=self._environment, stdout=self._log, stderr=self._log
        )

    def kill(self, part: str) -> None:
        self._processes[part].kill()
        self._processes[part].wait()

    def check(self) -> None:
        """Check that no part ended by itself."""
        ended_parts = [part for part, process in self._processes.items() if process.poll() is not None]
        assert ended_parts == [], self._log_path.read_text()

    def count_unavailable(self) -> int:
        """Return for how many parts the server or the database is unavailable."""
        log = self._log_path.read_text()
        return log.count("trying again until it is back") - log.count("the bridge goes on")

    def close(self) -> None:
        for part in self._processes:
            self.kill(part)
        self._log.close()


class FailingReceiver(Receiver):
    """Fails every third request."""

    def __init__(self) -> None:
        super().__init__()
        self.item_ids: dict[str, str] = {}  # item ids by webhook id
        self._numbers = count(1)
        self._lock = threading.Lock()

    def respond(self, handler: BaseHTTPRequestHandler) -> None:
        id = handler.headers["webhook-id"]
        with self._lock:
            request = next(candidate for candidate in reversed(self.requests) if candidate.id == id)
            fails = next(self._numbers) % 3 == 0
            if not fails:
                self.item_ids[id] = json.loads(request.body)["data"]["id"]
        handler.send_response(500 if fails else 204)
        handler.send_header("Content-Length", "0")
        handler.end_headers()


class Crowd:
    """People, and one worker, who answer until they are stopped; records the acknowledged answers."""

    def __init__(self, url: str, seed: int) -> None:
        self.acknowledged_answers: dict[str, list[tuple[str, object]]] = {}
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._client = leaseq.connect(url)
        self._threads = [
            threading.Thread(target=self._keep_working, args=(f"person {n}", random.Random(seed + n)))
            for n in range(PEOPLE)
        ]
        self._worker = leaseq.Worker(self._client, {QUEUE: self._handle}, person="robot")
        self._threads.append(threading.Thread(target=self._worker.run))
        for thread in self._threads:
            thread.start()

    def _keep_working(self, person: str, dice: random.Random) -> None:
        while not self._stop.is_set():
            with contextlib.suppress(leaseq.ServerUnavailable, leaseq.LeaseLost):
                self._work(person, dice)

    def _work(self, person: str, dice: random.Random) -> None:
        queue = leaseq.Queue(self._client, QUEUE)
        lease = queue.reserve(person, wait=0.2)
        if lease is None:
            return
        if dice.random() < 0.02:
            queue.abandon(lease, "not now", again=True)
            return
        result = {"by": person, "n": dice.randrange(10**6)}
        while True:
            try:
                queue.finish(lease, result)
            except leaseq.ServerUnavailable:
                continue  # repeat the finish until it is acknowledged or refused
            break
        self._record(lease.id, person, result)

    def _handle(self, lease: leaseq.Lease) -> object:
        return {"by": "robot", "n": lease.token}

    def _record(self, id: str, person: str, result: object) -> None:
        with self._lock:
            self.acknowledged_answers.setdefault(id, []).append((person, result))

    def close(self) -> None:
        self._stop.set()
        self._worker.stop()
        for thread in self._threads:
            thread.join()
        self._client.close()


def insert_rows(engine: Engine, rows: int, dice: random.Random) -> None:
    """Insert rows as an application does: many transactions, mixed priorities, some delayed."""
    for start in range(0, rows, 500):
        values = [
            {
                "id": f"row-{n}",
                "payload": json.dumps({"n": n}),
                "priority": dice.choice((10, 100, 100, 200)),
                "delay": dice.choice((0, 0, 0, 3)),
            }
            for n in range(start, min(start + 500, rows))
        ]
        with engine.begin() as connection:
            statement = (
                "INSERT INTO leaseq_item (queue, id, payload, priority, run_at) VALUES "
                f"('{QUEUE}', :id, CAST(:payload AS json), :priority, now() + :delay * interval '1 second')"
            )
            connection.execute(text(statement), values)


def cause_fault(part: str, server: EmbeddedServer, database: PostgreSQL, programs: Programs) -> None:
    if part == "server":
        assert server.pid is not None
        os.kill(server.pid, signal.SIGKILL)
        server.stop()
        server.start()
    elif part == "database":
        database.crash()
        eventually(
            lambda: programs.count_unavailable() >= 2, "both parts of the bridge report it as unavailable"
        )
        database.start()
    else:
        programs.kill(part)
        programs.start(part)


@pytest.fixture
def database() -> Iterator[PostgreSQL]:
    with postgresql() as server:
        yield server


def test_every_answer_is_in_the_database_once(
    seed: int, request: pytest.FixtureRequest, database: PostgreSQL, report_figure: Callable[[str], None]
) -> None:
    soak = request.config.getoption("--soak")
    rows, kills = (50_000, KILLS) if soak else (600, 1)
    # What a killed `webhook run` was sending is sent again after its lease expired: after a minute.
    parts = PARTS if soak else [part for part in PARTS if part != "webhooks"]
    dice = random.Random(seed)
    engine = open_database(database.url)
    schema.upgrade(engine)
    with (
        tempfile.TemporaryDirectory(prefix="leaseq") as folder,
        EmbeddedServer(folder) as server,
        contextlib.closing(Programs(server.url, database.url, Path(folder) / "programs.log")) as programs,
        FailingReceiver() as receiver,
    ):
        client = leaseq.connect(server.url)
        queue = leaseq.Queue(client, QUEUE)
        queue.configure(max_attempts=1_000, max_abandons=None, lease_seconds=5)
        webhooks.Endpoints(client).add(
            receiver.url, events=("item.finished",), queues=(QUEUE,), by="ann", allow=LOOPBACK
        )
        # An event may fail ten times in a row: with the usual retry delays that takes more than an hour.
        deliveries = webhooks.Deliveries(client)
        deliveries.make_queue()
        deliveries.queue.configure(retry_seconds=0.2, retry_max_seconds=1)
        for part in PROGRAMS:
            programs.start(part)
        insert_rows(engine, rows, dice)
        with contextlib.closing(Crowd(server.url, seed)) as crowd:
            victims = [part for part in parts for _ in range(kills)]
            dice.shuffle(victims)
            for n, part in enumerate(victims, 1):
                goal = rows * n // (len(victims) + 3)
                programs.check()
                eventually(partial(has_finished, queue, goal), f"{goal:,} are finished")
                programs.check()
                cause_fault(part, server, database, programs)
            engine.dispose()
            eventually(lambda: count_finished(engine) == rows, "all rows are finished")
        check_answers(engine, rows, crowd)
        eventually(lambda: len(receiver.item_ids) >= rows, "every event is sent", seconds=300)
        assert sorted(receiver.item_ids.values()) == sorted(f"row-{n}" for n in range(rows))
        assert [str(difference) for difference in verify(client, engine, QUEUE)] == []
        client.close()
    engine.dispose()
    report_figure(
        f"{rows:,} rows from SQL and back, {kills} kills of each of {len(parts)} parts: each answer once; "
        f"each event sent, in {len(receiver.requests):,} requests"
    )


def has_finished(queue: leaseq.Queue, count: int) -> bool:
    return queue.stats().counters["finished"] >= count


def count_finished(engine: Engine) -> int:
    with engine.begin() as connection:
        result = connection.execute(text("SELECT count(*) FROM leaseq_item WHERE status = 'finished'"))
        return int(result.scalar_one())


def check_answers(engine: Engine, rows: int, crowd: Crowd) -> None:
    with engine.begin() as connection:
        answer_rows = connection.execute(
            text("SELECT id, person, result FROM leaseq_answer WHERE accepted")
        ).all()
        event_ids = (
            connection.execute(text("SELECT id FROM leaseq_event WHERE what = 'finished'")).scalars().all()
        )
    answers = {id: (person, result) for id, person, result in answer_rows}
    assert len(answer_rows) == len(answers) == rows
    assert max(Counter(event_ids).values()) == 1
    assert len(event_ids) == rows
    for id, acknowledged_answers in crowd.acknowledged_answers.items():
        assert answers[id] in acknowledged_answers
