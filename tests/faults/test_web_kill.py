"""People work over REST while gunicorn's workers, gunicorn itself, the server and the clear job are killed:
what they send again acts once, and `leaseq up` starts again what died."""

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
from tests.faults.judge import judged
from tests.faults.people import PRODUCER, RULES, crowd
from tests.faults.rest import RestQueue
from tests.support.patience import eventually
from tests.support.ports import free_port
from tests.support.processes import RunningUp, alive, descendants

PEOPLE = 6
BY_REST = replace(RULES, slack=0.002)  # its times have milliseconds
# gunicorn itself, the server and the clear job wait longer each time before `leaseq up` starts them again.
SHORT = ("worker", "web")
LONG = (*("worker",) * 12, *("web",) * 3, *("clear",) * 3, *("server",) * 2)


@contextmanager
def everything(data: Path) -> Iterator[RunningUp]:
    """`leaseq up`, and somebody who reads what it says: a full pipe would stop it."""
    up = RunningUp(data, free_port(), "--workers", "2", "--threads", "8")
    reader = threading.Thread(target=up.process.stderr.read, daemon=True)  # type: ignore[union-attr]
    reader.start()
    try:
        yield up
    finally:
        up.process.terminate()
        reader.join(30)
        up.stop()


def kill(up: RunningUp, what: str, dice: random.Random) -> None:
    """kill -9, and wait until another one runs in its place."""
    before = up.state()["pids"]
    pid = before["web" if what == "worker" else what]
    victim = pid
    if what == "worker":  # the web app may just have begun anew, while workers of the one before still answer
        eventually(lambda: len(descendants(pid)) == 2, "both workers")
        victim = dice.choice(sorted(descendants(pid)))
    os.kill(victim, signal.SIGKILL)
    if what == "worker":
        eventually(lambda: len(descendants(pid)) == 2 and not alive(victim), "another worker")
    else:
        eventually(lambda: up.state()["pids"].get(what, pid) != pid, f"another {what}")


def test_kill_9_of_all_that_leaseq_up_runs(seed: int, rounds: int, measured: Callable[[str], None]) -> None:
    dice = random.Random(seed)
    victims = list(LONG if rounds == len(LONG) else SHORT)
    dice.shuffle(victims)
    with tempfile.TemporaryDirectory(prefix="leaseq") as folder, everything(Path(folder)) as up:
        with closing(leaseq.connect(up.state()["url"])) as client:
            tokens = accounts(client)
        people_by_rest: dict[str, RestQueue] = {}

        def by(queue: leaseq.Queue, name: str) -> RestQueue:
            """Every other one has a program that uses Idempotency-Key."""
            keyed = len(people_by_rest) % 2 == 0
            made = RestQueue(
                up.port, tokens[name], queue.name, keyed=keyed, dice=random.Random(dice.random())
            )
            people_by_rest[name] = made
            return made

        with crowd(up.state()["url"], "q", seed, people=PEOPLE, items=40 * len(victims), by=by) as people:
            for number, what in enumerate(victims):
                people.wait_for(30 * (number + 1) + dice.randrange(10))
                kill(up, what, dice)
            people.done()
            faults = judged(people.history, BY_REST, people.queue)
        for one in people_by_rest.values():
            one.close()
        state = up.state()["pids"]
        assert set(state) == {"server", "web", "clear", "webhooks"}
        assert all(map(alive, state.values()))
    assert not faults, "\n".join(map(str, faults))
    broken = sum(one.sent_again for one in people_by_rest.values())
    assert broken >= len(victims) // 2
    calls = f"{len(people.history.calls):,} calls by REST, {broken} unanswered"
    measured(f"kill -9 of {dict(Counter(victims))} in {calls}: nothing lost, nothing done twice")


def accounts(client: leaseq.Client) -> dict[str, str]:
    """A token for each of the crowd."""
    known, tokens = Accounts(client), {}
    for name, role in [(PRODUCER, "manager"), *((f"person {n}", "worker") for n in range(PEOPLE))]:
        known.add(name, by="test", role=role)
        tokens[name] = known.create_token(name, "test", by="test")
    return tokens
