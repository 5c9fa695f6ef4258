"""Guarantees 9 and 10, by counting the server's commands and never by the clock: each script runs a bounded
number of commands, and the same number for a thousand waiting items as for many times that."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Iterator

import pytest
import redis

import leaseq
from leaseq import NewItem, backup
from leaseq.engine import commands
from leaseq.engine.keys import Keys
from leaseq.server.embedded import EmbeddedServer
from tests.conftest import Clock
from tests.support.leases import not_none

MOST = 1_500  # commands of one script; each takes about a microsecond


@pytest.fixture(scope="module")
def own_redis() -> Iterator[redis.Redis]:
    """A server without other clients, so that its statistics are for this test only."""
    with (
        pytest.MonkeyPatch.context() as patch,
        tempfile.TemporaryDirectory(prefix="leaseq") as folder,
        EmbeddedServer(folder, fsync="no") as embedded,
    ):
        patch.setattr(
            commands, "_CACHE_SECONDS", 3_600.0
        )  # otherwise the time decides which call reads the policy
        client = leaseq.connect(embedded.url)
        assert isinstance(client.redis, redis.Redis)
        yield client.redis
        client.close()


def command_counts(server: redis.Redis, call: Callable[[], object]) -> dict[str, int]:
    """Return how often each command ran during ``call``."""
    server.config_resetstat()
    call()
    stats = {  # without each EVALSHA of a script that was not loaded yet
        name.removeprefix("cmdstat_"): value["calls"] - value["failed_calls"]
        for name, value in server.info("commandstats").items()
    }
    return {name: n for name, n in stats.items() if name not in ("info", "config|resetstat")}


def commands_per_script(server: redis.Redis, call: Callable[[], object]) -> float:
    """Return the average number of commands per script that ``call`` sends."""
    counts = command_counts(server, call)
    return (sum(counts.values()) - counts["evalsha"]) / counts["evalsha"]


def filled_queue(
    server: redis.Redis, name: str, waiting_count: int, reserved_count: int, clock: Clock | None = None
) -> leaseq.Queue:
    queue = leaseq.Queue(leaseq.connect(server_url(server)), name, clock=clock)
    queue.configure(lease_seconds=10_000)
    queue.enqueue_many({} for _ in range(waiting_count + reserved_count))
    for n in range(reserved_count):
        queue.reserve(f"holder {n}")
    return queue


def server_url(server: redis.Redis) -> str:
    return f"unix://{server.connection_pool.connection_kwargs['path']}"


def costs_of_calls(server: redis.Redis, queue: leaseq.Queue) -> list[dict[str, int]]:
    """Return the commands that each call of guarantee 10 runs."""
    leases: list[leaseq.Lease] = []
    counts = [command_counts(server, lambda: leases.append(not_none(queue.reserve("ann"))))]
    counts.append(command_counts(server, lambda: queue.renew(leases[0])))
    counts.append(
        command_counts(
            server, lambda: leases.append(not_none(queue.finish(leases[0], {}, then_reserve=True).next))
        )
    )
    counts.append(command_counts(server, lambda: queue.abandon(leases[1])))
    counts.append(command_counts(server, queue.clear))
    leases.append(not_none(queue.reserve("ann")))
    counts.append(command_counts(server, lambda: queue.finish(leases[2], {})))
    counts.append(command_counts(server, lambda: queue.enqueue({})))
    counts.append(command_counts(server, queue.stats))
    return counts


def test_call_runs_same_commands_in_small_and_large_queue(own_redis: redis.Redis) -> None:
    small = filled_queue(own_redis, "small", 1_000, 10)
    large = filled_queue(own_redis, "large", 10_000, 300)
    for queue in (small, large):
        costs_of_calls(own_redis, queue)  # loads every script, and creates this person's record
    assert costs_of_calls(own_redis, large) == costs_of_calls(own_redis, small)


def test_reserve_renew_and_finish_take_few_commands(own_redis: redis.Redis) -> None:
    costs_of_calls(own_redis, filled_queue(own_redis, "first", 10, 0))  # loads every script
    queue = filled_queue(own_redis, "few", 10, 0)
    costs = [sum(counts.values()) - 1 for counts in costs_of_calls(own_redis, queue)]
    reserve, renew, finish_and_next = costs[:3]
    assert reserve <= 8
    assert renew <= 11
    assert finish_and_next <= 10
    nothing_to_clear = costs[4]
    assert nothing_to_clear <= 2


@pytest.fixture(scope="module")
def crowded(own_redis: redis.Redis) -> leaseq.Queue:
    """A queue with many expired, due, dead and finished items at the same time."""
    clock = Clock()
    queue = leaseq.Queue(leaseq.connect(server_url(own_redis)), "crowded", clock=clock)
    queue.configure(lease_seconds=100, max_attempts=2, holds=100)
    queue.enqueue_many(NewItem({}, priority=n % 200, delay=n % 3) for n in range(6_000))
    for n in range(1_500):
        lease = not_none(queue.reserve(f"p{n % 20}"))
        if n % 3 == 0:
            queue.finish(lease, {})
    clock.tick(101)
    return queue


SCRIPTS: dict[str, Callable[[leaseq.Queue], object]] = {
    "reserve": lambda queue: queue.reserve("new"),
    "reserve after all of the person's leases expired": lambda queue: queue.reserve("p7"),
    "clear": lambda queue: queue.clear(1_000),
    "enqueue": lambda queue: queue.enqueue_many([{}] * 1_000),
    "page": lambda queue: queue.page("inbound", limit=500),
    "finished": lambda queue: queue.page("finished", limit=500),
    "journal": lambda queue: queue.journal(limit=10_000),
    "mine": lambda queue: queue.mine("p8"),
    "why nothing": lambda queue: queue.why_nothing("p9"),
    "stats": lambda queue: queue.stats(),
    "backup": lambda queue: backup.back_up(queue._client, io.BytesIO()),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_script_runs_bounded_number_of_commands(
    own_redis: redis.Redis, crowded: leaseq.Queue, name: str
) -> None:
    assert commands_per_script(own_redis, lambda: SCRIPTS[name](crowded)) <= MOST


def test_journal_is_read_in_ranges_of_bounded_size(own_redis: redis.Redis, crowded: leaseq.Queue) -> None:
    """A read of any number of entries is one command, which blocks the server until it is done."""
    entries = {event.cursor.partition(".")[0] for event in crowded.journal(limit=10_000)}
    assert len(entries) > 2_000
    assert command_counts(own_redis, lambda: crowded.journal(limit=10_000))["xrange"] > len(entries) / 1_000


def test_reserve_returns_at_most_eight_expired_items(own_redis: redis.Redis, clock: Clock) -> None:
    queue = filled_queue(own_redis, "few-back", 1, 50, clock)
    clock.tick(10_001)
    queue.reserve("somebody new")
    assert queue.stats().counters["expired"] == 8


def test_alert_check_without_changes_writes_nothing(own_redis: redis.Redis, clock: Clock) -> None:
    """For a queue without rules there is no check at all: see nothing_to_clear above."""
    queue = filled_queue(own_redis, "alerts", 200, 0, clock)
    own_redis.xgroup_create(Keys(queue.name).journal, "bridge", 0)
    queue.configure(alerts=("waiting>100", "oldest>60", "dead>60", "idle>40", "bridge>60", "webhooks>60"))
    for alert_names in ([], ["waiting"], ["waiting", "oldest", "idle", "bridge"]):
        assert [alert.name for alert in queue.alerts()] == alert_names
        clock.tick(50)
        queue.clear()
        counts = command_counts(own_redis, queue.clear)
        assert not {"hset", "hdel", "xadd"} & set(counts)
        assert sum(counts.values()) <= 25
