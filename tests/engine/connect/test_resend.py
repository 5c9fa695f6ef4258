"""A command is sent again once after a broken connection, even if its script has to be loaded as well."""

from __future__ import annotations

import socket
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import leaseq
from leaseq.server.embedded import EmbeddedServer
from tests.conftest import Server
from tests.engine.proxy import CuttingProxy

# The proxies are in front of a single server's socket. tests/conformance/engines has tests of the others.
pytestmark = pytest.mark.not_on("cluster", "sentinel")


class LoadCuttingProxy(CuttingProxy):
    def cut_load(self) -> None:
        """Lose the next reply to SCRIPT LOAD."""
        self._script = b"SCRIPT"

    def cut_each(self, script: str) -> None:
        """Lose each reply to this script."""
        self.cut(script)
        self._each = self._script

    _each: bytes | None = None

    def _answer(self, client: socket.socket, command: bytes, data: bytes) -> bool:
        self._script = self._each or self._script
        return super()._answer(client, command, data)


@pytest.fixture
def proxy(server: Server) -> Iterator[LoadCuttingProxy]:
    with (
        tempfile.TemporaryDirectory(prefix="leaseq") as folder,
        LoadCuttingProxy(server.url, Path(folder)) as cutting_proxy,
    ):
        yield cutting_proxy


@pytest.fixture
def unreliable_queue(proxy: LoadCuttingProxy, queue_name: str) -> Iterator[leaseq.Queue]:
    """The queue, over a connection that the proxy can break."""
    client = leaseq.connect(proxy.url)
    yield leaseq.Queue(client, queue_name)
    client.close()


def test_command_is_sent_at_most_twice(unreliable_queue: leaseq.Queue, proxy: LoadCuttingProxy) -> None:
    unreliable_queue.configure()
    proxy.cut_each("enqueue")
    with pytest.raises(leaseq.ServerUnavailable):
        unreliable_queue.enqueue({}, id="one")
    assert proxy.cuts == 2
    assert unreliable_queue.stats().counters["enqueued"] == 1


def test_resend_works_after_missing_script_and_lost_reply(
    unreliable_queue: leaseq.Queue, proxy: LoadCuttingProxy, server: Server
) -> None:
    server.redis.script_flush()
    proxy.cut("enqueue")
    assert unreliable_queue.enqueue({}, id="one").added, "the second call returns what the first one did"
    assert proxy.cuts == 1
    assert (unreliable_queue.stats().inbound, unreliable_queue.stats().counters["enqueued"]) == (1, 1)


def test_resend_works_after_server_restart(queue_name: str) -> None:
    """As after a restart of the server: acknowledged changes are on disk, and its scripts are gone."""
    with tempfile.TemporaryDirectory(prefix="leaseq") as folder, EmbeddedServer(folder) as own:
        client = leaseq.connect(own.url)
        queue = leaseq.Queue(client, queue_name)
        queue.enqueue({}, id="one")
        own.stop()
        own.start()
        assert queue.enqueue({}, id="two").added
        assert queue.stats().counters["enqueued"] == 2
        client.close()


def test_resend_works_when_loading_script_breaks_connection(
    unreliable_queue: leaseq.Queue, proxy: LoadCuttingProxy, server: Server
) -> None:
    unreliable_queue.enqueue({}, id="one")
    server.redis.script_flush()
    proxy.cut_load()
    unreliable_queue.remove("one")
    assert proxy.cuts == 1
    server.redis.script_flush()
    proxy.cut_load()
    with pytest.raises(leaseq.ItemNotFound):  # the command itself was never sent twice
        unreliable_queue.remove("one")
    assert proxy.cuts == 2


class ForgettingProxy(CuttingProxy):
    """Makes the server forget all scripts after each SCRIPT LOAD that is sent alone."""

    def __init__(self, server: str, folder: Path, forget: Callable[[], object]) -> None:
        super().__init__(server, folder)
        self.forget = forget
        self.loads = 0

    def _answer(self, client: socket.socket, command: bytes, data: bytes) -> bool:
        if b"LOAD" in command:
            self.loads += 1
            if b"EVALSHA" not in command:
                self.forget()
        return super()._answer(client, command, data)


def test_call_succeeds_when_script_is_flushed_after_load(server: Server, queue: leaseq.Queue) -> None:
    """Another program may call SCRIPT FLUSH at any time."""
    queue.configure(lease_seconds=60)
    with (
        tempfile.TemporaryDirectory(prefix="leaseq") as folder,
        ForgettingProxy(server.url, Path(folder), server.redis.script_flush) as proxy,
    ):
        client = leaseq.connect(proxy.url)
        server.redis.script_flush()
        assert leaseq.Queue(client, queue.name).enqueue({}, id="one").added
        client.close()
    assert proxy.loads >= 2
    assert queue.stats().counters["enqueued"] == 1
