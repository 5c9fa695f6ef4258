"""Random sequences of operations on every engine: a few in an ordinary run, many with --soak."""

from __future__ import annotations

import hypothesis
import pytest

import leaseq
from tests.conftest import Server
from tests.engine.model.test_state_machine import Machine, disk
from tests.support.engines import Engine
from tests.support.state_machines import run_machine

__all__ = ["disk"]


@pytest.mark.parametrize("plain", [True, False], ids=["plain", "people"])
def test_random_operations_match_the_model(
    request: pytest.FixtureRequest,
    engine: Engine,
    client: leaseq.Client,
    admin: leaseq.Client,
    disk: Server,
    seed: int,
    plain: bool,
) -> None:
    class EngineMachine(Machine):
        """A subclass, so that attributes set here apply to this run only."""

    EngineMachine.servers = {"server": Server(engine.url, client, admin), "fsync": disk}
    EngineMachine.plain = plain
    run_machine(
        hypothesis.seed(seed)(EngineMachine),
        examples=200 if request.config.getoption("--soak") else 2,
        steps=40,
    )
