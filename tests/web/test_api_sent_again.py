"""Each POST of REST may be sent again after a lost reply: the same status, and it counts once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import leaseq

from .api_calls import ANSWER, CALLS, everything, reserve
from .conftest import Caller

KEY = {"Idempotency-Key": "the same again"}


def held(queue: leaseq.Queue, worker: Caller, manager: Caller) -> int:
    queue.enqueue({"text": "another"}, id="other")
    return int(reserve(queue, worker)["token"])


def waiting(queue: leaseq.Queue, worker: Caller, manager: Caller) -> int:
    return 1


def dead(queue: leaseq.Queue, worker: Caller, manager: Caller) -> int:
    queue.configure(max_attempts=1)
    lease = queue.reserve(worker.name)
    queue.fail(lease, "unreadable")
    return lease.token


def answered_late(queue: leaseq.Queue, worker: Caller, manager: Caller) -> int:
    lease = queue.reserve(worker.name)
    queue.release("one")
    queue.reserve(manager.name)
    with pytest.raises(leaseq.LeaseLost):
        queue.finish(lease, ANSWER)
    return lease.token


def paused(queue: leaseq.Queue, worker: Caller, manager: Caller) -> int:
    queue.pause("lunch")
    return 1


BEFORE: dict[str, Callable[[leaseq.Queue, Caller, Caller], int]] = {
    "put item": waiting,
    "reserve": waiting,
    "finish": held,
    "abandon": held,
    "fail": held,
    "renew": held,
    "adopt": answered_late,
    "revive": dead,
    "revive all": dead,
    "release": held,
    "assign": waiting,
    "clear": held,
    "pause": waiting,
    "resume": paused,
}


def test_every_post_is_in_the_table() -> None:
    assert set(BEFORE) == {name for name, (_, method, _, _) in CALLS.items() if method == "POST"}


@pytest.mark.parametrize("name", BEFORE)
def test_a_post_sent_twice_acts_once(
    asking: leaseq.Queue, worker: Caller, manager: Caller, name: str
) -> None:
    role, method, path, good = CALLS[name]
    asking.configure(holds=2, lease_seconds=600)
    token = BEFORE[name](asking, worker, manager)
    body = {**good, **({"token": token} if "token" in good else {})}
    if name == "finish":
        body |= {"result": ANSWER, "then_reserve": True}
    if name == "assign":
        body = {"person": worker.name}
    caller = worker if role == "worker" else manager

    def send() -> Any:
        return caller(method, path.format(q=asking.name), json=body, headers=KEY)

    first = send()
    assert first.status_code < 300, first.text
    once = everything(asking)
    again = send()
    assert again.status_code == first.status_code, again.text
    assert everything(asking) == once
    if name == "revive all":
        assert (first.json["revived"], again.json["revived"]) == (1, 0)
    elif name not in ("put item", "finish"):  # which say that they were there before
        assert again.json == first.json
