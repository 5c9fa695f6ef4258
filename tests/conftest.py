"""One real server per test worker, and a queue of its own for each test."""

from __future__ import annotations

import itertools
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import redis

import leaseq
from leaseq.engine.keys import QUEUES, SCHEMA, Keys
from leaseq.server.embedded import EmbeddedServer
from tests.support import leases
from tests.support.engines import Engine, boot
from tests.support.ports import free_port
from tests.support.processes import UpProcess

_numbers = itertools.count()
_shared_engines: list[Engine] = []  # the shared server, after a test needed it


@dataclass
class Server:
    """``url`` and ``client`` use a user with only the rights that are needed."""

    url: str
    client: leaseq.Client
    admin: leaseq.Client | None = None

    @property
    def redis(self) -> Any:
        """A client with all rights: a Redis or RedisCluster that returns bytes, which their types don't
        express. Both have the same commands, except those for a single node."""
        return (self.admin or self.client).redis

    def pubsub(self, channel: str) -> Any:
        """A pubsub of the node with the channel's slot, where a move's message arrives before its reply."""
        if isinstance(self.redis, redis.RedisCluster):
            return self.redis.pubsub(node=self.redis.get_node_from_key(channel))
        return self.redis.pubsub()


@dataclass
class Clock:
    """A clock that only the test moves."""

    now: int = 1_800_000_000_000_000
    start: int = field(init=False)

    def __post_init__(self) -> None:
        self.start = self.now

    @classmethod
    def from_now(cls, seconds: float) -> Clock:
        """A clock that starts this many seconds ahead of the real time, or behind it."""
        return cls(round((time.time() + seconds) * 1e6))

    def __call__(self) -> int:
        return self.now

    def tick(self, seconds: float) -> None:
        self.now += round(seconds * 1e6)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "not_on(*engines): for what --engine is this test not, and why")
    config.addinivalue_line("markers", "guard(*ids): which of tests/meta/guards it notices")
    config.addinivalue_line("markers", "walks(count): the number of random walks, one third without --soak")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for mark in metafunc.definition.iter_markers("walks"):
        count = mark.args[0] if metafunc.config.getoption("--soak") else mark.args[0] // 3
        metafunc.parametrize("seed", range(count))


# Folders and files whose tests take longest, in the order in which they run. What waits for other processes
# comes first, then the browser; at the end, when workers have nothing left, the files are short.
SLOW = (
    "web/commands/test_up.py",
    "meta/docs/test_deploy.py",
    "web/serving/",
    "conformance/",
    "faults/",
    "meta/test_wheel.py",
    "web/realtime/",
    "webhooks/",
    "worker/",
    "web/api/",
    "bridge/",
    "agents/",
    "browser/",
    "meta/",
    "transfer/",
    "tools/",
    "cli/",
)


def _slowness(item: pytest.Item) -> int:
    """The item's place among the slow ones."""
    path = item.nodeid.removeprefix("tests/")
    return next((place for place, part in enumerate(SLOW) if path.startswith(part)), len(SLOW))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run the slow files first. Deselect tests that can't run on this engine: those for a single server, or
    with a proxy in front of it."""
    items.sort(key=_slowness)
    engine = config.getoption("--engine")
    to_run: list[pytest.Item] = []
    deselected_items: list[pytest.Item] = []
    for item in items:
        marks = item.iter_markers("not_on")
        (deselected_items if any(engine in mark.args for mark in marks) else to_run).append(item)
    if deselected_items:
        config.hook.pytest_deselected(items=deselected_items)
        items[:] = to_run


@pytest.fixture(scope="session")
def shared_engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with boot(request.config.getoption("--engine")) as engine:
        _shared_engines.append(engine)
        yield engine
        _shared_engines.remove(engine)


@pytest.fixture(scope="module", autouse=True)
def flush_shared_engine() -> None:
    """Each test file starts with an empty server: calls that read all queues, people or keys would get slower
    with each test."""
    for primary in (primary for engine in _shared_engines for primary in engine.primaries):
        primary.flushall()


@pytest.fixture(scope="session")
def server(shared_engine: Engine) -> Server:
    """The server as used by programs with the library."""
    return Server(shared_engine.url, shared_engine.connect(), shared_engine.connect(shared_engine.admin_url))


@pytest.fixture(scope="session")
def server_of_pages(shared_engine: Engine) -> Server:
    """The server as used by the web app."""
    url = shared_engine.url_of("pages")
    return Server(url, shared_engine.connect(url), shared_engine.connect(shared_engine.admin_url))


@pytest.fixture
def queue_name(request: pytest.FixtureRequest) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower())[:40].strip("-")
    return f"{name}.{next(_numbers)}"


@pytest.fixture
def queue(server: Server, queue_name: str) -> leaseq.Queue:
    return leaseq.Queue(server.client, queue_name)


@pytest.fixture(params=["rule", "schema"])
def unreadable_queue(
    request: pytest.FixtureRequest, server: Server, queue_name: str
) -> Iterator[leaseq.Queue]:
    """A queue written by a newer version of leaseq, with a rule or a schema unknown to this one. Its name
    sorts first, so that code that stops at it shows no queue at all."""
    newer_queue = leaseq.Queue(server.client, f"0.{queue_name}")
    newer_queue.configure(title="Of tomorrow")
    ledger = Keys(newer_queue.name).ledger
    if request.param == "rule":
        server.redis.hset(ledger, "rules", "a_rule_of_tomorrow=5")
    else:
        status = server.redis.hget(ledger, "status")
        server.redis.hset(ledger, "status", b"v%d %b" % (SCHEMA + 1, status))
    yield newer_queue
    server.redis.delete(ledger, Keys(newer_queue.name).journal)
    server.redis.srem(QUEUES, newer_queue.name)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def timed_queue(server: Server, queue_name: str, clock: Clock) -> leaseq.Queue:
    """A queue that uses the test's clock."""
    return leaseq.Queue(server.client, queue_name, clock=clock)


@pytest.fixture
def take(timed_queue: leaseq.Queue) -> Callable[[str], leaseq.Lease]:
    """Return a function that reserves for a person, and fails if it gets nothing."""
    return partial(leases.take, timed_queue)


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """A new directory with a short path: the path of a unix socket is limited to 107 bytes."""
    path = Path(tempfile.mkdtemp(prefix="leaseq-"))
    yield path
    shutil.rmtree(path)


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def start_leaseq(data_dir: Path, port: int) -> Iterator[Callable[..., UpProcess]]:
    up_processes: list[UpProcess] = []

    def start(*arguments: str, settings: Mapping[str, str] | None = None) -> UpProcess:
        workers = ("--workers", "1")  # one worker starts faster than two
        up_processes.append(UpProcess(data_dir, port, *workers, *arguments, settings=settings))
        return up_processes[-1]

    yield start
    for process in up_processes:
        process.stop()


@pytest.fixture
def own_server() -> Iterator[EmbeddedServer]:
    """A server for this test only, separate from any that ``leaseq up`` runs."""
    with tempfile.TemporaryDirectory(prefix="leaseq-") as folder, EmbeddedServer(folder) as server:
        yield server
