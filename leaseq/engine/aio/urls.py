"""The classes of redis.asyncio that clients are made from, and the search for a primary by its sentinels:
like `leaseq.engine.urls`."""

from __future__ import annotations

from random import random
from time import monotonic
from typing import Any

import redis.asyncio
from redis import exceptions as rx
from redis.asyncio.cluster import RedisCluster
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import (
    MasterNotFoundError,
    Sentinel,
    SentinelManagedConnection,
    SentinelManagedSSLConnection,
)

from leaseq.engine.urls import Classes


class SentinelClient(Sentinel):
    """Asks the sentinels in random order; those that have failed to answer are last, the longest ago first.
    redis.asyncio's class moves the sentinel that answered to the front of a list, and concurrent tasks can
    lose others from that list."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)  # type: ignore[no-untyped-call]
        self._failed_at: dict[Any, float] = {}  # sentinel -> when it last did not answer

    async def discover_master(self, service_name: str) -> tuple[str, int]:
        state = await self._state(service_name)
        return state["ip"], state["port"]

    async def replica_count(self, service_name: str) -> int:
        """The number of replicas that the sentinels know, unreachable ones included."""
        return int((await self._state(service_name))["num-slaves"])

    async def _state(self, service_name: str) -> Any:
        """The service's state, from the first sentinel that knows a reachable primary."""
        silent_count = 0
        for sentinel in sorted(self.sentinels, key=lambda s: (self._failed_at.get(s, 0.0), random())):  # noqa: S311
            try:
                masters: Any = await sentinel.sentinel_masters()
            except (rx.ConnectionError, rx.TimeoutError):
                self._failed_at[sentinel] = monotonic()
                silent_count += 1
                continue
            state = masters.get(service_name)
            if state and self.check_master_state(state, service_name):
                return state
        raise MasterNotFoundError(
            f"{silent_count} of {len(self.sentinels)} sentinels did not answer, no other knows a primary"
        )


CLASSES = Classes(
    redis.asyncio.Redis,
    RedisCluster,
    SentinelClient,
    SentinelManagedConnection,
    SentinelManagedSSLConnection,
    Retry,
)
