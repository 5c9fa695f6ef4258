"""The clear job is killed during work: reserve still takes back expired items, and so does a new clear job
without any reserve."""

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
from tests.faults.judge import find_faults
from tests.faults.people import RULES, Habits, crowd
from tests.support.processes import LEASEQ, environment
from tests.support.waiting import eventually

FORGETFUL = Habits(abandons=2, fails=2, walks_away=20, answers_late=10)


@contextmanager
def clear_process(url: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run `leaseq clear` as a separate process on all queues."""
    command = [str(LEASEQ), "clear", "--redis", url, "--all", "--every", "0.05"]
    process = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def expired_count(queue: leaseq.Queue) -> int:
    return queue.stats().counters["expired"]


def check_return(queue: leaseq.Queue) -> None:
    """Check that the clear job takes back an expired item although nobody reserves."""
    assert queue.reserve("somebody") is not None
    eventually(lambda: queue.stats().inbound == 1, "the item is back")


def test_kill_9_of_the_clear_job_loses_nothing(
    seed: int, rounds: int, report_figure: Callable[[str], None]
) -> None:
    kills, grants = rounds // 3, 0  # each starts a process, which takes a while
    with (
        tempfile.TemporaryDirectory(prefix="leaseq") as folder,
        EmbeddedServer(folder) as server,
        closing(leaseq.connect(server.url)) as client,
    ):
        idle_queue = leaseq.Queue(client, "aside")
        idle_queue.configure(lease_seconds=0.1, max_attempts=1_000)
        idle_queue.enqueue({})
        for number in range(kills):
            with clear_process(server.url) as job:
                check_return(idle_queue)
                with crowd(server.url, f"q{number}", seed, people=12, items=60, habits=FORGETFUL) as people:
                    people.wait_for_grants(random.Random(seed + number).randrange(20))
                    os.kill(job.pid, signal.SIGKILL)
                    job.wait()
                    before = expired_count(people.queue)
                    people.wait_until_done()
                    faults = find_faults(people.history, RULES, people.queue)
            assert not faults, "\n".join(map(str, faults))
            assert expired_count(leaseq.Queue(client, people.queue.name)) > before, (
                "reserve takes back expired items"
            )
            grants += people.grants()
        with clear_process(server.url):
            check_return(idle_queue)
    report_figure(f"{kills} kill -9 of the clear job in {grants:,} grants: nothing lost")
