"""The same calls through the URL of a sentinel and of a cluster."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
import redis

import leaseq
from tests.conformance.topology.servers import cluster, sentinel
from tests.support.leases import not_none, wait_and_take
from tests.support.refused import refused


@pytest.mark.parametrize("topology", [sentinel, cluster])
def test_queues_work_through_sentinel_and_cluster_urls(
    topology: Callable[[], AbstractContextManager[str]],
) -> None:
    with topology() as url:
        client = leaseq.connect(url)
        client.ping()
        names = [f"queue-{n}" for n in range(6)]  # in several slots of a cluster
        for name in names:
            queue = leaseq.Queue(client, name)
            queue.configure(title=name, max_attempts=1)
            assert queue.enqueue_many({"n": n} for n in range(5)).added == 5
            lease = queue.reserve("alice")
            assert lease is not None
            for _ in range(3):
                outcome = queue.finish(lease, {"ok": True}, then_reserve=True)
                assert outcome.next is not None
                lease = outcome.next
            queue.fail(lease, "unreadable")
            assert [item.state for item in queue.items("dead")] == ["dead"]
            stats = queue.stats()
            assert (stats.inbound, stats.reserved, stats.finished, stats.dead) == (1, 0, 3, 1)
        assert leaseq.queues(client) == names
        for name in names:
            wait_and_take(leaseq.Queue(client, f"{name}-waited-for"), "bob")
        client.close()


def test_flushed_scripts_are_loaded_again_in_a_cluster() -> None:
    with cluster() as url:
        client = leaseq.connect(url)
        queue = leaseq.Queue(client, "reviews")
        queue.enqueue({"n": 1})
        assert isinstance(client.redis, redis.RedisCluster)
        client.redis.script_flush()
        assert queue.reserve("alice") is not None
        client.close()


def test_cluster_confirms_writes_by_waitaof() -> None:
    with cluster() as url:
        client = leaseq.connect(url)
        queue = leaseq.Queue(client, "reviews")
        assert isinstance(client.redis, redis.RedisCluster)
        with refused("durable", what="file"):
            queue.configure(durable="fsync")
        for setting, value in (("appendonly", "yes"), ("appendfsync", "always")):
            client.redis.config_set(setting, value, target_nodes=redis.RedisCluster.PRIMARIES)
        queue.configure(durable="fsync")
        client.redis.script_flush()
        queue.enqueue({"n": 1})
        assert queue.finish(not_none(queue.reserve("alice")), {}).replayed is False
        for node in client.redis.get_primaries():
            counts = client.redis.info("commandstats", target_nodes=node)
            if "cmdstat_evalsha" in counts:
                assert counts["cmdstat_waitaof"]["calls"] >= 4
                break
        else:
            raise AssertionError("no node ran a move")
        client.close()
