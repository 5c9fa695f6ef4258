"""The Redis round trips of finish-and-next: one for the person and today's figures, one for the operation."""

from __future__ import annotations

import pytest

import leaseq
from tests.support.round_trips import count_round_trips
from tests.web.conftest import Browser
from tests.web.work_pages import path, take

ANSWER = {"answer.about": "refund", "answer.urgent": "true", "answer.note": "thanks"}
FRAGMENT = {"X-Leaseq-Fragment": "yes"}


def test_the_next_item_takes_two_round_trips(
    form_queue: leaseq.Queue, worker_browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    form_queue.configure(lease_seconds=600)
    form_queue.enqueue_many({"text": f"Message {n}"} for n in range(6))
    take(form_queue, worker_browser)
    csrf = worker_browser.csrf("/account")
    counts = []
    for _ in range(5):
        (lease,) = form_queue.mine(worker_browser.name)
        fields = {"csrf_token": csrf, "token": str(lease.token), "then": "next", **ANSWER}
        with count_round_trips(monkeypatch) as trips:
            fragment = worker_browser.client.post(
                path(form_queue, "items", lease.id, "finish"), data=fields, headers=FRAGMENT
            )
        assert fragment.status_code == 200
        counts.append(trips.count)
    assert min(counts) <= 2, "the first may load a script, and one per second reads the policy"
