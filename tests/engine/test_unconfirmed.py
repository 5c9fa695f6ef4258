"""What a server did not confirm is no acknowledgement, and the links to it are left."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis

import leaseq
from leaseq.durable import check
from tests.patience import eventually
from tests.topology.servers import port_of, primary_and_replica


@pytest.fixture
def primary() -> Iterator[redis.Redis]:
    """Its replica is stopped once it is there."""
    with primary_and_replica() as (primary, replica):
        replica_process = int(replica.info("server")["process_id"])
        queue = leaseq.Queue(leaseq.connect(f"redis://127.0.0.1:{port_of(primary)}"), "q")
        queue.configure(durable="replica")
        queue.enqueue({})  # so that the script is there
        os.kill(replica_process, signal.SIGSTOP)
        yield primary
        os.kill(replica_process, signal.SIGCONT)


def test_every_link_to_who_does_not_confirm_is_left(primary: redis.Redis) -> None:
    """Also those that lie idle: it may be a primary that was replaced, and they would lead there again."""
    queue = leaseq.Queue(leaseq.connect(f"redis://127.0.0.1:{port_of(primary)}?socket_timeout=1"), "q")
    with ThreadPoolExecutor(1) as pool:
        enqueued = pool.submit(queue.enqueue, {})
        eventually(lambda: primary.info("clients")["blocked_clients"] == 1)
        assert queue.stats().inbound == 2  # over another link
        with pytest.raises(leaseq.ServerUnavailable, match="did not confirm"):
            enqueued.result()
    before = primary.info("stats")["total_connections_received"]
    queue.stats()
    assert primary.info("stats")["total_connections_received"] == before + 1


def test_a_replica_s_word_is_not_the_disk_s() -> None:
    answers: dict[str, Any] = {
        "CONFIG GET": {"appendonly": "yes", "appendfsync": "always"},
        "WAITAOF": [0, 1],
    }
    with pytest.raises(leaseq.Invalid, match="a disk that confirms"):
        check("fsync", lambda *words: answers[words[0]])
