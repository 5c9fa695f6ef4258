"""Anything in any order, on every engine: a little in an ordinary run, and at length with --soak."""

from __future__ import annotations

import hypothesis
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

import leaseq
from tests.conftest import Server
from tests.engine.model.test_state_machine import Machine, disk
from tests.support.booting import Engine

__all__ = ["disk"]


@pytest.mark.parametrize("plain", [True, False], ids=["plain", "people"])
def test_anything_in_any_order(
    request: pytest.FixtureRequest,
    engine: Engine,
    client: leaseq.Client,
    admin: leaseq.Client,
    disk: Server,
    seed: int,
    plain: bool,
) -> None:
    class Here(Machine):
        """What is set here is of this run alone."""

    Here.servers = {"server": Server(engine.url, client, admin), "fsync": disk}
    Here.plain = plain
    run_state_machine_as_test(
        hypothesis.seed(seed)(Here),
        settings=settings(
            max_examples=200 if request.config.getoption("--soak") else 2,
            stateful_step_count=40,
            deadline=None,
            print_blob=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
