"""The clear job is killed while people work: what runs out is taken back without it, and a new one takes
over where nobody reserves."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import leaseq
from leaseq.embedded import EmbeddedServer
from tests.faults.judge import judged
from tests.faults.people import RULES, Habits, crowd
from tests.operations.processes import LEASEQ, environment, eventually

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


def test_kill_9_of_the_clear_job(seed: int, rounds: int) -> None:
    dice, kills = random.Random(seed), rounds // 3  # each needs a process that takes a while to start
    with (
        tempfile.TemporaryDirectory(prefix="leaseq") as folder,
        EmbeddedServer(folder) as server,
        crowd(server.url, "q", seed, people=12, items=80 * kills, habits=FORGETFUL) as people,
    ):
        for number in range(kills):
            with clearing(server.url) as job:
                assert job.stdout is not None
                assert job.stdout.readline(), "it returns what ran out, and says so"
                people.wait_for(40 * number + 10 + dice.randrange(20))
                os.kill(job.pid, signal.SIGKILL)
            before = expired(people.queue)
            eventually(
                lambda before=before: expired(people.queue) > before, "reserve takes back what ran out"
            )
        people.done()
        with clearing(server.url):
            people.queue.enqueue({}, id="last")
            assert people.queue.reserve("nobody else") is not None
            eventually(lambda: people.queue.stats().inbound == 1, "a new one takes over")
        people.queue.remove("last")
        found = judged(people.history, RULES, people.queue)
    assert not found, "\n".join(map(str, found))
