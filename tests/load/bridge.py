"""`./dev bench bridge`: how fast the bridge moves and archives items, its lag, and the server's memory.

The floor in the same run is an INSERT of as many rows of the same size by the database's driver alone.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import click
from sqlalchemy import Engine, text

import leaseq
from leaseq.bridge import schema
from leaseq.bridge.archiver import Archiver
from leaseq.bridge.database import open_database
from leaseq.bridge.migrator import Migrator
from leaseq.bridge.registry import Window
from leaseq.server.embedded import EmbeddedServer
from tests.load.clients import quantile
from tests.support.databases import postgresql

QUEUE = "bridge"
LEAST = {"sqlite": 20_000, "postgresql": 10_000}  # items a second
LAG = 1.0  # seconds, the 95th of a hundred
GROWTH = 1.05  # of the server's memory between a fifth of the rows and all
RESULT = {"about": "refund", "note": "a note of some length"}
WINDOW = 10_000
WORKERS = 8
PACE = 4_000  # items a second of all workers, while the memory is looked at: clear forgets some 6,000


@click.command()
@click.option("--items", default=40_000, show_default=True, type=click.IntRange(1_000, 200_000))
@click.option(
    "--rows", default=200_000, show_default=True, help="Rows that are worked through a window of 10,000."
)
def bridge(items: int, rows: int) -> None:
    """Print items a second of each database and each way, the lag and the memory; exit with 1 where one
    misses its limit."""
    failed = False
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="leaseq-bridge-")))
        server = stack.enter_context(postgresql())
        for kind, url in (("sqlite", f"sqlite:///{folder / 'work.db'}"), ("postgresql", server.url)):
            with emptied(folder / kind) as (client, _):
                engine = open_database(url)
                failed |= speeds(kind, engine, client, items)
                engine.dispose()
        with emptied(folder / "lag") as (client, redis_url):
            failed |= lag(server.url, client, redis_url)
        with emptied(folder / "memory") as (client, redis_url):
            failed |= memory(server.url, client, redis_url, rows)
    sys.exit(1 if failed else 0)


@contextmanager
def emptied(folder: Path) -> Iterator[tuple[leaseq.Client, str]]:
    folder.mkdir()
    with EmbeddedServer(folder, fsync="no") as server:
        client = leaseq.connect(server.url)
        yield client, server.url
        client.close()


def fill(engine: Engine, first: int, count: int) -> float:
    """Insert rows; seconds."""
    schema.upgrade(engine)
    cast = "CAST(:payload AS json)" if engine.dialect.name == "postgresql" else ":payload"
    statement = text(f"INSERT INTO leaseq_item (queue, id, payload) VALUES ('{QUEUE}', :id, {cast})")
    began = time.perf_counter()
    for start in range(first, first + count, 1_000):
        rows = [
            {"id": f"row-{n}", "payload": json.dumps({"text": f"Message {n}: my parcel is not here. " * 3})}
            for n in range(start, min(start + 1_000, first + count))
        ]
        with engine.begin() as connection:
            connection.execute(statement, rows)
    return time.perf_counter() - began


def work(queue: leaseq.Queue, person: str, a_second: float = math.inf) -> None:
    """Finish all that there is, no faster than that."""
    began, lease = time.monotonic(), queue.reserve(person)
    for done in itertools.count(1):
        if lease is None:
            return
        lease = queue.finish(lease, RESULT, then_reserve=True).next
        time.sleep(max(0.0, began + done / a_second - time.monotonic()))


def speeds(kind: str, engine: Engine, client: leaseq.Client, items: int) -> bool:
    floor = items / fill(engine, 0, items)
    queue = leaseq.Queue(client, QUEUE)
    queue.configure(keep_finished_seconds=3_600)
    began = time.perf_counter()
    Migrator(engine, Window(items, items - 1)).fill(queue)
    moved = items / (time.perf_counter() - began)
    work(queue, "ann")
    archiver, began = Archiver(engine), time.perf_counter()
    while archiver.archive(queue):
        pass
    archived = items / (time.perf_counter() - began)
    for what, figure in (("migrate", moved), ("archive", archived)):
        click.echo(
            f"{kind:<11}{what:<9}{figure:>8,.0f} items/s (at least {LEAST[kind]:,}), "
            f"{figure / floor:.2f} of a plain INSERT's {floor:,.0f}"
        )
    return min(moved, archived) < LEAST[kind]


@contextmanager
def running(redis_url: str, database_url: str, *options: str) -> Iterator[None]:
    """The bridge and the clear job, each a process of its own."""
    environment = {**os.environ, "LEASEQ_REDIS_URL": redis_url, "LEASEQ_DATABASE": database_url}
    commands = (
        ["bridge", "run", "--init", "--window", str(WINDOW), *options],
        ["clear", "--all", "--every", "0.5"],
    )
    run = partial(subprocess.Popen, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    started = [run([sys.executable, "-m", "leaseq", *command]) for command in commands]
    try:
        yield
    finally:
        for process in started:
            process.terminate()
            process.wait()


def lag(url: str, client: leaseq.Client, redis_url: str, seconds: float = 20, a_second: int = 200) -> bool:
    """From a finish to its row."""
    queue, engine = leaseq.Queue(client, QUEUE), open_database(url)
    count = round(seconds * a_second)
    queue.configure(keep_finished_seconds=3_600)
    queue.enqueue_many(leaseq.NewItem(n, id=f"lag-{n}") for n in range(count))
    finished: dict[str, float] = {}
    seen: dict[str, float] = {}
    with running(redis_url, url, "--queue", QUEUE):
        watcher = threading.Thread(target=_watch, args=(engine, seen, count))
        _wait_until_it_runs(queue)
        watcher.start()
        for n in range(count):
            lease = queue.reserve("ann")
            assert lease is not None
            queue.finish(lease, RESULT)
            finished[lease.id] = time.monotonic()
            time.sleep(max(0.0, (n + 1) / a_second - (time.monotonic() - min(finished.values()))))
        watcher.join()
    engine.dispose()
    times = [seen[id] - at for id, at in finished.items()]
    p95 = quantile(times, 0.95)
    click.echo(f"lag of an answer: p50 {quantile(times, 0.5):.2f} s, p95 {p95:.2f} s (at most {LAG:g})")
    return p95 > LAG


def _wait_until_it_runs(queue: leaseq.Queue) -> None:
    """Until the bridge has archived what there is."""
    while queue.event_rows(queue.follow("bridge")):
        time.sleep(0.1)


def _watch(engine: Engine, seen: dict[str, float], count: int) -> None:
    while len(seen) < count:
        with engine.begin() as connection:
            found = (
                connection.execute(text("SELECT id FROM leaseq_answer WHERE id LIKE 'lag-%'")).scalars().all()
            )
        for id in found:
            seen.setdefault(id, time.monotonic())
        time.sleep(0.02)


def memory(url: str, client: leaseq.Client, redis_url: str, rows: int) -> bool:
    """Rows are worked through a window; the server's memory is looked at on the way."""
    engine = open_database(url)
    with engine.begin() as connection:
        for table in ("item", "answer", "event", "change", "bridge"):
            connection.execute(text(f"TRUNCATE leaseq_{table}"))
    fill(engine, 0, rows)
    queue, used = leaseq.Queue(client, QUEUE), list[int]()
    began = time.perf_counter()
    stop = threading.Event()
    workers = [threading.Thread(target=_go_on, args=(queue, f"person {n}", stop)) for n in range(WORKERS)]
    with running(redis_url, url, "--keep-finished", "1", "--keep-events", "10000", "--queue", QUEUE):
        for one in workers:
            one.start()
        while _finished(engine) < rows:
            with client.translating():
                used.append(int(client.redis.info("memory")["used_memory"]))
            time.sleep(1)
        stop.set()
        for one in workers:
            one.join()
    engine.dispose()
    took = time.perf_counter() - began
    early, late = max(used[len(used) // 5 : 2 * len(used) // 5]), max(used[4 * len(used) // 5 :])
    click.echo(
        f"memory: {rows:,} rows through a window of {WINDOW:,} at {rows / took:,.0f}/s: {early / 1e6:.1f} MB "
        f"in the second fifth, {late / 1e6:.1f} MB in the last (at most {GROWTH:g} x)"
    )
    return late > GROWTH * early


def _go_on(queue: leaseq.Queue, person: str, stop: threading.Event) -> None:
    while not stop.is_set():
        if queue.find_policy() is not None:
            work(queue, person, PACE / WORKERS)
        time.sleep(0.05)


def _finished(engine: Engine) -> int:
    with engine.begin() as connection:
        found = connection.execute(text("SELECT count(*) FROM leaseq_answer"))
        return int(found.scalar_one())


if __name__ == "__main__":
    bridge()
