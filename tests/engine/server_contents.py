"""Reads a queue without the library: what is really stored in the server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import redis

from leaseq.engine.keys import Keys

SHELVES = ("high:returned", "high", "normal:returned", "normal", "low:returned", "low")


def shelf_keys(keys: Keys) -> list[str]:
    return [keys.inbound if shelf == "normal" else f"{keys.inbound}:{shelf}" for shelf in SHELVES]


def sets(server: redis.Redis, name: str) -> dict[str, list[str]]:
    """Return the ids in each state, in order: inbound by shelf, the others by score."""
    keys = Keys(name)
    others = ("reserved", "scheduled", "finished", "dead")
    pipe = server.pipeline(transaction=True)
    for key in (*shelf_keys(keys), *(getattr(keys, state) for state in others)):
        pipe.zrange(key, 0, -1)
    members = [[id.decode() for id in ids] for ids in pipe.execute()]
    return {
        "inbound": [id for shelf in members[: len(SHELVES)] for id in shelf],
        **dict(zip(others, members[len(SHELVES) :], strict=True)),
    }


def rows(
    server: redis.Redis, name: str, shelves: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], list[str]]:
    """Return the content of these shelves of inbound, each given by its row and its name there."""
    base, pipe, pairs = Keys(name).inbound, server.pipeline(transaction=True), list(shelves)
    for row, shelf in pairs:
        suffix = f":{row}:{shelf}" if row else f":{shelf}"
        pipe.zrange(base if suffix == ":normal" else base + suffix, 0, -1)
    return {pair: [id.decode() for id in ids] for pair, ids in zip(pairs, pipe.execute(), strict=True)}


def scores(server: Any, name: str) -> dict[str, float]:
    """Return the score of each assignment that is waiting on any shelf, or scheduled."""
    keys = Keys(name)
    shelves = list(server.scan_iter(match=f"leaseq:{{{name}}}:inbound*", count=10_000))
    return {
        member.decode(): score
        for key in (*shelves, keys.scheduled)
        for member, score in server.zrange(key, 0, -1, withscores=True)
    }


def hands(server: Any, name: str, person: str) -> list[str]:
    """Return the assignments that a person holds, according to their record."""
    record = server.hget(Keys(name).ledger, f"p:{person}") or b""
    return [id for id in record.decode().split("\t")[1:] if id]


def everything(server: redis.Redis, name: str) -> dict[bytes, object]:
    """Return everything that the server has of a queue, to compare before and after."""
    contents: dict[bytes, object] = {}
    for key in sorted(server.scan_iter(match=f"leaseq:{{{name}}}:*", count=10_000)):
        kind = server.type(key)
        if kind == b"hash":
            contents[key] = dict(sorted(server.hgetall(key).items()))  # a large hash has no order
        elif kind == b"zset":
            contents[key] = server.zrange(key, 0, -1, withscores=True)
        elif kind == b"string":
            contents[key] = server.get(key)
        else:
            contents[key] = server.xrange(key)
    return contents


def naming(server: Any, name: str, person: str) -> set[str]:
    """Return the queue's keys that contain a person's name, in the key or in the content; names of assigned
    rows have another character for a space."""
    spellings = {person.encode(), person.replace(" ", "\a").encode()}
    keys = {
        key
        for key, content in everything(server, name).items()
        if any(one in text for one in spellings for text in (key, *texts(content)))
    }
    return {key.decode().partition("}:")[2] for key in keys}


def texts(content: Any) -> Iterator[bytes]:
    if isinstance(content, dict):
        yield from (text for pair in content.items() for one in pair for text in texts(one))
    elif isinstance(content, list | tuple):
        yield from (text for one in content for text in texts(one))
    else:
        yield content if isinstance(content, bytes) else str(content).encode()
