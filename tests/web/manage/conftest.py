"""Fixtures for tests of the manager's pages."""

from __future__ import annotations

import re
from typing import Any

import pytest

import leaseq
from tests.support.leases import take


@pytest.fixture
def base(queue: leaseq.Queue) -> str:
    queue.configure()
    return f"/manage/{queue.name}/import"


ASK: dict[str, Any] = {
    "type": "object",
    "properties": {
        "about": {"title": "What is it about?", "enum": ["Delivery", "Refund"]},
        "rating": {"title": "Rating", "type": "integer"},
        "tags": {"type": "array", "items": {"enum": ["angry", "polite"]}},
    },
}
ANSWERS: dict[str, Any] = {
    "a": {"about": "Refund", "rating": 1, "tags": ["angry"]},
    "b": {"about": "Refund", "rating": 5, "tags": []},
    "c": {"about": "Delivery", "rating": 2, "tags": ["angry", "polite"]},
}
TEXTS = {
    "a": "I paid twice",
    "b": "Where is my Parcel?",
    "c": "The parcel is broken, see https://x.example/1",
}


@pytest.fixture
def answered_letters(queue: leaseq.Queue) -> leaseq.Queue:
    queue.configure(title="Letters", form={"show": [{"field": "text", "label": "Letter"}], "ask": ASK})
    for id, answer in ANSWERS.items():
        queue.enqueue({"text": TEXTS[id], "order": {"by": "Post" if id == "a" else "ship"}}, id=id)
        queue.finish(take(queue, "ann"), answer)
    return queue


def url(queue: leaseq.Queue, *rest: str) -> str:
    return "/".join(("/manage", queue.name, *rest))


def ids(page: str) -> set[str]:
    return set(re.findall(r'name="id" value="([^"]+)"', page))
