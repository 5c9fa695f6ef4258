"""The deletion of a queue is killed midway: the queue is not found, and the next deletion completes it."""

from __future__ import annotations

import random
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import closing
from typing import Any

import leaseq
from leaseq import NewItem
from leaseq.engine.keys import QUEUES, Keys
from leaseq.server.embedded import EmbeddedServer
from tests.engine import server_contents
from tests.support.leases import take
from tests.support.processes import LEASEQ, environment
from tests.support.refused import raises
from tests.support.waiting import eventually

KEYS = 8_000  # enough for a deletion in many steps


def fill_queue(client: leaseq.Client, name: str) -> leaseq.Lease:
    queue = leaseq.Queue(client, name)
    queue.configure(dedupe_seconds=3_600, answers=2)
    queue.enqueue_many(NewItem({"n": n}, id=f"{n}") for n in range(KEYS))
    return take(queue, "ann")


def kill_midway(client: leaseq.Client, url: str, queue: leaseq.Queue, share: float) -> bool:
    """Kill a deletion when only this share of the keys is left. Return whether any were left to delete."""
    redis: Any = client.redis
    key_limit = share * redis.dbsize()
    command = [str(LEASEQ), "queue", "delete", queue.name, "--yes", "--redis", url]
    process = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE)
    try:
        eventually(lambda: redis.dbsize() <= key_limit or process.poll() is not None, "it has come this far")
    finally:
        process.kill()
        process.communicate()
    return bool(redis.exists(Keys(queue.name).ledger))


def test_killed_deletion_hides_the_queue_and_is_completed_later(
    seed: int, rounds: int, report_figure: Callable[[str], None]
) -> None:
    midway_count, dice = 0, random.Random(seed)
    with (
        tempfile.TemporaryDirectory(prefix="leaseq") as folder,
        EmbeddedServer(folder, fsync="no") as server,
        closing(leaseq.connect(server.url)) as client,
    ):
        redis: Any = client.redis
        for number in range(max(rounds // 2, 2)):
            queue = leaseq.Queue(client, f"q{number}")
            lease = fill_queue(client, queue.name)
            is_left = kill_midway(client, server.url, queue, dice.random())
            midway_count += is_left
            with raises(leaseq.QueueNotFound, "not_found", what="deleted_queue"):
                queue.finish(lease, {})
            if number % 2:  # otherwise the enqueue completes the deletion
                if is_left:
                    queue.delete()
                assert [*server_contents.everything(redis, queue.name)] == [Keys(queue.name).deleted.encode()]
                assert not client.redis.sismember(QUEUES, queue.name)
            queue.enqueue({"n": 1}, id="new")
            assert [item.id for item in queue.items("inbound")] == ["new"]
            assert take(queue, "ann").token == lease.token + 1
            assert queue.name in leaseq.queues(client)
            queue.delete()
    report_figure(f"{midway_count} deletions were killed midway, and finished by the next")
