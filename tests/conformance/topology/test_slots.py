"""A queue's slot is moved to another node key by key: no script runs on only some of the keys."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import pytest
import redis
from redis.crc import key_slot

import leaseq
from leaseq.engine.transport import ClusterTransport
from tests.conformance.topology.servers import cluster, port_of, running
from tests.support.leases import not_none
from tests.support.waiting import eventually


@dataclass
class SlotMigration:
    """The migration of a queue's slot from one node to another."""

    queue: leaseq.Queue
    slot: int
    source: redis.Redis
    target: redis.Redis

    def begin(self) -> None:
        self.target.execute_command("CLUSTER", "SETSLOT", self.slot, "IMPORTING", _id(self.source))
        self.source.execute_command("CLUSTER", "SETSLOT", self.slot, "MIGRATING", _id(self.target))

    def remaining_keys(self) -> list[bytes]:
        return self._keys(self.source)

    def move_key(self, key: bytes) -> None:
        self.source.execute_command("MIGRATE", "127.0.0.1", port_of(self.target), key, 0, 5_000)

    def end(self) -> None:
        for node in (self.target, self.source):
            node.execute_command("CLUSTER", "SETSLOT", self.slot, "NODE", _id(self.target))

    def everything(self) -> dict[bytes, bytes]:
        return {key: _dump(node, key) for node in (self.source, self.target) for key in self._keys(node)}

    def _keys(self, node: redis.Redis) -> list[bytes]:
        keys: list[bytes] = node.execute_command("CLUSTER", "GETKEYSINSLOT", self.slot, 100)
        return keys


def _id(node: redis.Redis) -> str:
    return str(node.execute_command("CLUSTER MYID").decode())


def _knows(node: redis.Redis, id: str) -> bool:
    return any(one["node_id"] == id for one in node.execute_command("CLUSTER NODES").values())


def _know_each_other(first: redis.Redis, second: redis.Redis) -> bool:
    return _knows(first, _id(second)) and _knows(second, _id(first))


def _dump(node: redis.Redis, key: bytes) -> bytes:
    node.execute_command("ASKING")  # its slot may still be importing there
    return not_none(node.dump(key))


@pytest.fixture(scope="module")
def nodes() -> Iterator[tuple[leaseq.Client, redis.Redis]]:
    """A client of a cluster, and a node that joined without slots, so the client doesn't know it."""
    with cluster() as url, running("--cluster-enabled", "yes", "--save", "") as new_node:
        client = leaseq.connect(url)
        assert isinstance(client.redis, redis.RedisCluster)
        for node in client.redis.get_primaries():
            new_node.execute_command("CLUSTER", "MEET", "127.0.0.1", node.port)
        for node in client.redis.get_primaries():
            known_node = redis.Redis(port=int(node.port))
            eventually(partial(_know_each_other, known_node, new_node))
            known_node.close()
        eventually(lambda: new_node.execute_command("CLUSTER INFO")["cluster_state"] == "ok")
        yield client, new_node
        client.close()


@pytest.fixture
def migration(nodes: tuple[leaseq.Client, redis.Redis], queue_name: str) -> Iterator[SlotMigration]:
    client, new_node = nodes
    assert isinstance(client.redis, redis.RedisCluster)
    slot = key_slot(queue_name.encode())
    source = redis.Redis(port=int(client.redis.nodes_manager.get_node_from_slot(slot).port))
    yield SlotMigration(leaseq.Queue(client, queue_name), slot, source, new_node)
    source.close()


def test_call_during_slot_migration_changes_nothing(
    migration: SlotMigration, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The only lease ends and another one begins: one script deletes a key and creates it again."""
    queue = migration.queue
    queue.enqueue_many(leaseq.NewItem({}, id=id) for id in "abc")
    queue.finish(not_none(queue.reserve("bob")), {})  # so that all keys of a finish exist
    lease = queue.reserve("ann")
    assert lease is not None
    migration.begin()
    before = migration.everything()
    monkeypatch.setattr("leaseq.engine.transport._MIGRATION_SECONDS", 0.05)
    while True:
        with pytest.raises(leaseq.ServerUnavailable):
            queue.finish(lease, {}, then_reserve=True)
        with pytest.raises(leaseq.ServerUnavailable):
            queue.enqueue({}, id="d", requires=["fr"])
        assert migration.everything() == before
        if not (keys := migration.remaining_keys()):
            break
        migration.move_key(keys[0])
    migration.end()
    next_lease = queue.finish(lease, {}, then_reserve=True).next
    assert next_lease is not None
    assert next_lease.id == "c"
    assert [queue.get(id).state for id in "abc"] == ["finished", "finished", "reserved"]


def test_call_waits_for_the_end_of_slot_migration(migration: SlotMigration) -> None:
    with ThreadPoolExecutor() as pool:
        migration.queue.enqueue({}, id="a")
        migration.begin()
        future = pool.submit(migration.queue.reserve, "ann")
        for key in migration.remaining_keys():
            migration.move_key(key)
        migration.end()
        lease = future.result(30)
        assert lease is not None
        assert migration.queue.finish(lease, {}).replayed is False
        assert migration.remaining_keys() == []


def test_call_follows_a_migrated_slot(migration: SlotMigration, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reply that names the node is enough: the slot table is not read again."""
    migration.queue.enqueue({}, id="a")
    migration.begin()
    for key in migration.remaining_keys():
        migration.move_key(key)
    migration.end()

    def fail_on_read(_: ClusterTransport) -> None:
        raise AssertionError("the slot table is read again")

    monkeypatch.setattr("leaseq.engine.transport._MIGRATION_SECONDS", 10)
    monkeypatch.setattr(ClusterTransport, "reset", fail_on_read)
    assert not_none(migration.queue.reserve("ann")).id == "a"
