"""The rights of those who added webhook endpoints, asked before each delivery.

The web app keeps the accounts, and answers through an entry point.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib.metadata import entry_points
from typing import Any, TypeAlias

from leaseq.engine.client import Client
from leaseq.webhooks.endpoints import Endpoint

GROUP = "leaseq.webhook_makers"
_Question: TypeAlias = Callable[[Client, str, str, str | None], str | None]


def why_not_sent(client: Client, endpoint: Endpoint, content: Any) -> str | None:
    """Why the person who added the endpoint, or enabled it last, may not see this webhook; None if they
    may."""
    queue = content["data"].get("queue")
    answers = (ask(client, endpoint.created_by, content["type"], queue) for ask in _questions())
    return next((reason for reason in answers if reason), None)


@lru_cache(maxsize=1)
def _questions() -> list[_Question]:
    questions: list[_Question] = []
    for entry in entry_points(group=GROUP):
        try:
            questions.append(entry.load())
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] == "leaseq":
                raise
    return questions
