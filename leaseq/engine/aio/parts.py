"""Like `leaseq.engine.parts`: calls the functions in a thread, with a blocking client."""

from __future__ import annotations

import asyncio

from leaseq.engine import parts
from leaseq.engine.aio.client import Client
from leaseq.engine.client import connect


async def delete_related_data(client: Client, queue: str) -> None:
    """Have each part delete what it stores about a queue."""
    await asyncio.to_thread(_forget, client.url, queue)


def _forget(url: str, queue: str) -> None:
    with connect(url) as client:
        parts.delete_related_data(client, queue)
