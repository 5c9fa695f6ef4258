"""The clear job is killed while people work: what runs out is taken back without it, and a new one takes
over where nobody reserves."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import leaseq
from leaseq.server.embedded import EmbeddedServer
from tests.faults.judge import judged
from tests.faults.people import RULES, Habits, crowd
from tests.support.patience import eventually
from tests.support.processes import LEASEQ, environment

FORGETFUL = Habits(abandons=2, fails=2, walks_away=20, is_late=10)


@contextmanager
def clearing(url: str) -> Iterator[subprocess.Popen[bytes]]:
    """`leaseq clear` as a process of its own, on every queue there is."""
    command = [str(LEASEQ), "clear", "--redis", url, "--all", "--every", "0.05"]
    process = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def expired(queue: leaseq.Queue) -> int:
    return queue.stats().counters["expired"]


def returns(queue: leaseq.Queue) -> None:
    """Where nobody reserves, the clear job alone returns what ran out."""
    assert queue.reserve("somebody") is not None
    eventually(lambda: queue.stats().inbound == 1, "it is back")


def test_kill_9_of_the_clear_job(seed: int, rounds: int, measured: Callable[[str], None]) -> None:
    kills, grants = rounds // 3, 0  # each needs a process that takes a while to start
    with (
        tempfile.TemporaryDirectory(prefix="leaseq") as folder,
        EmbeddedServer(folder) as server,
        closing(leaseq.connect(server.url)) as client,
    ):
        aside = leaseq.Queue(client, "aside")
        aside.configure(lease_seconds=0.1, max_attempts=1_000)
        aside.enqueue({})
        for number in range(kills):
            with clearing(server.url) as job:
                returns(aside)
                with crowd(server.url, f"q{number}", seed, people=12, items=60, habits=FORGETFUL) as people:
                    people.wait_for(random.Random(seed + number).randrange(20))
                    os.kill(job.pid, signal.SIGKILL)
                    job.wait()
                    before = expired(people.queue)
                    people.done()
                    faults = judged(people.history, RULES, people.queue)
            assert not faults, "\n".join(map(str, faults))
            assert expired(leaseq.Queue(client, people.queue.name)) > before, (
                "reserve takes back what ran out"
            )
            grants += people.grants()
        with clearing(server.url):
            returns(aside)
    measured(f"{kills} kill -9 of the clear job in {grants:,} grants: nothing lost")
