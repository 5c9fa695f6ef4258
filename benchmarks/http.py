"""`./dev bench http`: the CPU time of a web process for a REST call and for a page, against other routes.

The others are in benchmarks/bare.py: one does nothing, and two make the same round trips using only
Flask, its extensions and redis-py. All run under gunicorn with leaseq's configuration, one web process
for each app, and are called in turns, so that a busy machine slows all of them. Only the CPU time of the web
process's threads counts, as measured by Linux; work that it does after an answer counts for the next call.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

import click

import leaseq
from benchmarks.people import Browser, LoadReport, Person
from leaseq.server.embedded import EmbeddedServer
from leaseq.webapp.store.accounts import Accounts
from tests.web.gunicorn_server import run_gunicorn

QUEUE, PAGES = "bench", "pages"
BARE = "benchmarks.bare:app"
BARE_ROUTE, STOCK_CALL, STOCK_PAGE = "bare route", "stock: two round trips", "stock: page, three"
PAGE = "page: finish and next"
LEAST_REST, LEAST_PAGE = 0.7, 0.5  # share of the stock routes' speed: docs/decisions/0023-request-cost.md
FORM = {"ask": {"type": "object", "properties": {"about": {"type": "string", "title": "What is it about?"}}}}
ECHO = {"token": 1, "result": {"about": "refund"}}
_BLOCK = 20  # calls of the bare app in a row
_WARM = 3  # rounds


@click.command()
@click.option("--rounds", default=40, show_default=True, type=click.IntRange(10, 1_000))
def http(rounds: int) -> None:
    """Print the median of each call, and its speed as a share of the other routes'; exit with 1 if one is
    below its limit."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="leaseq-http-"))
        server = stack.enter_context(EmbeddedServer(folder))
        token, password = _fill(server.url, items=(rounds + 1) * _BLOCK)
        key, log = secrets.token_urlsafe(48), Path(folder) / "web.log"
        url, web = stack.enter_context(run_gunicorn(server.url, key, workers=1, threads=4, access_log=log))
        bare_url, bare = stack.enter_context(run_gunicorn(server.url, key, workers=1, threads=4, app=BARE))
        meter = _Meter()
        web_process, bare_process = meter.worker_of(web.pid), meter.worker_of(bare.pid)
        stock = _StockClient(meter, bare_url, bare_process)
        program = _Program(meter, url, web_process, token)
        person = _Worker(meter, url, web_process, password)
        asyncio.run(_run_in_turns(meter, rounds, stock, program, person))
    sys.exit(_print(meter.times))


async def _run_in_turns(
    meter: _Meter, rounds: int, stock: _StockClient, program: _Program, person: _Worker
) -> None:
    await stock.sign_in()
    await person.sign_in()
    for n in range(rounds):
        await stock.work()
        program.work()
        await person.work()
        if n == _WARM:
            meter.times.clear()
    stock.close()
    person.close()


def _fill(url: str, items: int) -> tuple[str, str]:
    client = leaseq.connect(url)
    for name in (QUEUE, PAGES):
        queue = leaseq.Queue(client, name)
        queue.configure(lease_seconds=3600, form=FORM, max_abandons=None, max_attempts=100)
        queue.enqueue_many({"text": f"Message {n}: my parcel is not here."} for n in range(items))
    accounts, password = Accounts(client), secrets.token_urlsafe(12)
    for name in ("program", "person"):
        accounts.add(name, by="bench", password=password)
    token = accounts.create_token("program", "bench", by="bench")
    client.close()
    return token, password


class _Meter:
    """The microseconds of CPU time of a process, by request."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = {}

    def worker_of(self, master: int) -> int:
        children = Path(f"/proc/{master}/task/{master}/children").read_text().split()
        return int(children[0])

    @contextmanager
    def measure(self, label: str, pid: int) -> Iterator[None]:
        before = self._cpu(pid)
        yield
        self.times.setdefault(label, []).append(self._cpu(pid) - before)

    def _cpu(self, pid: int) -> float:
        threads = Path(f"/proc/{pid}/task").iterdir()
        return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1_000


class _StockClient:
    """A client that calls the routes to compare with."""

    def __init__(self, meter: _Meter, url: str, process: int) -> None:
        self._meter, self._process = meter, process
        self._connection = HTTPConnection(urlsplit(url).netloc)
        self._browser = Browser("127.0.0.1", urlsplit(url).port or 80, LoadReport())

    async def sign_in(self) -> None:
        response = await self._browser.request("sign in", "/sign-in")
        self._fields = {**json.loads(response.text), "token": "1", "about": "refund"}

    async def work(self) -> None:
        for label, path in ((BARE_ROUTE, "/echo"), (STOCK_CALL, "/stock-call")):
            for _ in range(_BLOCK):
                with self._meter.measure(label, self._process):
                    _send(self._connection, path, ECHO, {"Content-Type": "application/json"})
        for _ in range(_BLOCK // 4):
            with self._meter.measure(STOCK_PAGE, self._process):
                await self._browser.request("page", "/stock-page", self._fields)

    def close(self) -> None:
        self._browser.close()


class _Program:
    """A program that calls REST on a kept connection."""

    def __init__(self, meter: _Meter, url: str, process: int, token: str) -> None:
        self._meter, self._process = meter, process
        self._connection = HTTPConnection(urlsplit(url).netloc)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def work(self) -> None:
        for _ in range(_BLOCK // 4):
            self._work_once()

    def _work_once(self) -> None:
        lease = self._call("reserve", "reserve", {})
        self._call_item(lease, "renew", {})
        lease = self._call_item(lease, "finish", {"result": {"about": "refund"}, "then_reserve": True})[
            "next"
        ]
        self._call_item(lease, "finish", {"result": {"about": "refund"}})
        self._call_item(self._call("reserve", "reserve", {}), "abandon", {"reason": "not mine"})
        self._call_item(self._call("reserve", "reserve", {}), "fail", {"error": "its number is missing"})

    def _call_item(self, lease: Any, verb: str, body: dict[str, Any]) -> Any:
        label = "finish, then_reserve" if "then_reserve" in body else verb
        return self._call(label, f"items/{lease['id']}/{verb}", {"token": lease["token"], **body})

    def _call(self, label: str, path: str, body: dict[str, Any]) -> Any:
        with self._meter.measure(label, self._process):
            return _send(self._connection, f"/api/v1/queues/{QUEUE}/{path}", body, self._headers)


class _Worker:
    """Somebody who finishes items on the work page."""

    def __init__(self, meter: _Meter, url: str, process: int, password: str) -> None:
        self._meter, self._process = meter, process
        self._browser = Browser("127.0.0.1", urlsplit(url).port or 80, LoadReport())
        self._person = Person("person", password, PAGES, self._browser, LoadReport())

    async def sign_in(self) -> None:
        await self._person.sign_in()
        self._page = await self._person.open()

    async def work(self) -> None:
        for _ in range(_BLOCK // 4):
            with self._meter.measure(PAGE, self._process):
                self._page = await self._person.finish(self._page)

    def close(self) -> None:
        self._browser.close()


def _send(connection: HTTPConnection, path: str, body: dict[str, Any], headers: dict[str, str]) -> Any:
    connection.request("POST", path, json.dumps(body), headers)
    response = connection.getresponse()
    text = response.read()
    if response.status != 200:
        raise click.ClickException(f"{path}: {response.status} {text.decode()}")
    return json.loads(text)


def _print(times: dict[str, list[float]]) -> int:
    medians = {label: median(values) for label, values in times.items()}
    bare = medians[BARE_ROUTE]
    click.echo(f"{'':<24}{'us':>6}{'of bare':>9}{'of stock':>10}{'at least':>10}")
    failed = False
    for label, microseconds in medians.items():
        row = f"{label:<24}{microseconds:>6.0f}{bare / microseconds:>9.2f}"
        if label not in (BARE_ROUTE, STOCK_CALL, STOCK_PAGE):
            stock, limit = (STOCK_PAGE, LEAST_PAGE) if label == PAGE else (STOCK_CALL, LEAST_REST)
            share = medians[stock] / microseconds
            row += f"{share:>10.2f}{limit:>10}"
            failed |= share < limit
        click.echo(row)
    return 1 if failed else 0


if __name__ == "__main__":
    http()
