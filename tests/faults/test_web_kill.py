"""People work over REST while gunicorn's workers, gunicorn itself, the server and the clear job are killed:
calls that they repeat act once, and `leaseq up` restarts each part."""

from __future__ import annotations

import os
import random
import signal
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import leaseq
from leaseq.webapp.store.accounts import Accounts
from tests.faults.judge import find_faults
from tests.faults.people import PRODUCER, RULES, crowd
from tests.faults.rest import RestQueue
from tests.support.ports import free_port
from tests.support.processes import UpProcess, descendants, is_alive
from tests.support.waiting import eventually

PEOPLE = 6
REST_RULES = replace(RULES, slack=0.002)  # its times have a resolution of a millisecond
# `leaseq up` waits longer each time before it restarts gunicorn itself, the server or the clear job.
SHORT = ("worker", "web")
LONG = (*("worker",) * 12, *("web",) * 3, *("clear",) * 3, *("server",) * 2)


@contextmanager
def running_leaseq(data: Path) -> Iterator[UpProcess]:
    """Run `leaseq up`, and read its log: a full pipe would block it. The log of a failed test is printed."""
    up = UpProcess(data, free_port(), "--workers", "2", "--threads", "8")
    log: list[str] = []
    reader = threading.Thread(target=lambda: log.extend(up.process.stderr or ()), daemon=True)
    reader.start()
    try:
        yield up
    except BaseException:
        print("".join(log[-1_000:]))
        raise
    finally:
        up.process.terminate()
        reader.join(30)
        up.stop()


def kill(up: UpProcess, part: str, dice: random.Random) -> None:
    """Send kill -9, and wait until another process runs in its place."""
    before = up.state()["pids"]
    pid = before["web" if part == "worker" else part]
    victim = pid
    if part == "worker":  # gunicorn may just have restarted, while its previous workers still answer
        eventually(lambda: len(descendants(pid)) == 2, "both workers")
        victim = dice.choice(sorted(descendants(pid)))
    os.kill(victim, signal.SIGKILL)
    if part == "worker":
        eventually(lambda: len(descendants(pid)) == 2 and not is_alive(victim), "another worker")
    else:
        eventually(lambda: up.state()["pids"].get(part, pid) != pid, f"another {part}")


def test_kill_9_of_each_process_of_up_loses_nothing(
    seed: int, rounds: int, report_figure: Callable[[str], None]
) -> None:
    dice = random.Random(seed)
    victims = list(LONG if rounds == len(LONG) else SHORT)
    dice.shuffle(victims)
    with tempfile.TemporaryDirectory(prefix="leaseq") as folder, running_leaseq(Path(folder)) as up:
        with closing(leaseq.connect(up.state()["url"])) as client:
            tokens = create_tokens(client)
        rest_queues: dict[str, RestQueue] = {}

        def queue_for(queue: leaseq.Queue, name: str) -> RestQueue:
            """Every second person uses a program with Idempotency-Key."""
            idempotent = len(rest_queues) % 2 == 0
            rest_queue = RestQueue(
                up.port, tokens[name], queue.name, idempotent=idempotent, dice=random.Random(dice.random())
            )
            rest_queues[name] = rest_queue
            return rest_queue

        with crowd(
            up.state()["url"], "q", seed, people=PEOPLE, items=40 * len(victims), queue_for=queue_for
        ) as people:
            for number, part in enumerate(victims):
                people.wait_for_grants(30 * (number + 1) + dice.randrange(10))
                kill(up, part, dice)
            people.wait_until_done()
            faults = find_faults(people.history, REST_RULES, people.queue)
        for rest_queue in rest_queues.values():
            rest_queue.close()
        pids = up.state()["pids"]
        assert set(pids) == {"server", "web", "clear", "webhooks"}
        assert all(map(is_alive, pids.values()))
    assert not faults, "\n".join(map(str, faults))
    retries = sum(rest_queue.retries for rest_queue in rest_queues.values())
    assert retries >= len(victims) // 2
    calls = f"{len(people.history.calls):,} calls by REST, {retries} unanswered"
    report_figure(f"kill -9 of {dict(Counter(victims))} in {calls}: nothing lost, nothing done twice")


def create_tokens(client: leaseq.Client) -> dict[str, str]:
    """Create a token for each member of the crowd."""
    accounts, tokens = Accounts(client), {}
    for name, role in [(PRODUCER, "manager"), *((f"person {n}", "worker") for n in range(PEOPLE))]:
        accounts.add(name, by="test", role=role)
        tokens[name] = accounts.create_token(name, "test", by="test")
    return tokens
