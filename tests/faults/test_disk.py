"""A torn file, a damaged one, and a full disk."""

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
from tests.faults.disk import Disk, disk
from tests.faults.judge import all_items, judged
from tests.faults.people import RULES, crowd
from tests.support.patience import eventually, patiently
from tests.support.ports import free_port
from tests.support.processes import LEASEQ, environment

PAGE = 4096


@pytest.fixture
def there() -> Iterator[Disk]:
    with disk() as made:
        yield made


def file_of(data: Path) -> Path:
    """The file that the server appends to."""
    (file,) = (data / "appendonlydir").glob("*.incr.aof")
    return file


def state(queue: leaseq.Queue) -> object:
    stats = queue.stats()
    return sorted((item.id, item.state, str(item.answers)) for item in all_items(queue)), stats.counters


def test_a_write_that_was_cut_off_is_as_if_it_never_began(seed: int, rounds: int, there: Disk) -> None:
    """A finish that reserves the next item makes many changes: wherever the file ends, all count or none."""
    dice = random.Random(seed)
    with EmbeddedServer(there.data) as server:
        queue = leaseq.Queue(leaseq.connect(server.url), "q")
        queue.enqueue_many([{"n": n} for n in range(30)])
        lease = queue.reserve("ann")
        assert lease is not None
        before, at = state(queue), file_of(there.data).stat().st_size
        queue.finish(lease, {"typed": "much"}, then_reserve=True)
        after, end = state(queue), file_of(there.data).stat().st_size
    assert before != after
    whole = file_of(there.data).read_bytes()
    for _ in range(3 * rounds):
        file_of(there.data).write_bytes(whole[: dice.randrange(at, end)])
        with EmbeddedServer(there.data):
            assert state(queue) == before
            assert queue.finish(lease, {"typed": "much"}).late is False
    file_of(there.data).write_bytes(whole)
    with EmbeddedServer(there.data):
        assert state(queue) == after


def damaged(there: Disk, dice: random.Random) -> Path:
    """A page in the middle of the file has become zeros, as a broken disk leaves it."""
    with EmbeddedServer(there.data) as server:
        queue = leaseq.Queue(leaseq.connect(server.url), "q")
        for n in range(100):
            queue.enqueue({"n": n})
    file = file_of(there.data)
    at = dice.randrange(file.stat().st_size // PAGE - 2) + 1
    with file.open("r+b") as open_file:
        open_file.seek(at * PAGE)
        open_file.write(bytes(PAGE))
    return file


def test_a_damaged_file_is_refused_with_what_to_do_and_that_works(seed: int, there: Disk) -> None:
    file = damaged(there, random.Random(seed))
    before = file.read_bytes()
    refused = up_refused(there)
    assert f"{file} is damaged in its middle" in refused
    assert f"First copy {there.data} to a safe place. Then restore a backup, or keep" in refused
    assert file.read_bytes() == before  # nothing of it was touched
    with pytest.raises(EmbeddedServerError, match="is damaged in its middle"):
        EmbeddedServer(there.data).start()

    command = refused.partition("lose what is behind it: ")[2].partition(" (without --fix")[0]
    subprocess.run(["sh", "-c", command], input="y\n", text=True, check=True, stdout=subprocess.DEVNULL)
    with EmbeddedServer(there.data) as server:
        left = leaseq.Queue(leaseq.connect(server.url), "q").stats().inbound
    assert 0 < left < 100


def test_a_full_disk_under_load_loses_nothing(seed: int, rounds: int, there: Disk) -> None:
    """The server ends at the first write that there is no room for, rather than acknowledge it."""
    dice = random.Random(seed)
    server = EmbeddedServer(there.data)
    with (
        there.watching(),
        server,
        crowd(server.url, "full", seed, people=6, items=60 * rounds) as people,
    ):
        for number in range(rounds):
            people.wait_for(40 * (number + 1))
            there.give_room(dice.randrange(5000))
            eventually(lambda: not server.alive, "it ends")
            assert "it could not write to the disk" in server.last_words()
            server.stop()
            with suppress(EmbeddedServerError):  # somebody may write before we have seen it answer
                server.start()
                eventually(lambda: not server.alive, "it ends again: there is no room yet")
            server.stop()
            there.give_room()
            server.start()
        people.done()
        faults = judged(people.history, RULES, people.queue)
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
    told = lambda pids: directory.publish(url=server.url, web="", pids=pids)
    with Signals() as signals, Supervisor(signals, on_change=told) as supervisor:
        child = Child("server", server.command(), ready=server.answers, last_words=server.last_words)
        supervisor.start(child)
        print("ready", flush=True)
        supervisor.run()
"""  # as `leaseq up` does it, without the pages


def test_the_supervisor_says_that_the_disk_is_full_and_goes_on_when_there_is_room(there: Disk) -> None:
    data = there.data / "new"
    up = subprocess.Popen(
        [sys.executable, "-c", SUPERVISED, data],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment() | there.environment(),
    )
    with up:
        assert up.stdout is not None
        assert up.stderr is not None
        assert up.stdout.readline() == "ready\n"
        queue = leaseq.Queue(leaseq.connect(f"unix://{data}/server.sock"), "q")
        queue.enqueue({"n": 1}, id="one")
        there.give_room(0)
        for seconds in ("0.5", "1"):  # it goes on trying while there is none
            with pytest.raises(leaseq.ServerUnavailable, match=r"server\.sock"):
                queue.enqueue({"n": 2})
            again = f"leaseq: server ended with exit code 1; starting it again in {seconds} s: "
            said = up.stderr.readline()
            assert said.startswith(
                f"{again}it could not write to the disk of {data}, which may be full: make"
            )
            assert patiently(lambda: queue.get("one")).state == "inbound"
        there.give_room()
        assert queue.enqueue({"n": 2}, id="two").added
        up.terminate()


@pytest.mark.parametrize(
    ("room", "said"),
    [
        (0, "cannot use {} as data directory: No space left on device"),
        (300, "could not write to the disk of {}, which may be full: make room there"),  # for up's own files
    ],
)
def test_up_on_a_full_disk_says_so(there: Disk, room: int, said: str) -> None:
    with EmbeddedServer(there.data):
        pass
    there.give_room(room)
    assert said.format(there.data) in up_refused(there, **there.environment())


def up_refused(there: Disk, **env: str) -> str:
    """What `leaseq up` says that doesn't start."""
    (there.data / "up.lock").touch()  # it takes no folder that is not its own
    refused = subprocess.run(
        [LEASEQ, "up", "--data", there.data, "--port", str(free_port())],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment(**env),
        check=False,
    )
    assert (refused.returncode, refused.stdout) == (1, "")
    return refused.stderr


def test_a_server_that_refuses_at_a_full_disk_is_heard(seed: int, there: Disk) -> None:
    """With any other appendfsync it stays, refuses what writes, and takes it again when there is room."""
    server = EmbeddedServer(there.data, fsync="everysec")
    with there.watching(), server, crowd(server.url, "full", seed, people=4, items=120) as people:
        people.wait_for(40)
        there.give_room(1000)
        queue = leaseq.Queue(leaseq.connect(server.url), "full")
        with pytest.raises(leaseq.ServerRefused, match="No space left on device"):
            write_without_end(queue)
        assert queue.stats().counters["enqueued"] > 0
        there.give_room()
        people.done()
        faults = judged(people.history, RULES, people.queue)
    assert not faults, "\n".join(map(str, faults))


def write_without_end(queue: leaseq.Queue) -> None:
    while True:
        queue.configure(title="again and again")
