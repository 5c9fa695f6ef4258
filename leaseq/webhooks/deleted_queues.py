"""What the webhooks have of a queue goes with the queue. The library calls this, by pyproject.toml."""

from __future__ import annotations

from leaseq.engine.client import Client
from leaseq.webhooks.endpoints import Endpoints


def forget_queue(client: Client, queue: str) -> None:
    """Take a queue off the endpoints' lists; disable an endpoint that has no other queue."""
    Endpoints(client).forget_queue(queue)
