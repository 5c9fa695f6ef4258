"""`./dev bench http`: the CPU time of a web process for a REST call and for a page, against a bare route.

Both apps run under gunicorn with leaseq's configuration, one web process each, and are asked in turns, so
that a busy machine slows both. The time is that of the web process alone, as Linux counts it for its
threads; what a process does after an answer counts for the next call.
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
from leaseq.server.embedded import EmbeddedServer
from leaseq.webapp.store.accounts import Accounts
from tests.load.people import Browser, LoadReport, Person
from tests.web.gunicorn_place import gunicorn

QUEUE, PAGES = "bench", "pages"
BARE = "tests.load.bare:app"
REST, PAGE = 0.6, 0.4  # of the bare route's speed, at least
FORM = {"ask": {"type": "object", "properties": {"about": {"type": "string", "title": "What is it about?"}}}}
_BLOCK = 20  # calls to one app in a row
_WARM = 50


@click.command()
@click.option("--rounds", default=40, show_default=True, type=click.IntRange(10, 1_000))
def http(rounds: int) -> None:
    """Print the median of each call, and its speed as a share of the bare route's; exit with 1 where one is
    below its limit."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="leaseq-http-"))
        server = stack.enter_context(EmbeddedServer(folder))
        token, password = _filled(server.url, items=(rounds + 1) * _BLOCK)
        key, log = secrets.token_urlsafe(48), Path(folder) / "web.log"
        ours, web = stack.enter_context(gunicorn(server.url, key, workers=1, threads=4, access_log=log))
        theirs, bare = stack.enter_context(gunicorn(server.url, key, workers=1, threads=4, app=BARE))
        meter = _Meter()
        program = _Program(meter, ours, theirs, token, meter.worker_of(web.pid), meter.worker_of(bare.pid))
        for n in range(rounds):
            program.work()
            if n == 0:  # warm now
                meter.times.clear()
        asyncio.run(_person(meter, meter.worker_of(web.pid), ours, password, rounds * _BLOCK // 4))
    sys.exit(_print(meter.times))


def _filled(url: str, items: int) -> tuple[str, str]:
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
    """Microseconds of CPU time of a process, by what it was asked for."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = {}

    def worker_of(self, master: int) -> int:
        children = Path(f"/proc/{master}/task/{master}/children").read_text().split()
        return int(children[0])

    @contextmanager
    def of(self, what: str, pid: int) -> Iterator[None]:
        before = self._cpu(pid)
        yield
        self.times.setdefault(what, []).append(self._cpu(pid) - before)

    def _cpu(self, pid: int) -> float:
        threads = Path(f"/proc/{pid}/task").iterdir()
        return sum(int((one / "schedstat").read_text().split()[0]) for one in threads) / 1_000


class _Program:
    """A program that calls REST on kept connections."""

    def __init__(self, meter: _Meter, ours: str, bare: str, token: str, web: int, bare_pid: int) -> None:
        self._meter, self._web, self._bare_pid = meter, web, bare_pid
        self._ours, self._bare = (HTTPConnection(urlsplit(url).netloc) for url in (ours, bare))
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def work(self) -> None:
        """Some calls of the bare route, then as many of each verb."""
        for _ in range(_BLOCK):
            with self._meter.of("bare route", self._bare_pid):
                self._send(self._bare, "/echo", {"token": 1, "result": {"about": "refund"}})
        for _ in range(_BLOCK // 4):
            self._work_once()

    def _work_once(self) -> None:
        lease = self._call("reserve", "reserve", {})
        self._of(lease, "renew", {})
        lease = self._of(lease, "finish", {"result": {"about": "refund"}, "then_reserve": True})["next"]
        self._of(lease, "finish", {"result": {"about": "refund"}})
        self._of(self._call("reserve", "reserve", {}), "abandon", {"reason": "not mine"})
        self._of(self._call("reserve", "reserve", {}), "fail", {"error": "its number is missing"})

    def _of(self, lease: Any, verb: str, body: dict[str, Any]) -> Any:
        what = "finish, then_reserve" if "then_reserve" in body else verb
        return self._call(what, f"items/{lease['id']}/{verb}", {"token": lease["token"], **body})

    def _call(self, what: str, path: str, body: dict[str, Any]) -> Any:
        with self._meter.of(what, self._web):
            return self._send(self._ours, f"/api/v1/queues/{QUEUE}/{path}", body)

    def _send(self, connection: HTTPConnection, path: str, body: dict[str, Any]) -> Any:
        connection.request("POST", path, json.dumps(body), self._headers)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise click.ClickException(f"{path}: {answer.status} {text.decode()}")
        return json.loads(text)


async def _person(meter: _Meter, web: int, url: str, password: str, rounds: int) -> None:
    """Somebody who finishes items on the work page."""
    browser = Browser("127.0.0.1", urlsplit(url).port or 80, LoadReport())
    person = Person("person", password, PAGES, browser, LoadReport())
    await person.sign_in()
    page = await person.open()
    for n in range(rounds):
        with meter.of("page: finish and next", web):
            page = await person.finish(page)
        if n == _WARM:
            meter.times.pop("page: finish and next")
    browser.close()


def _print(times: dict[str, list[float]]) -> int:
    middle = {what: median(found) for what, found in times.items()}
    bare = middle.pop("bare route")
    click.echo(f"{'bare route':<24}{bare:>8.0f} us")
    failed = 0
    for what, found in middle.items():
        least, share = PAGE if what.startswith("page") else REST, bare / found
        click.echo(f"{what:<24}{found:>8.0f} us  {share:.2f} of the bare route's speed, at least {least}")
        failed += share < least
    return failed and 1


if __name__ == "__main__":
    http()
