"""`./dev bench load`: the response times of a real gunicorn for a thousand simulated people at work.

The people run in this process, the pages in gunicorn's, and the items in a separate server with an fsync for
each change, as in `leaseq up`. All of it is on this machine, and on loopback only.
"""

from __future__ import annotations

import asyncio
import secrets
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

import click

import leaseq
from benchmarks.clients import allow_files, quantile
from benchmarks.people import Browser, LoadReport, Person, WrongResponse
from leaseq.server.embedded import EmbeddedServer
from leaseq.webapp.store.accounts import Accounts
from tests.web.gunicorn_server import run_gunicorn

HOST = "127.0.0.1"
QUEUE = "load"
SIGN_INS = 8  # at the same time; each costs a password hash
ARRIVALS = 100  # people who begin per second: each opens three pages at once
P95, P99 = 50, 150  # milliseconds
FORM = {
    "show": [{"field": "text", "kind": "text"}],
    "ask": {
        "type": "object",
        "required": ["about"],
        "properties": {
            "about": {"title": "What is it about?", "enum": ["delivery", "refund", "other"]},
            "note": {"type": "string", "title": "Note", "maxLength": 200},
        },
    },
}


@click.command()
@click.option("--people", default=1_000, show_default=True, type=click.IntRange(1, 5_000))
@click.option("--think", default=5.0, show_default=True, help="Average seconds that a person thinks.")
@click.option(
    "--seconds", default=60, show_default=True, type=click.IntRange(5, 600), help="How long to measure."
)
@click.option("--workers", default=2, show_default=True, help="Web processes.")
@click.option("--threads", default=16, show_default=True, help="Threads of each web process.")
@click.option(
    "--max-queue-seconds",
    default=1.0,
    show_default=True,
    type=click.FloatRange(0, 60),
    help="LEASEQ_MAX_QUEUE_SECONDS of the web processes; 0: no limit.",
)
def load(
    people: int, think: float, seconds: int, workers: int, threads: int, max_queue_seconds: float
) -> None:
    """Simulate people who work through a real gunicorn, and print the response times.

    Each signs in, takes an item, thinks, answers it and gets the next; some save drafts, put items off or
    load the page again. Exits with 1 if a request failed, or the 95th or 99th percentile is too high.
    """
    with tempfile.TemporaryDirectory(prefix="leaseq-load-") as folder, EmbeddedServer(folder) as server:
        names, password = _fill(server.url, people, items=int(people * (seconds / think + 6)) + 1_000)
        with run_gunicorn(
            server.url,
            secrets.token_urlsafe(48),
            workers=workers,
            threads=threads,
            access_log=Path(folder) / "web.log",  # part of what a request costs
            LEASEQ_MAX_QUEUE_SECONDS=str(max_queue_seconds),
        ) as (url, _):
            report = asyncio.run(_run_crowd(urlsplit(url).port or 80, names, password, think, seconds))
    _print(report, seconds)
    if report.errors or not _fast_enough(report):
        sys.exit(1)


def _fill(url: str, people: int, items: int) -> tuple[list[str], str]:
    client = leaseq.connect(url)
    queue = leaseq.Queue(client, QUEUE)
    queue.configure(title="Load", lease_seconds=600, form=FORM)
    queue.enqueue_many({"text": f"Message {n}: my parcel is not here. " * 3} for n in range(items))
    accounts, password = Accounts(client), secrets.token_urlsafe(12)
    names = [f"person {n}" for n in range(people)]
    click.echo(f".. {people:,} people join, {items:,} items wait", err=True)
    for name in names:
        accounts.add(name, by="load", password=password)
    client.close()
    return names, password


async def _run_crowd(port: int, names: list[str], password: str, think: float, seconds: int) -> LoadReport:
    """Sign everybody in, a few at a time; then all begin to work, ARRIVALS a second. The time until all
    have begun is not counted."""
    allow_files(2 * len(names) + 100)
    report = LoadReport()
    browsers = [Browser(HOST, port, report) for _ in names]
    people = [
        Person(name, password, QUEUE, browser, report) for name, browser in zip(names, browsers, strict=True)
    ]
    started_at = time.monotonic()
    gate = asyncio.Semaphore(SIGN_INS)

    async def sign_in(person: Person) -> None:
        async with gate:
            await person.sign_in()

    await asyncio.gather(*map(sign_in, people))
    click.echo(f".. all signed in within {time.monotonic() - started_at:.0f} s; now they work", err=True)
    arrival = len(people) / ARRIVALS
    warm_up = arrival + 2 * think
    deadline = time.monotonic() + warm_up + seconds

    async def work(person: Person) -> None:
        try:
            await person.work(arrival, think, deadline)
        except (WrongResponse, OSError, asyncio.IncompleteReadError) as error:
            report.errors.append(f"{error!r}")

    async def measure() -> None:
        await asyncio.sleep(warm_up)
        report.is_counting = True
        cpu_start = time.process_time()
        await asyncio.sleep(seconds)
        report.is_counting = False
        click.echo(
            f".. this process used {(time.process_time() - cpu_start) / seconds:.0%} of a core", err=True
        )

    tasks = [asyncio.create_task(work(person)) for person in people]
    await measure()
    for task in tasks:  # stop those who still think
        task.cancel()
    for result in await asyncio.gather(*tasks, return_exceptions=True):
        if result is not None and not isinstance(result, asyncio.CancelledError):
            raise result
    for browser in browsers:
        browser.close()
    return report


def _all_times(report: LoadReport) -> list[float]:
    return [milliseconds for times in report.times.values() for milliseconds in times]


def _fast_enough(report: LoadReport) -> bool:
    times = _all_times(report)
    return bool(times) and quantile(times, 0.95) <= P95 and quantile(times, 0.99) <= P99


def _print(report: LoadReport, seconds: int) -> None:
    rows: list[tuple[str, ...]] = [("what", "a second", "p50 ms", "p95 ms", "p99 ms", "longest")]
    for label, times in [*sorted(report.times.items()), ("all", _all_times(report))]:
        figures = [quantile(times, share) for share in (0.5, 0.95, 0.99, 1)] if times else []
        rows.append((label, f"{len(times) / seconds:.1f}", *(f"{figure:.1f}" for figure in figures)))
    for row in rows:
        click.echo("".join(f"{cell:>10}" if n else f"{cell:<18}" for n, cell in enumerate(row)))
    response_count, refusal_count = len(_all_times(report)), report.refusals
    click.echo(
        f"{response_count / seconds:.1f} served and {refusal_count / seconds:.1f} refused with 503 per second"
    )
    click.echo(f"{report.answers / seconds:.1f} answers per second; {len(report.errors)} errors")
    for error in report.errors[:5]:
        click.echo(f"  {error}")


if __name__ == "__main__":
    load()
