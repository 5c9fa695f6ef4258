"""Queue objects within web requests, and their cached policy."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

import leaseq
from leaseq.webapp import context
from leaseq.webapp.context import QueueOfRequest, SharedQueue
from tests.conftest import Server
from tests.support.leases import not_none
from tests.support.waiting import TIMEOUT


def form_with(kind: str) -> dict[str, object]:
    return {"ask": {"type": "object", "properties": {"about": {"type": kind}}}}


@pytest.fixture(params=[QueueOfRequest, SharedQueue])
def view(request: pytest.FixtureRequest, server: Server, queue: leaseq.Queue) -> leaseq.Queue:
    queue.configure(form=form_with("string"))
    queue.enqueue({})
    queue_class: Callable[..., leaseq.Queue] = request.param
    return queue_class(server.client, queue.name)


def test_finish_validates_against_form_changed_during_request(
    view: leaseq.Queue, queue: leaseq.Queue
) -> None:
    """The view has read the policy when a manager saves another form, before the finish."""
    lease = not_none(view.reserve("ann"))
    assert view.policy.form == form_with("string")
    queue.configure(form=form_with("integer"))
    errors: list[leaseq.Invalid] = []

    def finish() -> None:
        with pytest.raises(leaseq.Invalid) as error:
            view.finish(lease, {"about": "refund"})
        errors.append(error.value)

    thread = threading.Thread(target=finish, daemon=True)
    thread.start()
    thread.join(TIMEOUT)
    assert [error.field for error in errors] == ["result"]
    assert view.finish(lease, {"about": 7}).id == lease.id


def test_the_policy_of_a_shared_queue_is_read_again_after_a_second(
    server: Server, queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(context, "monotonic", lambda: now[0])
    queue.configure(title="Before")
    view = SharedQueue(server.client, queue.name)
    assert view.policy.title == "Before"
    queue.configure(title="After")
    now[0] += context.FRESH_SECONDS - 0.01
    assert view.policy.title == "Before"
    now[0] += 0.01
    assert view.policy.title == "After"


def test_policy_of_missing_shared_queue_raises_queue_not_found(server: Server, queue_name: str) -> None:
    with pytest.raises(leaseq.QueueNotFound):
        _ = SharedQueue(server.client, queue_name).policy
