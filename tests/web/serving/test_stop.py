"""Stopping gunicorn: earlier requests are answered, and readiness fails first."""

from __future__ import annotations

import contextlib
import http.client
import json
import signal
import socket
import threading
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import leaseq
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.activity import Activity
from tests.support.waiting import TIMEOUT, eventually
from tests.web.conftest import SECRET
from tests.web.gunicorn_server import ADJUSTED_APP, run_gunicorn, send_request


@pytest.fixture
def token(accounts: Accounts, new_name: Any) -> str:
    name = new_name("worker")
    accounts.add(name, by="test")
    return accounts.create_token(name, "test", by="test")


class BalancedLoad:
    """Eight clients behind a load balancer, which sends nothing to a server that is not ready."""

    def __init__(self, address: str) -> None:
        self._address = address
        self.response_count = 0
        self.errors: list[str] = []
        self.has_begun = threading.Event()
        self._threads = [threading.Thread(target=self._send) for _ in range(8)]
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        for thread in self._threads:
            thread.join(TIMEOUT)

    def _send(self) -> None:
        try:
            while send_request(self._address, "/readyz")[0] == 200:
                self._send_three()
        except (OSError, http.client.HTTPException, AssertionError) as error:
            self.errors.append(repr(error))

    def _send_three(self) -> None:
        """Send three requests on one connection, or fewer if it is closed."""
        with contextlib.closing(http.client.HTTPConnection(self._address, timeout=TIMEOUT)) as connection:
            for _ in range(3):
                connection.request("GET", "/login")
                response = connection.getresponse()
                assert response.status == 200
                assert response.read().rstrip().endswith(b"</html>")
                self.response_count += 1
                if self.response_count > 100:
                    self.has_begun.set()
                if response.headers.get("Connection", "").lower() == "close":
                    return


def test_readiness_fails_before_stop_refuses_requests(server: Any) -> None:
    with run_gunicorn(server.url, SECRET, workers=2, threads=4, LEASEQ_DRAIN_SECONDS="2") as (url, process):
        address = urlsplit(url).netloc
        load = BalancedLoad(address)
        assert load.has_begun.wait(TIMEOUT), load.errors
        process.send_signal(signal.SIGTERM)
        eventually(lambda: send_request(address, "/readyz")[0] == 503, "it is not ready")
        assert send_request(address, "/healthz")[0] == 200
        assert send_request(address, "/login")[0] == 200
        load.join()
        assert load.errors == []
        assert process.wait(TIMEOUT) == 0
        with pytest.raises(ConnectionRefusedError):
            send_request(address, "/login")


def test_stop_removes_temporary_files_and_does_not_wait_for_idle_connections(
    server: Any, tmp_path: Path
) -> None:
    """Neither for a kept connection after a response, nor for a connection without any request."""
    options = ("--keep-alive", "3600", "--graceful-timeout", "3600")
    settings: dict[str, Any] = {"options": options, "TMPDIR": str(tmp_path)}
    with run_gunicorn(server.url, SECRET, workers=1, threads=1, **settings) as (url, process):
        assert [path.name.rpartition("-")[0] for path in tmp_path.iterdir()] == ["leaseq-metrics"]
        address = urlsplit(url).netloc
        host, _, port = address.partition(":")
        kept_connection = http.client.HTTPConnection(address, timeout=TIMEOUT)
        with contextlib.closing(kept_connection), socket.create_connection((host, int(port))):
            kept_connection.request("GET", "/healthz")
            kept_connection.getresponse().read()
            assert kept_connection.sock is not None, "it is kept alive"
            for _ in range(2):  # by the same thread: the worker now waits for the first client's next request
                assert send_request(address, "/healthz")[0] == 200
            process.send_signal(signal.SIGTERM)
            assert process.wait(TIMEOUT) == 0
    assert [*tmp_path.iterdir()] == []


def test_stop_does_not_wait_for_connection_after_late_response(
    server: Any, token: str, queue: leaseq.Queue
) -> None:
    """The request arrived before the stop, and the client keeps the connection open."""
    queue.configure()
    options = ("--keep-alive", "3600", "--graceful-timeout", "3600")
    with run_gunicorn(
        server.url, SECRET, workers=1, threads=4, options=options, app=ADJUSTED_APP, SLOW_SECONDS="3600"
    ) as (url, process):
        address = urlsplit(url).netloc
        client = http.client.HTTPConnection(address, timeout=TIMEOUT)
        with contextlib.closing(client):
            server.admin.redis.client_pause(2_500, all=True)  # longer than LINGER_SECONDS
            path = f"/api/v1/queues/{queue.name}/mine"
            client.request("GET", path, headers={"Authorization": f"Bearer {token}"})
            assert send_request(address, "/healthz")[0] == 200, "the first request is being handled"
            process.send_signal(signal.SIGTERM)
            assert client.getresponse().read().startswith(b'{"leases":')
            assert process.wait(TIMEOUT) == 0


def test_stop_ends_waiting_reserves_and_counts_the_finish_before_it(
    server: Any, token: str, queue: leaseq.Queue, accounts: Accounts, new_name: Any
) -> None:
    """Who waits gets 204, as at the end of their wait."""
    name = new_name("program")
    accounts.add(name, by="test")
    program = {"Authorization": f"Bearer {accounts.create_token(name, 'test', by='test')}"}
    queue.enqueue({})
    path = f"/api/v1/queues/{queue.name}"
    with run_gunicorn(server.url, SECRET, workers=1, threads=4) as (url, process):
        address = urlsplit(url).netloc
        _, text = send_request(address, f"{path}/reserve", "POST", {}, **program)
        lease = json.loads(text)
        responses: list[tuple[int, bytes]] = []

        def wait() -> None:
            headers = {"Authorization": f"Bearer {token}"}
            responses.append(send_request(address, f"{path}/reserve", "POST", {"wait": 30}, **headers))

        threads = [threading.Thread(target=wait) for _ in range(2)]
        for thread in threads:
            thread.start()
        eventually(lambda: queue.stats().waiting == 2)
        body = {"token": lease["token"], "result": {}}
        status, _ = send_request(address, f"{path}/items/{lease['id']}/finish", "POST", body, **program)
        assert status == 200
        process.send_signal(signal.SIGTERM)
        for thread in threads:
            thread.join()
        assert responses == [(204, b""), (204, b"")]
        assert process.wait(TIMEOUT) == 0
    assert queue.stats().waiting == 0
    assert Activity(server.client).today(name, queue.name).finished == 1
