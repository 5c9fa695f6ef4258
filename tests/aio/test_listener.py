"""The connection over which a client of `leaseq.aio` is notified of items."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

import leaseq
from leaseq.engine.aio.notifications import Listener, wait_for
from leaseq.engine.notifications import NoItemYet
from tests.conftest import Server
from tests.engine.proxy import SilentProxy
from tests.support.refused import unavailable
from tests.support.waiting import TIMEOUT


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(TIMEOUT):
        while not condition():  # noqa: ASYNC110 - the proxy's threads change it
            await asyncio.sleep(0.01)


def test_wait_that_is_ended_while_server_is_unavailable_raises() -> None:
    async def wait() -> None:
        listener, stop = Listener(None), asyncio.Event()
        waiter, _ = listener._add("q", stop, None)

        async def attempt(_name: str, _woken: bool) -> leaseq.Lease:
            stop.set()
            raise unavailable()

        with pytest.raises(leaseq.ServerUnavailable):
            await wait_for(listener, [waiter], TIMEOUT, [attempt])

    asyncio.run(wait())


def test_wait_goes_on_after_server_was_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leaseq.engine.notifications._RETRY_SECONDS", (0, 0))
    lease, failures = leaseq.Lease.__new__(leaseq.Lease), [unavailable(), unavailable()]

    async def attempt(_name: str, _woken: bool) -> leaseq.Lease:
        if failures:
            raise failures.pop()
        return lease

    async def wait() -> leaseq.Lease | None:
        listener = Listener(None)
        waiter, _ = listener._add("q", None, None)
        return await wait_for(listener, [waiter], TIMEOUT, [attempt])

    assert asyncio.run(wait()) is lease
    assert not failures


def test_wait_ends_in_time_however_late_its_next_try_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leaseq.engine.notifications._POLL_SECONDS", (600, 600))

    async def attempt(_name: str, _woken: bool) -> NoItemYet:
        return NoItemYet(600, 0)

    async def wait() -> leaseq.Lease | None:
        listener = Listener(None)
        waiter, _ = listener._add("q", None, None)
        return await wait_for(listener, [waiter], 0.05, [attempt])

    assert asyncio.run(wait()) is None


@pytest.mark.not_on("cluster", "sentinel")  # the proxy is in front of a single server's socket
def test_listener_replaces_silent_connection(
    server: Server, queue_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other end of a connection may disappear without notice, for instance in a power cut."""
    monkeypatch.setattr("leaseq.engine.notifications._SILENCE", 0.1)
    monkeypatch.setattr("leaseq.engine.notifications._POLL_SECONDS", (TIMEOUT, TIMEOUT))

    async def wait(proxy: SilentProxy) -> leaseq.Lease | None:
        async with leaseq.aio.connect(proxy.url) as client:
            reserve = asyncio.create_task(
                leaseq.aio.Queue(client, queue_name).reserve("ann", wait=TIMEOUT / 2)
            )
            await until(lambda: len(proxy.listening) == 1)
            proxy.fall_silent()
            await until(lambda: max(proxy.pongs.values(), default=0) > 2)  # a connection that answers is kept
            monkeypatch.setattr(
                "leaseq.engine.notifications._SILENCE", TIMEOUT
            )  # however busy the machine is
            queue.enqueue({}, id="a")
            return await reserve

    queue = leaseq.Queue(server.client, queue_name)
    queue.configure()
    with (
        tempfile.TemporaryDirectory(prefix="leaseq") as folder,
        SilentProxy(server.url, Path(folder)) as proxy,
    ):
        lease = asyncio.run(wait(proxy))
    assert lease is not None
    assert lease.id == "a"
