"""Many grants while the server is killed repeatedly: an item never has two live leases."""

from __future__ import annotations

import os
import random
import signal
import tempfile
from collections.abc import Callable

import pytest

from leaseq.server.embedded import EmbeddedServer
from tests.faults.judge import find_faults
from tests.faults.people import RULES, Habits, crowd

HASTY = Habits(
    abandons=4, fails=2, walks_away=0.5, renews=2, finishes_twice=2, answers_late=0.5, think_seconds=0
)
GRANTS_PER_KILL = 4_000  # grants between two kills, in the long form


def test_no_item_has_two_live_leases(
    seed: int, request: pytest.FixtureRequest, report_figure: Callable[[str], None]
) -> None:
    grants, grants_per_kill = (
        (100_000, GRANTS_PER_KILL) if request.config.getoption("--soak") else (1_500, 600)
    )
    dice, kills = random.Random(seed), 0
    with (
        tempfile.TemporaryDirectory(prefix="leaseq") as folder,
        EmbeddedServer(folder) as server,
        crowd(server.url, "many", seed, people=24, items=grants, stock=grants, habits=HASTY) as people,
    ):
        next_kill = 0
        while (
            next_kill := next_kill + dice.randint(grants_per_kill // 2, grants_per_kill * 3 // 2)
        ) < grants:
            people.wait_for_grants(next_kill, seconds=120)
            assert server.pid is not None
            os.kill(server.pid, signal.SIGKILL)
            server.stop()
            server.start()
            kills += 1
        people.wait_until_done(seconds=300)
        faults = find_faults(people.history, RULES, people.queue)
    assert not faults, "\n".join(map(str, faults))
    assert people.grants() >= grants
    assert kills >= grants // grants_per_kill // 2
    report_figure(f"{people.grants():,} grants, {kills} kills, double live leases: 0")
