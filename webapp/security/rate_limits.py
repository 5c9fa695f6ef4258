"""Rate limits on REST: how many requests a person's tokens may send, counted with the library ``limits``.

The requests are counted in the server, across all web processes. If no limit is set, none of this runs.
"""

from __future__ import annotations

import math
import time
from typing import Any

from flask import Flask, Response, g
from limits import RateLimitItem
from limits.storage import RedisClusterStorage, RedisStorage
from limits.strategies import FixedWindowRateLimiter
from redis.cluster import RedisCluster

import leaseq
from leaseq.webapp.serving.problem import Problem
from leaseq.webapp.store.hooks import PREFIX


def init_rate_limits(app: Flask, client: leaseq.Client, limit: RateLimitItem | None) -> None:
    """Refuse a person's requests over the limit with 429, and send in ``RateLimit-*`` what is left."""
    if limit is None:
        return
    limits = _RateLimits(client, limit)
    app.before_request(limits.count)
    app.after_request(limits.add_headers)


class _RateLimits:
    def __init__(self, client: leaseq.Client, limit: RateLimitItem) -> None:
        self._client, self._limit = client, limit
        self._limiter: FixedWindowRateLimiter | None = None

    def count(self) -> None:
        """Count the request for the token's person. Raises Problem if it exceeds the limit."""
        if "token" not in g:
            return
        with self._client.translating():
            if self._limiter is None:
                self._limiter = FixedWindowRateLimiter(_storage(self._client))
            has_room = self._limiter.hit(self._limit, g.person.name)
            reset_at, remaining = self._limiter.get_window_stats(self._limit, g.person.name)
        seconds = max(math.ceil(reset_at - time.time()), 1)
        g.rate_limit = {
            "RateLimit-Limit": str(self._limit.amount),
            "RateLimit-Remaining": str(remaining),
            "RateLimit-Reset": str(seconds),
        }
        if not has_room:
            problem = Problem.of(
                429, "too-many-requests", "too_many", what="requests", limit=str(self._limit), seconds=seconds
            )
            problem.headers["Retry-After"] = str(seconds)
            raise problem

    def add_headers(self, response: Response) -> Response:
        response.headers.update(g.get("rate_limit", {}))
        return response


def _storage(client: leaseq.Client) -> RedisStorage:
    """Storage on the client's own connections, or for a cluster on separate ones."""
    redis: Any = client.redis
    if not isinstance(redis, RedisCluster):
        return RedisStorage("redis://", connection_pool=redis.connection_pool, key_prefix=PREFIX)
    nodes = ",".join(f"{node.host}:{node.port}" for node in redis.get_nodes())
    return RedisClusterStorage(f"redis+cluster://{nodes}", key_prefix=PREFIX, **redis.get_connection_kwargs())
