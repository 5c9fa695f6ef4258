"""How long deliveries are kept."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from leaseq.webhooks.process import Sender
from tests.support.receiver import Receiver
from tests.webhooks.conftest import Hooks, add_hook_with_delivery

HOUR = 3_600


def test_old_failed_deliveries_are_purged_hourly(
    hooks: Hooks, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = add_hook_with_delivery(hooks, receiver)
    receiver.responses.append(500)
    hooks.test(hook.endpoint)
    hooks.clock.tick(31 * 24 * HOUR)
    hooks.deliver(hook.endpoint)
    Sender(hooks.deliverer, 1, threading.Event()).loop.round()
    assert len(hooks.log(hook.endpoint)) == 2
    monkeypatch.setattr("leaseq.webhooks.process._PURGE_SECONDS", -1.0)
    Sender(hooks.deliverer, 1, threading.Event()).loop.round()
    assert [delivery.state for delivery in hooks.log(hook.endpoint)] == ["delivered"]


def test_successful_delivery_is_deleted_after_three_days(hooks: Hooks, receiver: Receiver) -> None:
    hooks.deliver(add_hook_with_delivery(hooks, receiver).endpoint)
    queue = hooks.deliveries.queue
    assert queue.stats().finished == 1
    hooks.clock.tick(3 * 24 * HOUR - 1)
    assert queue.clear().forgotten == 0
    hooks.clock.tick(2)
    assert queue.clear().forgotten == 1


def test_failed_delivery_is_deleted_after_thirty_days(hooks: Hooks, receiver: Receiver) -> None:
    hook: Any = add_hook_with_delivery(hooks, receiver)
    receiver.responses.append(500)
    hooks.test(hook.endpoint)
    hooks.clock.tick(29 * 24 * HOUR)
    hooks.deliver(hook.endpoint)
    hooks.deliveries.forget_dead()
    assert [delivery.state for delivery in hooks.log(hook.endpoint)] == ["delivered", "failed"]
    hooks.clock.tick(2 * 24 * HOUR)
    hooks.finish("b")
    hooks.run(hook.endpoint)
    hooks.deliveries.forget_dead()
    assert "failed" not in [delivery.state for delivery in hooks.log(hook.endpoint)]
