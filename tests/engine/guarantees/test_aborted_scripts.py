"""A script that the server aborts half-way: an item is added to its new set before it is removed from the
old one, so no item is lost."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import redis

import leaseq
from leaseq import NewItem
from leaseq.server.embedded import EmbeddedServer
from tests.conftest import Clock
from tests.engine import server_contents
from tests.support.refused import raises

Call = Callable[[leaseq.Queue], object]
Clients = tuple[leaseq.Client, ...]


def anns_lease(queue: leaseq.Queue) -> leaseq.Lease:
    (lease,) = queue.mine("ann")
    return lease


def do_nothing(queue: leaseq.Queue) -> None: ...


def assign(queue: leaseq.Queue) -> None:
    queue.assign("one", "bob")


def reserve(queue: leaseq.Queue) -> None:
    assert queue.reserve("ann") is not None


def let_lease_expire(queue: leaseq.Queue) -> None:
    reserve(queue)
    clock(queue).tick(301)


def finish(queue: leaseq.Queue) -> None:
    reserve(queue)
    queue.finish(anns_lease(queue), {})


def let_item_die(queue: leaseq.Queue) -> None:
    queue.configure(max_attempts=1)
    reserve(queue)
    queue.fail(anns_lease(queue), "no")


def schedule_retry(queue: leaseq.Queue) -> None:
    queue.configure(retry_seconds=100)
    reserve(queue)
    queue.fail(anns_lease(queue), "no")


def give_back(queue: leaseq.Queue) -> None:
    reserve(queue)
    queue.abandon(anns_lease(queue))


def let_item_come_due(queue: leaseq.Queue) -> None:
    schedule_retry(queue)
    clock(queue).tick(101)


def clock(queue: leaseq.Queue) -> Clock:
    clock_of_queue = queue._commands._clock
    assert isinstance(clock_of_queue, Clock)
    return clock_of_queue


LATE: dict[str, Any] = {"id": "one", "token": 1, "person": "ann"}
CALLS: dict[str, tuple[Call, Call]] = {
    "reserve": (do_nothing, lambda queue: queue.reserve("ann")),
    "finish": (reserve, lambda queue: queue.finish(anns_lease(queue), {})),
    "finish and reserve": (reserve, lambda queue: queue.finish(anns_lease(queue), {}, then_reserve=True)),
    "finish late": (let_lease_expire, lambda queue: queue.finish(result={}, **LATE)),
    "abandon": (reserve, lambda queue: queue.abandon(anns_lease(queue))),
    "fail": (reserve, lambda queue: queue.fail(anns_lease(queue), "no")),
    "expire": (let_lease_expire, lambda queue: queue.clear()),
    "expire by reserve": (let_lease_expire, lambda queue: queue.reserve("bob")),
    "come due": (let_item_come_due, lambda queue: queue.clear()),
    "renew": (reserve, lambda queue: queue.renew(anns_lease(queue))),
    "undo": (finish, lambda queue: queue.undo_finish(**LATE)),
    "take back": (give_back, lambda queue: queue.take_back(**LATE)),
    "take back of a dead item": (let_item_die, lambda queue: queue.take_back(**LATE)),
    "abandon and reserve": (reserve, lambda queue: queue.abandon(anns_lease(queue), then_reserve=True)),
    "fail and reserve": (reserve, lambda queue: queue.fail(anns_lease(queue), "no", then_reserve=True)),
    "release": (reserve, lambda queue: queue.release("one")),
    "cancel": (reserve, lambda queue: queue.cancel("one")),
    "revive": (let_item_die, lambda queue: queue.revive("one")),
    "unassign": (assign, lambda queue: queue.unassign("one")),
    "unassign_all": (assign, lambda queue: queue.unassign_all("bob")),
    "assign": (do_nothing, lambda queue: queue.assign("one", "bob")),
    "change": (do_nothing, lambda queue: queue.change("one", priority=1)),
    "delay": (do_nothing, lambda queue: queue.change("one", delay=60)),
    "no delay": (schedule_retry, lambda queue: queue.change("one", delay=0)),
}


@pytest.fixture(scope="module")
def clients() -> Iterator[Clients]:
    """Clients of four users: one with all rights, one who may not add to any set, one who may only add to the
    set of finished items, and one who may not write grants."""
    with (
        tempfile.TemporaryDirectory(prefix="leaseq") as folder,
        EmbeddedServer(folder, fsync="no") as embedded,
    ):
        client = leaseq.connect(embedded.url)
        rules = "on >pw allkeys allchannels +@all -zadd"
        redis: Any = client.redis
        redis.execute_command("ACL", "SETUSER", "few", *rules.split())
        redis.execute_command("ACL", "SETUSER", "finishes", *rules.split(), "(+zadd ~*:finished)")
        redis.execute_command(
            "ACL", "SETUSER", "grants", "on", ">pw", "allkeys", "allchannels", "+@all", "-hset"
        )
        prefixes = (f"unix://{name}:pw@" for name in ("few", "finishes", "grants"))
        other_clients = [leaseq.connect(embedded.url.replace("unix://", user)) for user in prefixes]
        yield client, *other_clients
        for open_client in (client, *other_clients):
            open_client.close()


@pytest.mark.parametrize("seconds", [0, 1])  # the ordinary case of the script runs only at a later time
@pytest.mark.parametrize("call", CALLS)
def test_aborted_script_loses_no_item(
    clients: Clients, queue_name: str, clock: Clock, call: str, seconds: float
) -> None:
    queue, limited_queue = (leaseq.Queue(client, queue_name, clock=clock) for client in clients[:2])
    before, act = CALLS[call]
    queue.enqueue_many([NewItem({}, id="one"), NewItem({}, id="two")])
    before(queue)
    clock.tick(seconds)
    with raises(leaseq.ServerRefused, "server_refused", "permission"):
        act(limited_queue)
    assert isinstance(clients[0].redis, redis.Redis)
    item_ids = {id for ids in server_contents.sets(clients[0].redis, queue_name).values() for id in ids}
    assert item_ids | set(server_contents.scores(clients[0].redis, queue_name)) == {"one", "two"}


@pytest.mark.parametrize("seconds", [0, 1])
def test_aborted_finish_and_reserve_loses_no_item(
    clients: Clients, queue_name: str, clock: Clock, seconds: float
) -> None:
    queue, limited_queue = (
        leaseq.Queue(client, queue_name, clock=clock) for client in (clients[0], clients[2])
    )
    queue.enqueue_many([NewItem({}, id="one"), NewItem({}, id="two")])
    reserve(queue)
    clock.tick(seconds)
    with raises(leaseq.ServerRefused, "server_refused", "permission"):
        limited_queue.finish(anns_lease(queue), {}, then_reserve=True)
    assert isinstance(clients[0].redis, redis.Redis)
    state = server_contents.sets(clients[0].redis, queue_name)
    assert sorted({id for ids in state.values() for id in ids}) == ["one", "two"]


@pytest.mark.parametrize("seconds", [0, 1])  # the ordinary case of the script runs only at a later time
@pytest.mark.parametrize("then_reserve", [False, True])
def test_item_stays_inbound_if_its_grant_is_not_written(
    clients: Clients, queue_name: str, clock: Clock, seconds: float, then_reserve: bool
) -> None:
    queue, limited_queue = (
        leaseq.Queue(client, queue_name, clock=clock) for client in (clients[0], clients[3])
    )
    queue.enqueue_many([NewItem({}, id="one"), NewItem({}, id="two")])
    if then_reserve:
        reserve(queue)
    clock.tick(seconds)
    with raises(leaseq.ServerRefused, "server_refused", "permission"):
        limited_queue.finish(
            anns_lease(queue), {}, then_reserve=True
        ) if then_reserve else limited_queue.reserve("ann")
    assert isinstance(clients[0].redis, redis.Redis)
    assert server_contents.sets(clients[0].redis, queue_name)["inbound"] == (
        ["two"] if then_reserve else ["one", "two"]
    )


def test_a_queue_whose_deletion_is_refused_stays(clients: Clients, queue_name: str, clock: Clock) -> None:
    queue, limited_queue = (
        leaseq.Queue(client, queue_name, clock=clock) for client in (clients[0], clients[3])
    )
    queue.enqueue({}, id="one")
    with raises(leaseq.ServerRefused, "server_refused", "permission"):
        limited_queue.delete()
    assert queue.get("one").state == "inbound"
    queue.delete()
    assert not queue.exists()


def test_item_of_aborted_enqueue_has_no_negative_age(clients: Clients, queue_name: str, clock: Clock) -> None:
    """The queue's time is written after its entries: here, an entry is newer than the queue's time."""
    queue, limited_queue = (
        leaseq.Queue(client, queue_name, clock=clock) for client in (clients[0], clients[3])
    )
    queue.enqueue({}, id="one")
    reserve(queue)
    clock.tick(10)
    with raises(leaseq.ServerRefused, "server_refused", "permission"):
        limited_queue.enqueue({}, id="two")
    clock.tick(-5)
    assert queue.stats().oldest_inbound_seconds == 0
