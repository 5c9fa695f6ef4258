"""The baseline of the benchmarks: the least that a work queue with reservations can do.

The three-line reserve script and the ZREM of the article "Building a Work Queue With Redis and Lua",
called by redis-py's own methods: no tokens, no holders, no journal, no server time, no payload.
"""

from __future__ import annotations

import time

import redis

INBOUND, RESERVED = "floor:inbound", "floor:reserved"
RESERVE = """
local item = redis.call('ZRANGE', KEYS[1], 0, 0)
redis.call('ZADD', KEYS[2], ARGV[1], item[1])
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, 0)
return item[1]
"""


def fill(server: redis.Redis, count: int) -> None:
    server.delete(INBOUND, RESERVED)
    for start in range(0, count, 1000):
        server.zadd(INBOUND, {f"{n:022x}": n for n in range(start, min(start + 1000, count))})


def command(server: redis.Redis) -> tuple[str, ...]:
    """The command of a reserve, without its last argument, the score."""
    return ("EVALSHA", server.script_load(RESERVE), "2", INBOUND, RESERVED)


def cycles(server: redis.Redis, count: int) -> float:
    """Seconds for ``count`` cycles of reserve and finish."""
    sha = server.script_load(RESERVE)
    started = time.perf_counter()
    for n in range(count):
        item = server.evalsha(sha, 2, INBOUND, RESERVED, n)
        server.zrem(RESERVED, item)
    return time.perf_counter() - started
