"""`./dev bench asking`: programs that wait for the answers of people.

The figures are how soon an answer reaches the program that asked, and the memory that open questions take
beside their items.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.queues import Queue as Pipe
from typing import Any

import click

import leaseq
from benchmarks.clients import quantile
from leaseq.server.embedded import EmbeddedServer

QUEUE = "questions"
P95_MS, MEGABYTES = 50.0, 1.0
_LONG = 3_600  # seconds


@click.command()
@click.option("--askers", default=1_000, show_default=True, type=click.IntRange(1, 4_000))
@click.option("--processes", default=4, show_default=True, type=click.IntRange(1, 16))
@click.option("--pause", default=0.01, show_default=True, help="Seconds between two answers.")
@click.option("--open-questions", default=10_000, show_default=True, type=click.IntRange(100, 1_000_000))
def asking(askers: int, processes: int, pause: float, open_questions: int) -> None:
    """Print how soon answers reach those who asked, and the memory of open questions; exit with 1 if one
    misses its limit."""
    with tempfile.TemporaryDirectory(prefix="leaseq-asking-") as folder, EmbeddedServer(folder) as server:
        client = leaseq.connect(server.url)
        queue = leaseq.Queue(client, QUEUE)
        milliseconds = sorted(_delays(server.url, queue, askers, processes, pause))
        p50, p95 = quantile(milliseconds, 0.5), quantile(milliseconds, 0.95)
        megabytes = _memory_of_questions(client, open_questions)
    click.echo(
        f"{askers:,} askers in {processes} processes: finish to asker p50 {p50:.1f} ms, p95 {p95:.1f} ms"
    )
    click.echo(f"{open_questions:,} open questions: {megabytes:.2f} MB more than the items")
    is_good = p95 <= P95_MS and megabytes <= MEGABYTES * open_questions / 10_000
    click.echo(f"limits: p95 {P95_MS:.0f} ms, {MEGABYTES:.0f} MB for 10,000")
    sys.exit(0 if is_good else 1)


def _delays(url: str, queue: leaseq.Queue, askers: int, processes: int, pause: float) -> list[float]:
    """The milliseconds from each finish's reply to the asker's reply."""
    context = multiprocessing.get_context("spawn")
    times: Any = context.Queue()
    ids = [f"q-{n}" for n in range(askers)]
    parts = [ids[n::processes] for n in range(processes)]
    programs = [context.Process(target=ask_all, args=(url, part, times)) for part in parts]
    for program in programs:
        program.start()
    while not queue.exists() or queue.stats().inbound < askers:
        time.sleep(0.1)
    time.sleep(3)  # until all are subscribed and the first polls are over
    finished: dict[str, float] = {}
    while (lease := queue.reserve("ann")) is not None:
        queue.finish(lease, lease.payload)
        finished[lease.id] = time.time()
        time.sleep(pause)
    received: dict[str, float] = {}
    for _ in programs:
        received |= times.get(timeout=120)
    for program in programs:
        program.join()
    return [(received[id] - finished[id]) * 1_000 for id in ids]


def ask_all(url: str, ids: Iterable[str], times: Pipe[dict[str, float]]) -> None:
    """One program: a thread for each question."""
    received: dict[str, float] = {}
    lock = threading.Lock()
    with leaseq.connect(url) as client:
        queue = leaseq.Queue(client, QUEUE)

        def ask(id: str) -> None:
            queue.ask({"text": f"Refund {id}?"}, id=id, timeout=_LONG)
            at = time.time()
            with lock:
                received[id] = at

        list_of_ids = list(ids)
        with ThreadPoolExecutor(len(list_of_ids)) as pool:
            list(pool.map(ask, list_of_ids))
    times.put(received)


def _memory_of_questions(client: leaseq.Client, count: int) -> float:
    """The megabytes that open questions take more than items."""
    sizes = [_used_memory(client)]
    for kind in ("items", "asked"):
        queue = leaseq.Queue(client, kind)
        for n in range(count):
            payload = {"text": f"Refund {n}?"}
            if kind == "items":
                queue.enqueue(payload)
                continue
            with contextlib.suppress(leaseq.StillWaiting):
                queue.ask(payload, timeout=_LONG, wait=0)
        sizes.append(_used_memory(client))
    before, with_items, with_questions = sizes
    return (with_questions - with_items - (with_items - before)) / 1e6


def _used_memory(client: leaseq.Client) -> int:
    (info,) = client.ask(("INFO", "memory"))
    lines = info.decode().splitlines() if isinstance(info, bytes) else [f"{k}:{v}" for k, v in info.items()]
    return int(next(line for line in lines if line.startswith("used_memory:")).partition(":")[2])


if __name__ == "__main__":
    asking()
