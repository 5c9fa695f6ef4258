"""The rights of those who added webhook endpoints, asked before each delivery.

The web app keeps the accounts, and answers through an entry point. Its stores need none of its packages, so
they answer in a process of the library alone, too. Where nobody answers, nothing is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from typing import Any, TypeAlias

from leaseq.engine.client import Client
from leaseq.errors import LeaseqError
from leaseq.webhooks.endpoints import Endpoint

GROUP = "leaseq.webhook_makers"
Question: TypeAlias = Callable[[Client, str, str, str | None], str | None]
"""Why this person may not see a webhook of this type and queue; None if they may."""


def questions() -> Sequence[Question]:
    """What is asked before each delivery. Raises LeaseqError if that can't be asked in this process."""
    try:
        loaded = [entry.load() for entry in entry_points(group=GROUP)]
    except ImportError as error:
        raise _cannot_ask(str(error)) from error
    if not loaded:
        raise _cannot_ask(f"no package with the entry point {GROUP}")
    return loaded


def why_not_sent(
    questions: Sequence[Question], client: Client, endpoint: Endpoint, content: Any
) -> str | None:
    """Why the person who added the endpoint, or enabled it last, may not see this webhook; None if they
    may."""
    queue = content["data"].get("queue")
    answers = (ask(client, endpoint.created_by, content["type"], queue) for ask in questions)
    return next((reason for reason in answers if reason), None)


def _cannot_ask(reason: str) -> LeaseqError:
    return LeaseqError(
        "nothing is sent, since nobody can say whether those who added the webhooks may still see it: "
        f"expected an installed leaseq with its accounts, got {reason}; install leaseq again"
    )
