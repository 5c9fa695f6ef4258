"""A truncated file, a damaged file, and a full disk."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import leaseq
from leaseq.server.embedded import EmbeddedServer, EmbeddedServerError
from tests.faults.disk import Disk, empty_disk
from tests.faults.judge import all_items, find_faults
from tests.faults.people import RULES, crowd
from tests.support.ports import free_port
from tests.support.processes import LEASEQ, environment
from tests.support.refused import raises
from tests.support.waiting import eventually, retry_while_unavailable

PAGE = 4096


@pytest.fixture
def disk() -> Iterator[Disk]:
    with empty_disk() as disk:
        yield disk


def data_file(data: Path) -> Path:
    """Return the file to which the server appends."""
    (file,) = (data / "appendonlydir").glob("*.incr.aof")
    return file


def state_of(queue: leaseq.Queue) -> object:
    stats = queue.stats()
    return sorted((item.id, item.state, str(item.answers)) for item in all_items(queue)), stats.counters


def test_truncated_write_has_no_effect(seed: int, rounds: int, disk: Disk) -> None:
    """A finish that reserves the next item makes many changes: they apply only if none was cut off."""
    dice = random.Random(seed)
    with EmbeddedServer(disk.data) as server:
        queue = leaseq.Queue(leaseq.connect(server.url), "q")
        queue.enqueue_many([{"n": n} for n in range(30)])
        lease = queue.reserve("ann")
        assert lease is not None
        before, start = state_of(queue), data_file(disk.data).stat().st_size
        queue.finish(lease, {"typed": "much"}, then_reserve=True)
        after, end = state_of(queue), data_file(disk.data).stat().st_size
    assert before != after
    content = data_file(disk.data).read_bytes()
    for _ in range(3 * rounds):
        data_file(disk.data).write_bytes(content[: dice.randrange(start, end)])
        with EmbeddedServer(disk.data):
            assert state_of(queue) == before
            assert queue.finish(lease, {"typed": "much"}).late is False
    data_file(disk.data).write_bytes(content)
    with EmbeddedServer(disk.data):
        assert state_of(queue) == after


def damage_file(disk: Disk, dice: random.Random, place: str) -> Path:
    """Fill a page's length in the middle of the file with zeros, as a defective disk can do: anywhere, or
    from within the name of a command."""
    with EmbeddedServer(disk.data) as server:
        queue = leaseq.Queue(leaseq.connect(server.url), "q")
        for n in range(100):
            queue.enqueue({"n": n})
    file = data_file(disk.data)
    start = PAGE * (dice.randrange(file.stat().st_size // PAGE - 2) + 1)
    if place == "command":
        start = file.read_bytes().index(b"MULTI", start) + 1
    with file.open("r+b") as open_file:
        open_file.seek(start)
        open_file.write(bytes(PAGE))
    return file


@pytest.mark.parametrize("place", ["page", "command"])
def test_damaged_file_is_refused_and_suggested_repair_works(seed: int, disk: Disk, place: str) -> None:
    file = damage_file(disk, random.Random(seed), place)
    before = file.read_bytes()
    stderr = error_of_up(disk)
    assert f"{file} is damaged in its middle" in stderr
    assert f"First copy {disk.data} to a safe place. Then restore a backup, or keep" in stderr
    assert file.read_bytes() == before  # it was not changed
    with pytest.raises(EmbeddedServerError, match="is damaged in its middle"):
        EmbeddedServer(disk.data).start()

    command = stderr.partition("lose what is after it: ")[2].partition(" (without --fix")[0]
    subprocess.run(["sh", "-c", command], input="y\n", text=True, check=True, stdout=subprocess.DEVNULL)
    with EmbeddedServer(disk.data) as server:
        remaining = leaseq.Queue(leaseq.connect(server.url), "q").stats().inbound
    assert 0 < remaining < 100


def test_a_full_disk_under_load_loses_nothing(seed: int, rounds: int, disk: Disk) -> None:
    """The server ends at the first write without room, rather than acknowledge it."""
    dice = random.Random(seed)
    server = EmbeddedServer(disk.data)
    with (
        disk.attach(),
        server,
        crowd(server.url, "full", seed, people=6, items=60 * rounds) as people,
    ):
        for number in range(rounds):
            people.wait_for_grants(40 * (number + 1))
            disk.give_room(dice.randrange(5000))
            eventually(lambda: not server.is_alive, "the server ends")
            assert "it could not write to the disk" in server.end_reason()
            server.stop()
            with suppress(EmbeddedServerError):  # a person may write before the server has answered us
                server.start()
                eventually(lambda: not server.is_alive, "it ends again, because there is still no room")
            server.stop()
            disk.give_room()
            server.start()
        people.wait_until_done()
        faults = find_faults(people.history, RULES, people.queue)
    print(f"{rounds} times the disk was full, {people.grants()} grants, faults found: {len(faults)}")
    assert not faults, "\n".join(map(str, faults))


SUPERVISED = """
import sys
from leaseq.server.datadir import DataDir
from leaseq.server.embedded import EmbeddedServer
from leaseq.server.supervisor import Child, Signals, Supervisor

with DataDir(sys.argv[1]) as directory:
    server = EmbeddedServer(directory.path)
    server.make_folders()
    publish = lambda pids: directory.publish(url=server.url, web="", pids=pids)
    with Signals() as signals, Supervisor(signals, on_change=publish) as supervisor:
        child = Child("server", server.command(), ready=server.is_answering, end_reason=server.end_reason)
        supervisor.start(child)
        print("ready", flush=True)
        supervisor.run()
"""  # as `leaseq up` does it, without the pages


def test_supervisor_reports_full_disk_and_recovers_when_there_is_room(disk: Disk) -> None:
    data = disk.data / "new"
    process = subprocess.Popen(
        [sys.executable, "-c", SUPERVISED, data],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment() | disk.environment(),
    )
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "ready\n"
        queue = leaseq.Queue(leaseq.connect(f"unix://{data}/server.sock"), "q")
        queue.enqueue({"n": 1}, id="one")
        disk.give_room(0)
        for seconds in ("0.5", "1"):  # the supervisor retries while there is no room
            with raises(leaseq.ServerUnavailable, "no_answer", "server.sock"):
                queue.enqueue({"n": 2})
            restart_notice = f"leaseq: server ended with exit code 1; starting it again in {seconds} s: "
            line = process.stderr.readline()
            assert line.startswith(
                f"{restart_notice}it could not write to the disk of {data}, which may be full: make"
            )
            assert retry_while_unavailable(lambda: queue.get("one")).state == "inbound"
        disk.give_room()
        assert queue.enqueue({"n": 2}, id="two").added
        process.terminate()


@pytest.mark.parametrize(
    ("room", "message"),
    [
        (0, "cannot use {} as data directory: No space left on device"),
        (300, "could not write to the disk of {}, which may be full: make room there"),  # for up's own files
    ],
)
def test_up_reports_full_disk(disk: Disk, room: int, message: str) -> None:
    with EmbeddedServer(disk.data):
        pass
    disk.give_room(room)
    assert message.format(disk.data) in error_of_up(disk, **disk.environment())


def error_of_up(disk: Disk, **env: str) -> str:
    """Return the error message of a `leaseq up` that doesn't start."""
    (disk.data / "up.lock").touch()  # it refuses a non-empty folder without this file
    completed = subprocess.run(
        [LEASEQ, "up", "--data", disk.data, "--port", str(free_port())],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment(**env),
        check=False,
    )
    assert (completed.returncode, completed.stdout) == (1, "")
    return completed.stderr


def test_write_refused_for_full_disk_raises_server_refused(seed: int, disk: Disk) -> None:
    """With any other appendfsync the server keeps running, refuses writes, and accepts them again when there
    is room."""
    server = EmbeddedServer(disk.data, fsync="everysec")
    with disk.attach(), server, crowd(server.url, "full", seed, people=4, items=120) as people:
        people.wait_for_grants(40)
        disk.give_room(1000)
        queue = leaseq.Queue(leaseq.connect(server.url), "full")
        with raises(leaseq.ServerRefused, "server_refused", "No space left on device"):
            write_without_end(queue)
        assert queue.stats().counters["enqueued"] > 0
        disk.give_room()
        people.wait_until_done()
        faults = find_faults(people.history, RULES, people.queue)
    assert not faults, "\n".join(map(str, faults))


def write_without_end(queue: leaseq.Queue) -> None:
    while True:
        queue.configure(title="again and again")
