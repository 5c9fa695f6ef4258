"""The commands and keys that an ACL user of leaseq needs: one list for the doctor, docs/acl.md and the tests.

One test compares it with the commands in the scripts' text, another with what the web app sends.
"""

from __future__ import annotations

from collections.abc import Iterable

CLIENT = (
    "ping",
    "client|setname",
    "evalsha",
    "script|load",
    "sadd",
    "srem",
    "smembers",
    "scan",
    "xdel",
    "subscribe",
    "unsubscribe",
    "wait",
    "waitaof",
)
"""Commands of the library. HELLO and AUTH need no rule."""

SCRIPTS = (
    "time",
    "exists",
    "expire",
    "unlink",
    "set",
    "mget",
    "hget",
    "hmget",
    "hgetall",
    "hset",
    "hdel",
    "hexists",
    "hlen",
    "hincrby",
    "hscan",
    "zadd",
    "zrem",
    "zrange",
    "zrangebyscore",
    "zcard",
    "zcount",
    "zscore",
    "zrank",
    "xadd",
    "xtrim",
    "xrange",
    "xrevrange",
    "xlen",
    "xinfo|groups",
    "xgroup|create",
    "xgroup|setid",
    "xgroup|destroy",
    "xpending",
    "publish",
)
"""Commands in the scripts under lua/."""

LIBRARY = CLIENT + SCRIPTS

PAGES = (
    "get",
    "del",
    "ttl",
    "incrby",
    "decrby",
    "hsetnx",
    "hkeys",
    "hvals",
    "lpush",
    "rpush",
    "lrange",
    "ltrim",
    "zremrangebyrank",
    "zrevrangebyscore",
    "watch",
    "unwatch",
    "rename",
    "multi",
    "exec",
)
"""Further commands of the web app, for accounts, sessions, rate limits, activity and idempotency."""

METRICS = ("info",)
"""A further command of ``/metrics``, for the server's memory and clients: only these are missing without it.
"""

CLUSTER = ("cluster|slots", "command", "readonly")
"""Further commands that redis-py sends to the nodes of a cluster."""

SENTINEL = ("sentinel|masters",)
"""Commands that are sent to a sentinel, to find the primary."""

SENTINEL_DOCTOR = ("sentinel|master", "sentinel|slaves", "sentinel|ckquorum")
"""Further commands that the doctor sends to a sentinel."""

DOCTOR = (
    "info",
    "config|get",
    "acl|whoami",
    "acl|dryrun",
    "cluster|info",
)
"""Further commands of `leaseq doctor`. Without the right to one, it reports what it could not check."""

_NEWER = {"waitaof"}
"""Redis 7.0 lacks them: its users are created without them, and durable 'fsync' is not available."""

PATTERNS = ("~leaseq:*", "resetchannels", "&leaseq:*")


def rules(*needs: Iterable[str], password: str, newer: bool = True) -> list[str]:
    """The rules for ``ACL SETUSER name`` that allow what leaseq needs and nothing else.

    ``newer=False``: for a server that lacks the newest commands.
    """
    commands = dict.fromkeys(need for group in needs for need in group if newer or need not in _NEWER)
    return ["reset", "on", f">{password}", *PATTERNS, "-@all", *allow_rules(commands)]


def allow_rules(needs: Iterable[str]) -> list[str]:
    return [f"+{need}" for need in needs]


def is_dispensable(need: str) -> bool:
    """Whether leaseq can do without the command on a server that lacks it."""
    return need in _NEWER
