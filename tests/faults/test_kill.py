"""The server is killed repeatedly during work, and everything that it acknowledged is there."""

from __future__ import annotations

import os
import random
import signal
import tempfile
from collections.abc import Callable

from leaseq.server.embedded import EmbeddedServer
from tests.faults.judge import find_faults
from tests.faults.people import RULES, crowd


def test_kill_9_of_the_server_loses_nothing(
    seed: int, rounds: int, report_figure: Callable[[str], None]
) -> None:
    dice = random.Random(seed)
    with (
        tempfile.TemporaryDirectory(prefix="leaseq") as folder,
        EmbeddedServer(folder) as server,
        crowd(server.url, "killed", seed, people=8, items=60 * rounds) as people,
    ):
        for number in range(rounds):
            people.wait_for_grants(40 * (number + 1) + dice.randrange(10))
            assert server.pid is not None
            os.kill(server.pid, signal.SIGKILL)
            server.stop()
            server.start()
        people.wait_until_done()
        faults = find_faults(people.history, RULES, people.queue)
    assert not faults, "\n".join(map(str, faults))
    acknowledged_count = sum(call.outcome == "ok" for call in people.history.calls)
    report_figure(f"{rounds} kill -9 of the server, {acknowledged_count:,} acknowledged calls: 0 lost")
