"""How long deliveries are kept."""

from __future__ import annotations

from typing import Any

import pytest

from leaseq.webhooks.runner import Hourly
from tests.support.receiver import Receiver
from tests.webhooks.conftest import Hooks, with_one_waiting

HOUR = 3_600


def test_old_failures_are_looked_for_by_the_hour(
    hooks: Hooks, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = with_one_waiting(hooks, receiver)
    receiver.answers.append(500)
    hooks.deliverer.test(made.endpoint.id)
    hooks.clock.tick(31 * 24 * HOUR)
    hooks.deliver(made.endpoint)
    Hourly(hooks.deliverer)()
    assert len(hooks.log(made.endpoint)) == 2
    monkeypatch.setattr("leaseq.webhooks.runner._TIDY", -1.0)
    Hourly(hooks.deliverer)()
    assert [one.state for one in hooks.log(made.endpoint)] == ["delivered"]


def test_what_was_delivered_is_forgotten_after_three_days(hooks: Hooks, receiver: Receiver) -> None:
    hooks.deliver(with_one_waiting(hooks, receiver).endpoint)
    queue = hooks.deliveries.queue
    assert queue.stats().finished == 1
    hooks.clock.tick(3 * 24 * HOUR - 1)
    assert queue.clear().forgotten == 0
    hooks.clock.tick(2)
    assert queue.clear().forgotten == 1


def test_old_failures_are_forgotten(hooks: Hooks, receiver: Receiver) -> None:
    made: Any = with_one_waiting(hooks, receiver)
    receiver.answers.append(500)
    hooks.deliverer.test(made.endpoint.id)
    hooks.clock.tick(29 * 24 * HOUR)
    hooks.deliver(made.endpoint)
    hooks.deliveries.forget_dead()
    assert [one.state for one in hooks.log(made.endpoint)] == ["delivered", "failed"]
    hooks.clock.tick(2 * 24 * HOUR)
    hooks.finish("b")
    hooks.run(made.endpoint)
    hooks.deliveries.forget_dead()
    assert "failed" not in [one.state for one in hooks.log(made.endpoint)]
