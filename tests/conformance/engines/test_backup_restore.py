"""A move from `leaseq up` to a server of each kind, as in docs/how-to/back-up-and-restore.md."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import leaseq
from leaseq.webapp import create_app
from leaseq.webapp.settings import Settings
from leaseq.webapp.store.accounts import Accounts
from tests.support.engines import Engine
from tests.support.leases import take
from tests.support.ports import free_port
from tests.support.processes import LEASEQ, UpProcess, environment
from tests.web.conftest import CHEAP_PASSWORDS, PASSWORD, SECRET, Browser

NAMES = ("moved-1", "moved-2", "moved-3")  # their slots are on different nodes


@pytest.fixture(scope="module")
def backup_and_lease() -> Iterator[tuple[Path, leaseq.Lease]]:
    """Work on a `leaseq up`; return a backup made while it ran, and a lease."""
    with tempfile.TemporaryDirectory(prefix="leaseq-") as folder:
        up = UpProcess(Path(folder) / "data", free_port(), "--workers", "1")
        try:
            client = leaseq.connect(up.state()["url"])
            Accounts(client, passwords=CHEAP_PASSWORDS).add("ann", by="test", role="admin", password=PASSWORD)
            for name in NAMES:
                queue = leaseq.Queue(client, name)
                queue.enqueue_many([{"n": 1}, {"n": 2}, {"n": 3}])
                queue.finish(take(queue, "bob"), {"ok": True})
            lease = take(queue, "ann")
            file = Path(folder) / "leaseq.backup"
            run("backup", "--to", str(file), "--data", str(up.data))
            client.close()
        finally:
            up.stop()
        yield file, lease


def run(*arguments: str) -> str:
    command = [str(LEASEQ), *arguments]
    return subprocess.run(command, env=environment(), capture_output=True, text=True, check=True).stdout


def test_work_continues_on_the_restored_server(
    engine: Engine, admin: leaseq.Client, backup_and_lease: tuple[Path, leaseq.Lease]
) -> None:
    file, held_lease = backup_and_lease
    for name in NAMES:
        leaseq.Queue(admin, name).configure()
        leaseq.Queue(admin, name).delete()
    url = engine.url_of("pages")
    output = run("restore", str(file), "--redis", url)
    assert output == "restored: queues: 3, items: 9, people: 1, leases held: 1\n"
    app = create_app(Settings(redis_url=url, secret_key=SECRET), passwords=CHEAP_PASSWORDS)
    browser = Browser(app, "ann")
    assert browser.sign_in().status_code == 303
    assert "moved-2" in browser.get("/manage").text
    client = engine.connect(url)
    queue = leaseq.Queue(client, held_lease.queue)
    assert queue.mine("ann") == [held_lease]
    assert not queue.finish(held_lease, {"done": True}).late
    for name in NAMES:
        target_queue = leaseq.Queue(client, name)
        assert [answer.person for answer in target_queue.answers()][:1] == ["bob"]
        lease = take(target_queue, "cyd")
        assert lease.token > held_lease.token
        target_queue.finish(lease, {})
        target_queue.delete()
    for key in [*admin.redis.scan_iter("leaseq:{@*")]:
        admin.redis.delete(key)
