"""What the library needs of a server: wake-ups, confirmations, loaded scripts and new connections."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import leaseq
from leaseq.engine.keys import SCHEMA, Keys
from tests.conformance.engines.calls import CALLS
from tests.conformance.engines.scene import Scene
from tests.conftest import Clock, Server
from tests.faults.judge import find_faults
from tests.faults.people import RULES, crowd
from tests.support.awaited_queue import LoopThread
from tests.support.engines import Engine
from tests.support.leases import not_none
from tests.support.refused import raises, refused
from tests.support.waiting import eventually

AioClients = tuple[LoopThread, leaseq.aio.Client, leaseq.aio.Client]


def test_waiting_calls_are_woken_in_order(queue: leaseq.Queue, other: leaseq.Client) -> None:
    """The items are enqueued by another program, which may be connected to another node."""
    queue.configure()
    people = ["ann", "bob", "cyd"]
    with ThreadPoolExecutor() as pool:
        futures = []
        for number, person in enumerate(people):
            futures.append(pool.submit(queue.reserve, person, wait=30))
            eventually(lambda count=number + 1: queue.stats().waiting == count)  # type: ignore[misc]
        for number, future in enumerate(futures):
            leaseq.Queue(other, queue.name).enqueue({}, id=str(number))
            lease = future.result(30)
            assert lease is not None
            assert (lease.id, lease.person) == (str(number), people[number])
    assert queue.stats().waiting == 0


def set_files(engine: Engine, **values: str | None) -> None:
    for node in engine.primaries:
        for name, value in values.items():
            node.config_set(name, not_none(value))


def work_once(queue: leaseq.Queue) -> None:
    queue.enqueue_many([{}] * 3)
    lease = queue.reserve("ann")
    assert lease is not None
    queue.save_draft(lease, {})
    next_lease = queue.finish(lease, {}, then_reserve=True).next
    assert next_lease is not None
    queue.abandon(next_lease)
    assert queue.stats().finished == 1


def call_count(engine: Engine, command: str) -> int:
    stats = [node.info("commandstats").get(f"cmdstat_{command}", {"calls": 0}) for node in engine.primaries]
    return sum(one["calls"] for one in stats)


def privileged_queue(engine: Engine, queue: leaseq.Queue) -> leaseq.Queue:
    """The queue as a user who may read the server's settings, which is needed to set `fsync`."""
    return leaseq.Queue(engine.connect(engine.admin_url), queue.name)


@pytest.mark.parametrize("durable", ["fsync", "replica"])
def test_durable_is_confirmed_if_supported_and_else_refused(
    engine: Engine, queue: leaseq.Queue, durable: leaseq.Durable
) -> None:
    queue.configure(title="before")
    admin_queue = privileged_queue(engine, queue)
    before = {name: engine.primaries[0].config_get(name)[name] for name in ("appendonly", "appendfsync")}
    set_files(engine, appendonly="yes", appendfsync="always")
    try:
        if not getattr(engine, durable):
            with pytest.raises(leaseq.Invalid) as error:
                admin_queue.configure(durable=durable, title="after")
            assert error.value.field == "durable"
            assert ("Valkey, or Redis 7.2" if durable == "fsync" else "a connected replica") in str(
                error.value
            )
            assert (queue.policy.durable, queue.policy.title) == ("server", "before")
            return
        admin_queue.configure(durable=durable)
        assert queue.policy.durable == durable
        command = {"fsync": "waitaof", "replica": "wait"}[durable]
        count_before = call_count(engine, command)
        work_once(queue)
        assert call_count(engine, command) - count_before >= 5, "each move waits for the confirmation"
    finally:
        set_files(engine, **before)


def test_fsync_is_refused_without_an_append_only_file(engine: Engine, queue: leaseq.Queue) -> None:
    before = engine.primaries[0].config_get("appendonly")["appendonly"]
    set_files(engine, appendonly="no")
    try:
        with refused("durable", what="file"):
            privileged_queue(engine, queue).configure(durable="fsync")
    finally:
        set_files(engine, appendonly=before)


def test_flushed_scripts_are_loaded_again(
    engine: Engine, timed_queue: leaseq.Queue, other: leaseq.Client, clock: Clock
) -> None:
    """Each call has the same result as with its script loaded."""
    for name, call in CALLS.items():
        queue = leaseq.Queue(timed_queue._client, f"{timed_queue.name}.{name}", clock=clock)
        queue.enqueue_many(leaseq.NewItem({"n": n}, f"{n}") for n in range(4))
        for node in engine.primaries:
            node.script_flush()
        call(Scene(queue, leaseq.Queue(other, queue.name, clock=clock), clock))


def test_broken_connections_are_reopened(engine: Engine, queue: leaseq.Queue) -> None:
    queue.enqueue_many([{}] * 3)
    lease = queue.reserve("ann")
    for n in range(3):
        for node in engine.primaries:
            node.client_kill_filter(_type="normal", skipme=True)
        assert lease is not None
        outcome = queue.finish(lease, {"n": n}, then_reserve=True)
        assert not outcome.replayed
        lease = outcome.next
    assert [answer.result for answer in queue.answers()] == [{"n": n} for n in range(3)]


async def read_person_items(queue: leaseq.aio.Queue) -> None:
    async for _ in queue.person_items("ann"):
        pass


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda queue: queue.enqueue({}), id="enqueue"),
        pytest.param(read_person_items, id="person_items"),
        pytest.param(lambda queue: queue.erase_person("ann", "erased-1"), id="erase_person"),
        pytest.param(lambda queue: queue.delete(), id="delete"),
    ],
)
def test_broken_aio_connections_are_reopened(
    engine: Engine, aio_clients: AioClients, queue_name: str, call: Callable[[leaseq.aio.Queue], Any]
) -> None:
    """Any number of them may be idle; connections for commands outside scripts are reopened as well."""
    loop, client, _ = aio_clients

    async def work() -> None:
        queue = leaseq.aio.Queue(client, queue_name)
        await queue.configure()
        await asyncio.gather(
            *(queue.enqueue({}) for _ in range(8)), *(read_person_items(queue) for _ in range(8))
        )
        for node in engine.primaries:
            node.client_kill_filter(_type="normal", skipme=True)
        await call(queue)

    loop.run(work())


def test_a_newer_schema_is_refused(engine: Engine, queue: leaseq.Queue) -> None:
    queue.enqueue({})
    server, ledger = Server(engine.url, queue._client).redis, Keys(queue.name).ledger
    status = server.hget(ledger, "status")
    assert status is not None
    server.hset(ledger, "status", f"v{SCHEMA + 1} {status.decode()}")
    with raises(leaseq.ServerRefused, "newer", what="schema", name=str(SCHEMA + 1)):
        queue.reserve("ann")


def test_concurrent_work_violates_no_guarantee(engine: Engine, queue_name: str, seed: int) -> None:
    with crowd(engine.url, queue_name, seed, people=4, items=40) as people:
        people.wait_until_done()
        faults = find_faults(people.history, RULES, people.queue)
    assert not faults, "\n".join(map(str, faults))
