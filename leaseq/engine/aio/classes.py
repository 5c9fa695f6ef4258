"""The classes of redis.asyncio that clients are made from."""

from __future__ import annotations

import redis.asyncio
from redis.asyncio.cluster import RedisCluster
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import SentinelManagedConnection, SentinelManagedSSLConnection

from leaseq.engine.aio.sentinel import SentinelClient
from leaseq.engine.urls import Classes

CLASSES = Classes(
    redis.asyncio.Redis,
    RedisCluster,
    SentinelClient,
    SentinelManagedConnection,
    SentinelManagedSSLConnection,
    Retry,
)
