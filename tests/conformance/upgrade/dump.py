"""Dumps a server's keys to lines of JSON, and loads them by plain commands: RESTORE accepts no payload of
another version."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, cast

A_DAY = 86_400_000
_ENTRIES = "return redis.call('XRANGE', KEYS[1], '-', '+')"


def lines(server: Any) -> Iterator[str]:
    """Yield a line for each key: its name, its type, its content, and whether it expires."""
    for key in sorted(server.scan_iter(count=10_000)):
        kind = server.type(key).decode()
        record = {"key": key.decode(), "type": kind, "content": _CONTENT[kind](server, key)}
        if server.pttl(key) > 0:
            record["expires"] = True
        yield json.dumps(record, ensure_ascii=False, sort_keys=True)


def load(server: Any, texts: Iterable[str]) -> None:
    """Load the keys; those that expire get a day."""
    for text in texts:
        record = json.loads(text)
        _LOAD[record["type"]](server, record["key"], record["content"])
        if "expires" in record:
            server.pexpire(record["key"], A_DAY)


def _stream(server: Any, key: bytes) -> dict[str, Any]:
    raw_entries = cast("Any", server.eval(_ENTRIES, 1, key))  # fields are ordered, and may repeat
    entries = [[id.decode(), [word.decode() for word in words]] for id, words in raw_entries]
    return {"entries": entries, "groups": [_group(server, key, one) for one in server.xinfo_groups(key)]}


def _group(server: Any, key: bytes, group: dict[str, Any]) -> dict[str, Any]:
    entries = server.xpending_range(key, group["name"], "-", "+", 1_000)
    return {
        "name": group["name"].decode(),
        "delivered": group["last-delivered-id"].decode(),
        "pending": [[one["message_id"].decode(), one["consumer"].decode()] for one in entries],
    }


def _texts(fields: dict[bytes, bytes]) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in fields.items()}


def _load_stream(server: Any, key: str, content: dict[str, Any]) -> None:
    for id, fields in content["entries"]:
        server.execute_command("XADD", key, id, *fields)
    for group in content["groups"]:
        server.xgroup_create(key, group["name"], id=group["delivered"])
        for id, consumer in group["pending"]:
            server.xclaim(key, group["name"], consumer, 0, [id], force=True)


_CONTENT: dict[str, Any] = {
    "string": lambda server, key: server.get(key).decode(),
    "hash": lambda server, key: dict(sorted(_texts(server.hgetall(key)).items())),
    "list": lambda server, key: [member.decode() for member in server.lrange(key, 0, -1)],
    "set": lambda server, key: sorted(member.decode() for member in server.smembers(key)),
    "zset": lambda server, key: [
        [member.decode(), score] for member, score in server.zrange(key, 0, -1, withscores=True)
    ],
    "stream": _stream,
}
_LOAD: dict[str, Any] = {
    "string": lambda server, key, text: server.set(key, text),
    "hash": lambda server, key, fields: server.hset(key, mapping=fields),
    "list": lambda server, key, members: server.rpush(key, *members),
    "set": lambda server, key, members: server.sadd(key, *members),
    "zset": lambda server, key, pairs: server.zadd(key, dict(pairs)),
    "stream": _load_stream,
}
