"""Removes a deleted queue from the webhooks. The library calls this through an entry point."""

from __future__ import annotations

from leaseq.engine.client import Client
from leaseq.webhooks.endpoints import Endpoints


def forget_queue(client: Client, queue: str) -> None:
    """Remove a queue from the endpoints' lists; disable an endpoint whose only queue it is."""
    Endpoints(client).forget_queue(queue)
