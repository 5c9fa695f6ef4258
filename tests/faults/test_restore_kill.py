"""A restore is killed midway: the queue does not exist until the same command completes it."""

from __future__ import annotations

import subprocess
import tempfile
from contextlib import closing
from pathlib import Path

import leaseq
from leaseq import NewItem, backup
from leaseq.engine.keys import Keys
from leaseq.server.embedded import EmbeddedServer
from tests.engine.server_contents import everything
from tests.support.leases import take
from tests.support.processes import LEASEQ, environment
from tests.support.refused import raises
from tests.support.waiting import eventually

ITEMS = 8_000  # enough for a restore in many steps


def test_killed_restore_is_completed_by_the_same_command(tmp_path: Path) -> None:
    file = tmp_path / "backup"
    with (
        tempfile.TemporaryDirectory(prefix="leaseq") as folder,
        EmbeddedServer(folder, fsync="no") as server,
        closing(leaseq.connect(server.url)) as client,
    ):
        queue = leaseq.Queue(client, "q")
        queue.enqueue_many(NewItem({"n": n}, id=f"{n}") for n in range(ITEMS))
        lease = take(queue, "ann")
        with file.open("wb") as stream:
            backup.back_up(client, stream)
        items = everything(client.redis, "q")[Keys("q").items.encode()]  # type: ignore[arg-type]
        client.redis.flushall()
        command = [str(LEASEQ), "restore", str(file), "--redis", server.url]
        process = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE)
        eventually(lambda: client.redis.hlen(Keys("q").items) > 0, "it has begun")
        process.kill()
        process.communicate()
        assert 0 < client.redis.hlen(Keys("q").items) < ITEMS, "it was killed midway"
        assert not queue.exists()
        with raises(leaseq.ServerRefused, "restoring"):
            queue.enqueue({})
        completed = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
        assert completed.stdout == f"restored: queues: 1, items: {ITEMS:,}, leases held: 1\n"
        assert everything(client.redis, "q")[Keys("q").items.encode()] == items  # type: ignore[arg-type]
        assert (queue.mine("ann"), queue.stats().inbound) == ([lease], ITEMS - 1)
