"""The power fails during work: data without fsync is lost, and everything acknowledged is there."""

from __future__ import annotations

import os
import random
import signal
import subprocess
from contextlib import suppress

import pytest
import redis

import leaseq
from leaseq.server.embedded import EmbeddedServer, Fsync
from tests.faults.disk import Disk, empty_disk
from tests.faults.judge import Fault, all_items, find_faults, lost_answers, lost_items
from tests.faults.people import RULES, crowd
from tests.support.ports import free_port
from tests.support.processes import LEASEQ, descendants, environment
from tests.support.waiting import retry_while_unavailable


def cut_power(server: EmbeddedServer, disk: Disk, dice: random.Random | None = None) -> int:
    """Cut the power of the server, and start it with what was on the disk; return the lost bytes."""
    assert server.pid is not None
    os.kill(server.pid, signal.SIGKILL)
    server.stop()
    lost_bytes = disk.cut_power(dice)
    server.start()
    return lost_bytes


def test_power_cuts_under_load_lose_nothing(seed: int, rounds: int) -> None:
    dice, lost_bytes = random.Random(seed), 0
    with (
        empty_disk() as disk,
        disk.attach(),
        EmbeddedServer(disk.data) as server,
        crowd(server.url, "dark", seed, people=8, items=60 * rounds) as people,
    ):
        for number in range(rounds):
            people.wait_for_grants(40 * (number + 1) + dice.randrange(10))
            if dice.random() < 0.5:  # during a rewrite of the file
                begin_rewrite(server)
            lost_bytes += cut_power(server, disk, dice)
        people.wait_until_done()
        faults = find_faults(people.history, RULES, people.queue)
    writes = sum(call.outcome == "ok" for call in people.history.calls if call.id or call.grant)
    print(
        f"{rounds} power cuts took {lost_bytes} bytes; {writes} acknowledged writes, "
        f"faults found: {len(faults)}"
    )
    assert not faults, "\n".join(map(str, faults))


def begin_rewrite(server: EmbeddedServer) -> None:
    with redis.Redis.from_url(server.url) as client, suppress(redis.ResponseError):
        client.bgrewriteaof()


@pytest.mark.parametrize("fsync", ["everysec", "no"])
def test_judge_finds_losses_if_replies_precede_fsync(fsync: Fsync, seed: int) -> None:
    """This checks the test above: the cut loses data without fsync, and the judge reports it. A cut right
    after an fsync loses nothing that was acknowledged, so several are tried."""
    assert any(faults_of_a_cut(fsync, seed + number) for number in range(5))


def faults_of_a_cut(fsync: Fsync, seed: int) -> list[Fault]:
    with (
        empty_disk() as disk,
        disk.attach(),
        EmbeddedServer(disk.data, fsync=fsync) as server,
        crowd(server.url, "dark", seed, people=4, items=2000) as people,
    ):
        people.wait_for_grants(100)
        lost_bytes = cut_power(server, disk)
        people.stop()
        items = list(all_items(people.queue))
        faults = [*lost_items(people.history, items), *lost_answers(people.history, items)]
    assert lost_bytes > 0 or not faults
    return faults


def test_power_cut_after_first_start_loses_nothing() -> None:
    """The data directory and all that is in it are less than a second old: every name must be on disk."""
    with empty_disk() as disk:
        data = disk.data / "new"
        arguments = ["up", "--data", str(data), "--port", str(free_port())]
        process = subprocess.Popen([LEASEQ, *arguments], env=environment() | disk.environment())
        queue = leaseq.Queue(leaseq.connect(f"unix://{data}/server.sock"), "q")
        retry_while_unavailable(lambda: queue.enqueue({"n": 1}, id="one"))
        key = (data / "secret-key").read_text()
        for pid in descendants(process.pid) | {process.pid}:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()
        disk.cut_power()
        assert (data / "secret-key").read_text() == key
        with EmbeddedServer(data):
            assert queue.get("one").payload == {"n": 1}
