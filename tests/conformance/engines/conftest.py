"""Each engine is started once per test worker; each test has a queue of its own on it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import leaseq
from tests.conftest import Clock
from tests.faults.conftest import rounds, seed
from tests.support.awaited_queue import LoopThread
from tests.support.engines import ENGINES, REDIS, Engine, boot

__all__ = ["rounds", "seed"]

NO_REDIS = pytest.mark.skipif(not REDIS, reason="platform: there is no redis-server on the PATH")


@pytest.fixture(
    scope="session",
    params=[pytest.param(name, marks=NO_REDIS if name == "redis" else ()) for name in ENGINES],
)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with boot(request.param) as booted_engine:
        yield booted_engine


@pytest.fixture(scope="session")
def client(engine: Engine) -> leaseq.Client:
    return engine.connect()


@pytest.fixture(scope="session")
def other(engine: Engine) -> leaseq.Client:
    """A client as of another program."""
    return engine.connect()


@pytest.fixture(scope="session")
def admin(engine: Engine) -> leaseq.Client:
    """A client with the rights to inspect everything."""
    return engine.connect(engine.admin_url)


@pytest.fixture(scope="session")
def aio_clients(engine: Engine) -> Iterator[tuple[LoopThread, leaseq.aio.Client, leaseq.aio.Client]]:
    """An event loop with the clients of two programs."""
    loop = LoopThread()
    first_client, second_client = leaseq.aio.connect(engine.url), leaseq.aio.connect(engine.url)
    yield loop, first_client, second_client
    loop.run(first_client.close())
    loop.run(second_client.close())
    loop.stop()


@pytest.fixture
def queue(client: leaseq.Client, queue_name: str) -> leaseq.Queue:
    return leaseq.Queue(client, queue_name)


@pytest.fixture
def timed_queue(client: leaseq.Client, queue_name: str, clock: Clock) -> leaseq.Queue:
    """A queue that uses the test's clock."""
    return leaseq.Queue(client, queue_name, clock=clock)
