"""`./dev bench slow`: clients that send or read slowly, and how long the others wait during that.

The slow clients are of four kinds: they send nothing, half of the headers, or half of a body, or
do not read their answer. A few other clients make short calls before and during the attack.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

import click

import leaseq
from benchmarks.clients import HOST, allow_files, call, open_connections_to, quantile, request_bytes
from leaseq.server.embedded import EmbeddedServer
from leaseq.webapp.store.accounts import Accounts
from tests.web.gunicorn_server import run_gunicorn

QUEUE = "slow"
OTHER_CLIENTS = 8  # clients that make calls
_BATCH = 20  # connections of the attack that are opened in a row
PAUSE = 0.02  # seconds between two of a client's calls
RATIO, HEALTH_MS = 2.0, 100.0
CLOSED_SECONDS = 30.0  # until each slow client is closed
OPENED_SECONDS = 1  # until the attack has opened its connections


@click.command()
@click.option("--clients", default=2_000, show_default=True, type=click.IntRange(4, 8_000), help="Slow ones.")
@click.option("--seconds", default=10, show_default=True, type=click.IntRange(2, 60), help="Per part.")
def slow(clients: int, seconds: int) -> None:
    """Print how long the calls of others took before and during an attack of slow clients, how long /healthz
    took, and when the last slow client was closed; exit with 1 if a figure misses its limit."""
    with tempfile.TemporaryDirectory(prefix="leaseq-slow-") as folder, EmbeddedServer(folder) as server:
        token = _fill(server.url)
        key, log = secrets.token_urlsafe(48), Path(folder) / "web.log"
        with run_gunicorn(server.url, key, workers=2, threads=16, access_log=log) as (url, _):
            sys.exit(asyncio.run(_run(urlsplit(url).port or 80, token, clients, seconds)))


def _fill(url: str) -> str:
    client = leaseq.connect(url)
    queue = leaseq.Queue(client, QUEUE)
    queue.configure(lease_seconds=600)
    accounts = Accounts(client)
    accounts.add("boss", by="bench", role="manager")
    token = accounts.create_token("boss", "bench", by="bench")
    client.close()
    return token


async def _run(port: int, token: str, clients: int, seconds: int) -> int:
    allow_files(2 * clients + 200)
    before, _ = await _measure_others(port, token, seconds)
    started_at = time.monotonic()
    sockets, (during, health) = await asyncio.gather(
        _open_attack(port, token, clients), _measure_others(port, token, seconds + OPENED_SECONDS)
    )
    try:
        await asyncio.wait_for(_wait_until_closed(port), CLOSED_SECONDS)
        closed_after = time.monotonic() - started_at
    except TimeoutError:
        closed_after = float("inf")
    for connection in sockets:
        connection.close()
    return _print(clients, before, during, health, closed_after)


async def _measure_others(port: int, token: str, seconds: int) -> tuple[list[float], list[float]]:
    """The milliseconds of calls, and of /healthz, made for this many seconds."""
    stats = request_bytes("GET", f"/api/v1/queues/{QUEUE}/stats", token)
    health = request_bytes("GET", "/healthz", token)
    times: tuple[list[float], list[float]] = ([], [])
    deadline = time.monotonic() + seconds

    async def call_repeatedly(request: bytes, milliseconds: list[float]) -> None:
        while time.monotonic() < deadline:
            status, _, duration = await call(port, request)
            assert status == 200, status
            milliseconds.append(duration * 1_000)
            await asyncio.sleep(PAUSE)

    await asyncio.gather(
        *(call_repeatedly(stats, times[0]) for _ in range(OTHER_CLIENTS)), call_repeatedly(health, times[1])
    )
    return times


async def _open_attack(port: int, token: str, clients: int) -> list[socket.socket]:
    post_request = request_bytes("POST", f"/api/v1/queues/{QUEUE}/items", token, {"payload": "x" * 1_000})
    long_request = request_bytes("GET", "/api/v1/openapi.json", token)
    kinds = [b"", post_request[:60], post_request[:-500], long_request]
    loop = asyncio.get_running_loop()
    sockets = []
    for n in range(clients):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        connection.setblocking(False)
        await loop.sock_connect(connection, (HOST, port))
        await loop.sock_sendall(connection, kinds[n % len(kinds)])
        sockets.append(connection)
        if len(sockets) % _BATCH == 0:
            await asyncio.sleep(OPENED_SECONDS * _BATCH / clients)
    return sockets


async def _wait_until_closed(port: int) -> None:
    while open_connections_to(port):  # noqa: ASYNC110 - there is no event for it
        await asyncio.sleep(0.2)


def _print(
    clients: int, before: list[float], during: list[float], health: list[float], closed_after: float
) -> int:
    ratio = quantile(during, 0.99) / quantile(before, 0.99)
    for name, times in (("before", before), ("during", during), ("/healthz during", health)):
        figures = "".join(f"{quantile(times, share):>10.1f}" for share in (0.5, 0.99, 1))
        click.echo(f"{name:<18}{figures}   ms: p50, p99, longest; {len(times):,} calls")
    click.echo(f"p99 of the others with {clients:,} slow clients: {ratio:.2f} x, at most {RATIO}")
    click.echo(f"the last slow client was closed after {closed_after:.0f} s, at most {CLOSED_SECONDS:.0f}")
    passed = ratio <= RATIO and max(health) <= HEALTH_MS and closed_after <= CLOSED_SECONDS
    return 0 if passed else 1


if __name__ == "__main__":
    slow()
