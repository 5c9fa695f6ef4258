"""leaseq under steady load: gunicorn, a clear job, people at work, managers watching pages, imports."""

from __future__ import annotations

import http.client
import json
import os
import random
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import leaseq
from leaseq.server.embedded import EmbeddedServer
from leaseq.webapp.store.accounts import Accounts
from tests.support.waiting import TIMEOUT
from tests.web.gunicorn_server import run_gunicorn

QUEUES = ("letters", "photos")
INBOUND = 1_000  # approximate number of waiting items
KEEP_SECONDS = 20.0  # seconds for which finished items are kept


class UnexpectedResponse(Exception):
    """A response that no user should get."""


class Client:
    """A person with a token and a persistent connection."""

    def __init__(self, address: str, token: str) -> None:
        self._connection = http.client.HTTPConnection(address, timeout=TIMEOUT)
        self._headers = {"Authorization": f"Bearer {token}"}

    def call(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> Any:
        """Return the response's JSON, or {} if there is none. Repeats the call after Retry-After."""
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        headers = {**self._headers, "Content-Type": content_type} if data is not None else self._headers
        while True:
            try:
                self._connection.request(method, path, data, headers)
                response = self._connection.getresponse()
                text = response.read()
            except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
                self._connection.close()  # the server closed an idle connection
                continue
            if response.status != 503:
                break
            time.sleep(int(response.headers["Retry-After"]))
        if response.status >= 400 and response.status not in (404, 409):
            raise UnexpectedResponse(f"{method} {path}: {response.status} {text[:300]!r}")
        return json.loads(text) if response.headers.get_content_type() == "application/json" else {}

    def watch(self, path: str, seconds: float, stop: threading.Event) -> None:
        """Read a stream of events for a while, then leave."""
        self._connection.close()
        self._connection.request("GET", path, headers=self._headers)
        response = self._connection.getresponse()
        deadline = time.monotonic() + seconds
        while response.status == 200 and time.monotonic() < deadline and not stop.is_set():
            if not response.readline():
                break
        self._connection.close()

    def close(self) -> None:
        self._connection.close()


class Load:
    """Threads that each repeat one activity, with a pause in between."""

    def __init__(self, url: str, address: str, seed: int) -> None:
        self._address, self._dice = address, random.Random(seed)
        self._client = leaseq.connect(url)
        self._accounts = Accounts(self._client)
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self.errors: list[str] = []
        self.failure = threading.Event()
        self.calls = 0
        for name in QUEUES:
            leaseq.Queue(self._client, name).configure(
                lease_seconds=5, keep_finished_seconds=KEEP_SECONDS, retry_seconds=0.1, max_attempts=1_000
            )

    def begin(self, *, people: int, pause: float) -> None:
        for number in range(people):
            self._run(f"person {number}", "worker", self._work, pause)
        for number, queue in enumerate(QUEUES):
            events = f"/api/v1/queues/{queue}/events"
            self._run(
                f"watcher {number}",
                "manager",
                lambda client, _, path=events: client.watch(path, 20, self._stop),  # type: ignore[misc]
                1,
            )
        self._run("importer", "manager", self._import, 3)
        self._run("looker", "manager", self._look, 0.5)

    def _run(self, name: str, role: str, act: Callable[[Client, random.Random], None], pause: float) -> None:
        self._accounts.add(name, by="soak", role=role)
        client = Client(self._address, self._accounts.create_token(name, "soak", by="soak"))
        dice = random.Random(self._dice.random())

        def repeat() -> None:
            try:
                while not self._stop.wait(dice.uniform(0, 2 * pause)):
                    act(client, dice)
                    self.calls += 1
            except Exception as error:  # noqa: BLE001 - the test tells
                self.errors.append(f"{name}: {error!r}")
                self.failure.set()
            finally:
                client.close()

        self._threads.append(threading.Thread(target=repeat))
        self._threads[-1].start()

    def _work(self, client: Client, dice: random.Random) -> None:
        """Reserve an item, write a draft, and end the lease in one of several ways."""
        base = f"/api/v1/queues/{dice.choice(QUEUES)}"
        lease = client.call("POST", f"{base}/reserve", {"wait": dice.choice((0, 0, 2))})
        if not lease:
            return
        item, token = f"{base}/items/{lease['id']}", {"token": lease["token"]}
        client.call("PUT", f"{item}/draft", {**token, "draft": {"note": "x" * dice.randrange(200)}})
        match dice.randrange(20):
            case 0:
                client.call("POST", f"{item}/abandon", {**token, "again": True})
            case 1:
                client.call("POST", f"{item}/fail", {**token, "error": "no picture"})
            case 2:
                pass  # walks away
            case 3:
                client.call("GET", f"/made/up/{dice.random()}")
            case _:
                client.call("POST", f"{item}/finish", {**token, "result": {"n": dice.randrange(10**6)}})

    def _import(self, client: Client, dice: random.Random) -> None:
        for queue in QUEUES:
            if client.call("GET", f"/api/v1/queues/{queue}/stats")["inbound"] < INBOUND:
                lines = [
                    {"payload": {"text": "x" * dice.randrange(400)}} for _ in range(dice.randrange(1, 400))
                ]
                body = "".join(json.dumps(line) + "\n" for line in lines).encode()
                client.call("POST", f"/api/v1/queues/{queue}/items", body, "application/x-ndjson")

    def _look(self, client: Client, dice: random.Random) -> None:
        queue = f"/api/v1/queues/{dice.choice(QUEUES)}"
        paths = (queue, f"{queue}/items?state=finished", f"{queue}/journal", f"{queue}/answers", "/metrics")
        client.call("GET", dice.choice((*paths, "/api/v1/queues", "/login")))

    def stop(self) -> None:
        self._stop.set()
        for name in QUEUES:
            leaseq.Queue(self._client, name).enqueue({})  # watchers read until the next event
        for thread in self._threads:
            thread.join()
        self._client.close()


@contextmanager
def run_leaseq_under_load(folder: Path) -> Iterator[tuple[EmbeddedServer, str, dict[str, int]]]:
    """Yield a server, gunicorn's address, and the processes to measure by name: web processes and the clear
    job."""
    clear_command = [sys.executable, "-m", "leaseq", "clear", "--all", "--every", "1"]
    with (
        EmbeddedServer(folder) as server,
        run_gunicorn(server.url, secrets.token_urlsafe(48), workers=2, threads=16) as (url, web),
        (folder / "clear.log").open("wb") as log,
    ):
        environment = {**os.environ, "LEASEQ_REDIS_URL": server.url}
        clear = subprocess.Popen(clear_command, env=environment, stdout=log, stderr=log)
        try:
            yield server, urlsplit(url).netloc, {"web": web.pid, "clear": clear.pid}
        finally:
            clear.terminate()
            clear.wait(TIMEOUT)
