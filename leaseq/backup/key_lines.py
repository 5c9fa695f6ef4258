"""The lines for keys that don't belong to queues: people, tokens, threads and so on, as listed in
``stored_keys``."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import chain
from typing import Any

from leaseq.backup.file import Line, Writer
from leaseq.backup.stored_keys import BackupFailed, Registry, StoredKeys, registry, require_same_server
from leaseq.engine.client import Client, connection_of
from leaseq.engine.keys import NO_QUEUES
from leaseq.engine.transport import Command

_SCAN_COUNT = 1_000  # keys per step of a scan
_ENTRIES = 500  # entries per line


def write_keys(client: Client, writer: Writer) -> None:
    key_registry = registry()
    _refuse_unknown(client, key_registry)
    for tag in key_registry.tags:
        with require_same_server(client, tag):
            for key in _scan(client, tag, f"{tag}*"):
                if isinstance(kind := key_registry.find(key), StoredKeys):
                    _write(client, key, kind, writer)


def _refuse_unknown(client: Client, key_registry: Registry) -> None:
    with client.translating():
        for name in client.redis.scan_iter(match=f"{NO_QUEUES}*", count=_SCAN_COUNT):
            key = name.decode() if isinstance(name, bytes) else name
            if key_registry.find(key) is None:
                raise BackupFailed(f"the server has the key {key}, which {key_registry.unknown_problem}")


def _scan(client: Client, tag: str, pattern: str) -> Iterator[str]:
    """Yield the keys that match, in the server that has the keys with this tag."""
    cursor = 0
    while True:
        with client.translating():
            cursor, names = connection_of(client).scan(tag, cursor, pattern, _SCAN_COUNT)
        yield from (name.decode() for name in names)
        if cursor == 0:
            return


def _write(client: Client, key: str, kind: StoredKeys, writer: Writer) -> None:
    seconds_left = int(_ask(client, key, "TTL"))
    expires_at = round(time.time()) + seconds_left if seconds_left >= 0 else None
    part = 0
    for values in _values(client, key, kind.type):
        if values:
            part += 1
            line = {"key": key, "type": kind.type, "part": part, "expires_at": expires_at, "values": values}
            writer.write(line, kind.entries)


def _values(client: Client, key: str, type: str) -> Iterator[Any]:
    """Yield a key's content, in parts of bounded size for types that may grow large."""
    if type == "hash":
        cursor = "0"
        while True:
            next_cursor, values = _ask(client, key, "HSCAN", cursor, "COUNT", str(_ENTRIES))
            yield {field.decode(): value.decode() for field, value in values.items()}
            cursor = str(int(next_cursor))
            if cursor == "0":
                return
    elif type == "stream":
        after = "-"
        while entries := _ask(client, key, "XRANGE", after, "+", "COUNT", str(_ENTRIES)):
            yield [
                [word.decode() for word in (id, *chain.from_iterable(fields.items()))]
                for id, fields in entries
            ]
            after = f"({entries[-1][0].decode()}"
    elif type == "zset":
        yield dict(_pairs(_ask(client, key, "ZRANGE", "0", "-1", "WITHSCORES")))
    elif type == "string":
        text = _ask(client, key, "GET")
        yield text.decode() if text else None
    else:
        members = _ask(client, key, "SMEMBERS") if type == "set" else _ask(client, key, "LRANGE", "0", "-1")
        yield [member.decode() for member in members]


def _ask(client: Client, key: str, command: str, *words: str) -> Any:
    with client.translating():
        return connection_of(client).ask(key, command, key, *words)


def _pairs(reply: list[Any]) -> Iterator[tuple[str, float]]:
    """Yield members with their scores: the reply is a flat list in RESP 2, a list of pairs in RESP 3."""
    flat = [part for pair in reply for part in (pair if isinstance(pair, (list, tuple)) else (pair,))]
    for member, score in zip(flat[::2], flat[1::2], strict=True):
        yield member.decode(), float(score)


def load_key(client: Client, line: Line) -> None:
    """Restore a part of a key; the first part replaces the key if it exists."""
    key, values = line["key"], line["values"]
    seconds_left = None if line["expires_at"] is None else line["expires_at"] - round(time.time())
    if seconds_left is not None and seconds_left <= 0:
        return
    unlink_commands: list[Command] = [("UNLINK", key)] if line["part"] == 1 else []
    commands: list[Command]
    if line["type"] == "stream":
        commands = [("XADD", key, *entry) for entry in values]
    elif line["type"] == "string":
        commands = [("SET", key, values)]
    elif line["type"] == "zset":
        scores = ((repr(score), member) for member, score in values.items())
        commands = [("ZADD", key, *(word for pair in scores for word in pair))]
    elif line["type"] == "hash":
        commands = [("HSET", key, *(word for pair in values.items() for word in pair))]
    else:
        commands = [("SADD" if line["type"] == "set" else "RPUSH", key, *values)]
    expire_commands: list[Command] = [] if seconds_left is None else [("EXPIRE", key, seconds_left)]
    client.ask(*unlink_commands, *commands, *expire_commands)
