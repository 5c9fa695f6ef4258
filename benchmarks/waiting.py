"""`./dev bench waiting`: people who wait for an item by long poll, and managers who watch by event stream.

Items are added one by one. The figures are how soon each reaches a person who waits, and how much memory
a web process takes.
"""

from __future__ import annotations

import asyncio
import secrets
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import click

import leaseq
from benchmarks.clients import HOST, allow_files, call, megabytes_of, quantile, request_bytes, workers_of
from leaseq.server.embedded import EmbeddedServer
from leaseq.webapp.store.accounts import Accounts
from tests.web.gunicorn_server import run_gunicorn

QUEUE = "waiting"
STREAMS_EACH = 10  # event streams of one manager
P95_MS, MEGABYTES = 20.0, 200.0
_LONGEST = 30  # seconds that one wait may take


@click.command()
@click.option("--people", default=2_000, show_default=True, type=click.IntRange(1, 5_000), help="Waiters.")
@click.option("--streams", default=500, show_default=True, type=click.IntRange(0, 5_000), help="Watching.")
@click.option("--items", default=500, show_default=True, type=click.IntRange(20, 10_000))
@click.option("--pause", default=0.05, show_default=True, help="Seconds between two items.")
def waiting(people: int, streams: int, items: int, pause: float) -> None:
    """Print how soon items reach people who wait, and the memory of the web processes; exit with 1 if one
    misses its limit."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="leaseq-waiting-"))
        server = stack.enter_context(EmbeddedServer(folder))
        tokens, managers = _fill(server.url, people, -(-streams // STREAMS_EACH))
        key, log = secrets.token_urlsafe(48), Path(folder) / "web.log"
        url, web = stack.enter_context(run_gunicorn(server.url, key, workers=2, threads=16, access_log=log))
        crowd = _Crowd(urlsplit(url).port or 80, server.url, workers_of(web.pid))
        sys.exit(asyncio.run(crowd.run(tokens, managers, streams, items, pause)))


def _fill(url: str, people: int, managers: int) -> tuple[list[str], list[str]]:
    """Create the people; return the tokens of the workers and of the managers."""
    client = leaseq.connect(url)
    leaseq.Queue(client, QUEUE).configure(lease_seconds=600)
    accounts = Accounts(client)
    click.echo(f".. {people:,} people join", err=True)

    def add_people(role: str, count: int) -> list[str]:
        names = [f"{role} {n}" for n in range(count)]
        for name in names:
            accounts.add(name, by="bench", role=role)
        return [accounts.create_token(name, "bench", by="bench") for name in names]

    tokens = add_people("worker", people), add_people("manager", managers)
    client.close()
    return tokens


class _Crowd:
    def __init__(self, port: int, server: str, workers: list[int]) -> None:
        self._port, self._workers = port, workers
        self._client = leaseq.connect(server)
        self._queue = leaseq.Queue(self._client, QUEUE)
        self._times: list[float] = []  # milliseconds from enqueue to answer
        self._events = 0

    async def run(
        self, tokens: list[str], managers: list[str], streams: int, items: int, pause: float
    ) -> int:
        allow_files(len(tokens) + streams + 200)
        tasks = [asyncio.create_task(self._watch(managers[n // STREAMS_EACH])) for n in range(streams)]
        tasks += [asyncio.create_task(self._wait(token)) for token in tokens]
        await self._wait_for_all(len(tokens))
        for _ in range(items):
            self._queue.enqueue({"at": time.monotonic()})
            await asyncio.sleep(pause)
        await asyncio.sleep(1)
        memory = [megabytes_of(pid) for pid in self._workers]
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        errors = [result for result in results if isinstance(result, Exception)]
        self._client.close()
        return self._print(len(tokens), streams, items, memory, errors)

    async def _wait_for_all(self, people: int) -> None:
        """Return once all have been waiting for some seconds."""
        while self._queue.stats().waiting < people:  # noqa: ASYNC110 - there is no event for it
            await asyncio.sleep(0.5)
        click.echo(".. all wait", err=True)
        await asyncio.sleep(5)

    async def _wait(self, token: str) -> None:
        await asyncio.sleep(secrets.randbelow(5_000) / 1_000)
        path = f"/api/v1/queues/{QUEUE}/reserve"
        seconds = 5 + secrets.randbelow(_LONGEST - 4)  # so that not all ask again at the same time
        while True:
            request = request_bytes("POST", path, token, {"wait": seconds})
            seconds = _LONGEST
            status, lease, _ = await call(self._port, request)
            if status == 200:
                self._times.append((time.monotonic() - lease["payload"]["at"]) * 1_000)
                body = {"token": lease["token"], "result": 1}
                finish_path = f"/api/v1/queues/{QUEUE}/items/{lease['id']}/finish"
                await call(self._port, request_bytes("POST", finish_path, token, body))
            elif status != 204:
                raise RuntimeError(f"{status} {lease}")

    async def _watch(self, token: str) -> None:
        await asyncio.sleep(secrets.randbelow(5_000) / 1_000)
        reader, writer = await asyncio.open_connection(HOST, self._port)
        writer.write(request_bytes("GET", f"/api/v1/queues/{QUEUE}/events", token))
        while data := await reader.read(1 << 18):
            self._events += data.count(b"\nid:") + data.startswith(b"id:")
        raise RuntimeError("a stream ended")

    def _print(
        self, people: int, streams: int, items: int, memory: list[float], errors: list[Exception]
    ) -> int:
        p50, p95, longest = (quantile(self._times, share) for share in (0.5, 0.95, 1))
        click.echo(f"{people:,} people wait and {streams:,} streams watch, on {len(memory)} web processes")
        click.echo(
            f"item to waiter: p50 {p50:.1f}, p95 {p95:.1f}, longest {longest:.1f} ms; at most {P95_MS:.0f}"
        )
        click.echo(f"memory: {', '.join(f'{size:.0f}' for size in memory)} MB, at most {MEGABYTES:.0f} each")
        click.echo(f"{len(self._times)} of {items} items came; {self._events:,} events; {len(errors)} errors")
        for error in errors[:3]:
            click.echo(f"  {error!r}")
        passed = p95 <= P95_MS and max(memory) <= MEGABYTES and len(self._times) == items and not errors
        return 0 if passed else 1


if __name__ == "__main__":
    waiting()
