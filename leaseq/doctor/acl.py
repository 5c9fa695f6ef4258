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
    "smembers",
    "subscribe",
    "unsubscribe",
    "wait",
    "waitaof",
)
"""What the library sends. HELLO and AUTH need no rule."""

SCRIPTS = (
    "time",
    "exists",
    "expire",
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
    "xpending",
    "publish",
)
"""What the scripts under lua/ call."""

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
    "multi",
    "exec",
)
"""What the pages and REST send besides, for accounts, sessions, limits, days and what was sent before."""

CLUSTER = ("cluster|slots", "command", "readonly")
"""What redis-py sends besides to the nodes of a cluster."""

SENTINEL = ("sentinel|masters",)
"""What a sentinel must allow: where the primary is."""

SENTINEL_DOCTOR = ("sentinel|master", "sentinel|slaves", "sentinel|ckquorum")
"""What the doctor asks a sentinel besides."""

DOCTOR = (
    "info",
    "config|get",
    "acl|whoami",
    "acl|dryrun",
    "cluster|info",
)
"""What `leaseq doctor` looks with, besides. Where it may not, it says what it could not see."""

_NEWER = {"waitaof"}
"""Redis 7.0 doesn't have them: there a user is made without, and durable 'fsync' is not to be had."""

PATTERNS = ("~leaseq:*", "resetchannels", "&leaseq:*")


def rules(*needs: Iterable[str], password: str, newer: bool = True) -> list[str]:
    """The rules for ``ACL SETUSER name`` that allow what leaseq needs and nothing else.

    ``newer=False``: for a server that lacks the newest commands.
    """
    wanted = dict.fromkeys(need for some in needs for need in some if newer or need not in _NEWER)
    return ["reset", "on", f">{password}", *PATTERNS, "-@all", *allowing(wanted)]


def allowing(needs: Iterable[str]) -> list[str]:
    return [f"+{need}" for need in needs]


def dispensable(need: str) -> bool:
    """Whether leaseq can do without the command on a server that lacks it."""
    return need in _NEWER
