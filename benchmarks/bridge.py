"""`./dev bench bridge`: how fast the bridge moves and archives items, its lag, and the server's memory.

The baseline in the same run is an INSERT of as many rows of the same size with only the database's driver.
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
from benchmarks.clients import quantile
from leaseq.bridge import schema
from leaseq.bridge.archiver import Archiver
from leaseq.bridge.database import open_database
from leaseq.bridge.migrator import Migrator
from leaseq.bridge.registry import Window
from leaseq.server.embedded import EmbeddedServer
from tests.support.databases import postgresql

QUEUE = "bridge"
MIN_SPEED = {"sqlite": 20_000, "postgresql": 10_000}  # items a second
MAX_LAG = 1.0  # seconds, the 95th percentile
MAX_GROWTH = 1.05  # ratio of the server's memory after all rows to that after a fifth
RESULT = {"about": "refund", "note": "a note of some length"}
WINDOW = 10_000
WORKERS = 8
PACE = 4_000  # items a second of all workers while memory is measured: clear deletes about 6,000


@click.command()
@click.option("--items", default=40_000, show_default=True, type=click.IntRange(1_000, 200_000))
@click.option("--rows", default=200_000, show_default=True, help="Rows to work through a window of 10,000.")
def bridge(items: int, rows: int) -> None:
    """Print items a second for each database and direction, the lag and the memory; exit with 1 if one
    misses its limit."""
    failed = False
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="leaseq-bridge-")))
        server = stack.enter_context(postgresql())
        for kind, url in (("sqlite", f"sqlite:///{folder / 'work.db'}"), ("postgresql", server.url)):
            with start_server(folder / kind) as (client, _):
                engine = open_database(url, create=True)
                failed |= measure_speeds(kind, engine, client, items)
                engine.dispose()
        with start_server(folder / "lag") as (client, redis_url):
            failed |= measure_lag(server.url, client, redis_url)
        with start_server(folder / "memory") as (client, redis_url):
            failed |= measure_memory(server.url, client, redis_url, rows)
    sys.exit(1 if failed else 0)


@contextmanager
def start_server(folder: Path) -> Iterator[tuple[leaseq.Client, str]]:
    folder.mkdir()
    with EmbeddedServer(folder, fsync="no") as server:
        client = leaseq.connect(server.url)
        yield client, server.url
        client.close()


def fill(engine: Engine, first: int, count: int) -> float:
    """Insert rows; return the seconds."""
    schema.upgrade(engine)
    cast = "CAST(:payload AS json)" if engine.dialect.name == "postgresql" else ":payload"
    statement = text(f"INSERT INTO leaseq_item (queue, id, payload) VALUES ('{QUEUE}', :id, {cast})")
    started_at = time.perf_counter()
    for start in range(first, first + count, 1_000):
        rows = [
            {"id": f"row-{n}", "payload": json.dumps({"text": f"Message {n}: my parcel is not here. " * 3})}
            for n in range(start, min(start + 1_000, first + count))
        ]
        with engine.begin() as connection:
            connection.execute(statement, rows)
    return time.perf_counter() - started_at


def work(queue: leaseq.Queue, person: str, rate: float = math.inf) -> None:
    """Finish all items, no faster than the given pace."""
    started_at, lease = time.monotonic(), queue.reserve(person)
    for count in itertools.count(1):
        if lease is None:
            return
        lease = queue.finish(lease, RESULT, then_reserve=True).next
        time.sleep(max(0.0, started_at + count / rate - time.monotonic()))


def measure_speeds(kind: str, engine: Engine, client: leaseq.Client, items: int) -> bool:
    insert_speed = items / fill(engine, 0, items)
    queue = leaseq.Queue(client, QUEUE)
    queue.configure(keep_finished_seconds=3_600)
    archiver = Archiver(engine)
    archiver.archive(queue)  # once, as a bridge that runs all the time
    started_at = time.perf_counter()
    Migrator(engine, Window(items, items - 1)).fill(queue)
    migrate_speed = items / (time.perf_counter() - started_at)
    work(queue, "ann")
    started_at = time.perf_counter()
    while archiver.archive(queue):
        pass
    archive_speed = items / (time.perf_counter() - started_at)
    for way, speed in (("migrate", migrate_speed), ("archive", archive_speed)):
        click.echo(
            f"{kind:<11}{way:<9}{speed:>8,.0f} items/s (at least {MIN_SPEED[kind]:,}), "
            f"{speed / insert_speed:.2f} of a plain INSERT's {insert_speed:,.0f}"
        )
    return min(migrate_speed, archive_speed) < MIN_SPEED[kind]


@contextmanager
def run_bridge(redis_url: str, database_url: str, *options: str) -> Iterator[None]:
    """Run the bridge and the clear job, each in its own process."""
    environment = {**os.environ, "LEASEQ_REDIS_URL": redis_url, "LEASEQ_DATABASE": database_url}
    commands = (
        ["bridge", "run", "--init", "--window", str(WINDOW), *options],
        ["clear", "--all", "--every", "0.5"],
    )
    start_process = partial(
        subprocess.Popen, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    processes = [start_process([sys.executable, "-m", "leaseq", *command]) for command in commands]
    try:
        yield
    finally:
        for process in processes:
            process.terminate()
            process.wait()


def measure_lag(
    url: str, client: leaseq.Client, redis_url: str, seconds: float = 20, rate: int = 200
) -> bool:
    """Measure the time from a finish to its row in the database."""
    queue, engine = leaseq.Queue(client, QUEUE), open_database(url)
    count = round(seconds * rate)
    queue.configure(keep_finished_seconds=3_600)
    queue.enqueue_many(leaseq.NewItem(n, id=f"lag-{n}") for n in range(count))
    finish_times: dict[str, float] = {}
    row_times: dict[str, float] = {}
    with run_bridge(redis_url, url, "--queue", QUEUE):
        watcher = threading.Thread(target=_record_rows, args=(engine, row_times, count))
        _wait_until_it_runs(queue)
        watcher.start()
        for n in range(count):
            lease = queue.reserve("ann")
            assert lease is not None
            queue.finish(lease, RESULT)
            finish_times[lease.id] = time.monotonic()
            time.sleep(max(0.0, (n + 1) / rate - (time.monotonic() - min(finish_times.values()))))
        watcher.join()
    engine.dispose()
    lags = [row_times[id] - finish_time for id, finish_time in finish_times.items()]
    p95 = quantile(lags, 0.95)
    click.echo(f"lag of an answer: p50 {quantile(lags, 0.5):.2f} s, p95 {p95:.2f} s (at most {MAX_LAG:g})")
    return p95 > MAX_LAG


def _wait_until_it_runs(queue: leaseq.Queue) -> None:
    """Return once the bridge has archived everything."""
    while queue.event_rows(queue.follow("bridge")):
        time.sleep(0.1)


def _record_rows(engine: Engine, row_times: dict[str, float], count: int) -> None:
    while len(row_times) < count:
        with engine.begin() as connection:
            ids = (
                connection.execute(text("SELECT id FROM leaseq_answer WHERE id LIKE 'lag-%'")).scalars().all()
            )
        for id in ids:
            row_times.setdefault(id, time.monotonic())
        time.sleep(0.02)


def measure_memory(url: str, client: leaseq.Client, redis_url: str, rows: int) -> bool:
    """Work rows through a window, and measure the server's memory on the way."""
    engine = open_database(url)
    with engine.begin() as connection:
        for table in ("item", "answer", "event", "change", "bridge"):
            connection.execute(text(f"TRUNCATE leaseq_{table}"))
    fill(engine, 0, rows)
    queue, samples = leaseq.Queue(client, QUEUE), list[int]()
    started_at = time.perf_counter()
    stop = threading.Event()
    workers = [
        threading.Thread(target=_keep_working, args=(queue, f"person {n}", stop)) for n in range(WORKERS)
    ]
    with run_bridge(redis_url, url, "--keep-finished", "1", "--keep-events", "10000", "--queue", QUEUE):
        for worker in workers:
            worker.start()
        while _count_answers(engine) < rows:
            with client.translating():
                samples.append(int(client.redis.info("memory")["used_memory"]))
            time.sleep(1)
        stop.set()
        for worker in workers:
            worker.join()
    engine.dispose()
    seconds = time.perf_counter() - started_at
    early_peak, late_peak = (
        max(samples[len(samples) // 5 : 2 * len(samples) // 5]),
        max(samples[4 * len(samples) // 5 :]),
    )
    click.echo(
        f"memory: {rows:,} rows through a window of {WINDOW:,} at {rows / seconds:,.0f}/s: "
        f"{early_peak / 1e6:.1f} MB in the second fifth, "
        f"{late_peak / 1e6:.1f} MB in the last (at most {MAX_GROWTH:g} x)"
    )
    return late_peak > MAX_GROWTH * early_peak


def _keep_working(queue: leaseq.Queue, person: str, stop: threading.Event) -> None:
    while not stop.is_set():
        if queue.find_policy() is not None:
            work(queue, person, PACE / WORKERS)
        time.sleep(0.05)


def _count_answers(engine: Engine) -> int:
    with engine.begin() as connection:
        result = connection.execute(text("SELECT count(*) FROM leaseq_answer"))
        return int(result.scalar_one())


if __name__ == "__main__":
    bridge()
