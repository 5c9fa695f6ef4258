"""What finish-and-next asks the server: who it is, with the figures of the day, and the move."""

from __future__ import annotations

import pytest

import leaseq
from tests.support.round_trips import round_trips
from tests.web.conftest import Browser
from tests.web.work_pages import path, take

ANSWER = {"answer.about": "refund", "answer.urgent": "true", "answer.note": "thanks"}
PIECE = {"X-Leaseq-Piece": "yes"}


def test_the_next_item_takes_two_round_trips(
    asking: leaseq.Queue, person: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking.configure(lease_seconds=600)
    asking.enqueue_many({"text": f"Message {n}"} for n in range(6))
    take(asking, person)
    csrf = person.csrf("/account")
    counts = []
    for _ in range(5):
        (lease,) = asking.mine(person.name)
        fields = {"csrf_token": csrf, "token": str(lease.token), "then": "next", **ANSWER}
        with round_trips(monkeypatch) as trips:
            piece = person.client.post(path(asking, "items", lease.id, "finish"), data=fields, headers=PIECE)
        assert piece.status_code == 200
        counts.append(trips.count)
    assert min(counts) <= 2, "the first may load a script, and one a second reads the policy"
