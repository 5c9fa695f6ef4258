"""The server is killed, again and again, while people work: what it acknowledged is there."""

from __future__ import annotations

import os
import random
import signal
import tempfile
from collections.abc import Callable

from leaseq.server.embedded import EmbeddedServer
from tests.faults.judge import judged
from tests.faults.people import RULES, crowd


def test_kill_9_of_the_server(seed: int, rounds: int, measured: Callable[[str], None]) -> None:
    dice = random.Random(seed)
    with (
        tempfile.TemporaryDirectory(prefix="leaseq") as folder,
        EmbeddedServer(folder) as server,
        crowd(server.url, "killed", seed, people=8, items=60 * rounds) as people,
    ):
        for number in range(rounds):
            people.wait_for(40 * (number + 1) + dice.randrange(10))
            assert server.pid is not None
            os.kill(server.pid, signal.SIGKILL)
            server.stop()
            server.start()
        people.done()
        faults = judged(people.history, RULES, people.queue)
    assert not faults, "\n".join(map(str, faults))
    kept = sum(call.outcome == "ok" for call in people.history.calls)
    measured(f"{rounds} kill -9 of the server, {kept:,} acknowledged calls: 0 lost")
