"""Grant after grant while the server is killed: never two live leases of one item."""

from __future__ import annotations

import os
import random
import signal
import tempfile
from collections.abc import Callable

import pytest

from leaseq.server.embedded import EmbeddedServer
from tests.faults.judge import judged
from tests.faults.people import RULES, Habits, crowd

HURRIED = Habits(abandons=4, fails=2, walks_away=0.5, renews=2, finishes_twice=2, is_late=0.5, think=0)
EVERY = 4_000  # grants between two kills, in the long form


def test_no_item_is_in_two_hands(
    seed: int, request: pytest.FixtureRequest, measured: Callable[[str], None]
) -> None:
    grants, every = (100_000, EVERY) if request.config.getoption("--soak") else (1_500, 600)
    dice, kills = random.Random(seed), 0
    with (
        tempfile.TemporaryDirectory(prefix="leaseq") as folder,
        EmbeddedServer(folder) as server,
        crowd(server.url, "many", seed, people=24, items=grants, stock=grants, habits=HURRIED) as people,
    ):
        following = 0
        while (following := following + dice.randint(every // 2, every * 3 // 2)) < grants:
            people.wait_for(following, seconds=120)
            assert server.pid is not None
            os.kill(server.pid, signal.SIGKILL)
            server.stop()
            server.start()
            kills += 1
        people.done(seconds=300)
        faults = judged(people.history, RULES, people.queue)
    assert not faults, "\n".join(map(str, faults))
    assert people.grants() >= grants
    assert kills >= grants // every // 2
    measured(f"{people.grants():,} grants, {kills} kills, double live leases: 0")
