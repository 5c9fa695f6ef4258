"""Checks of stored names: earlier versions accepted some that programs can take for another path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from leaseq import Client, Invalid, queues, validation
from leaseq.backup.stored_keys import registry
from leaseq.doctor.checks import Check, Finding
from leaseq.engine.keys import QUEUES, STATUS, Keys

_PAGE = 1_000
_PAGES = 100  # of each queue's items
_SHOWN = 5

QUEUE = Check(
    "queue-name",
    "names",
    "error",
    "holds {names}, which no URL can contain: it is in no list and no backup",
    "rename its keys (RENAME, docs/inspecting.md), and its name in the set " + QUEUES,
)
PERSON = Check(
    "person-name",
    "names",
    "warning",
    "holds {names}: a program that puts this name into a path without escaping it reaches another page",
    "leaseq person erase NAME, once they have an account under another name",
)
ITEM = Check(
    "item-id",
    "names",
    "warning",
    "holds {names}: a program that puts this id into a path without escaping it reaches another item",
    "escape ids in paths (docs/rest.md); new ids like this are refused",
)
CHECKS = (QUEUE, PERSON, ITEM)
PASSED = "no name or id can be taken for another path"


def find_problems(client: Client, where: str) -> Iterator[Finding]:
    redis: Any = client.redis
    with client.translating():
        lost_queues = [name for name in _members(redis, QUEUES) if _is_lost_queue(redis, name)]
        people_keys = [kind.pattern for kind in registry().entries if kind.entries == "people"]
        people = [name for key in people_keys for name in _fields(redis, key, "*")]
        ids = {queue: list(_fields(redis, Keys(queue).items, "*..*")) for queue in queues(client)}
    if lost_queues:
        yield QUEUE.finding(where, names=_list("queue", lost_queues))
    if unsafe_people := [name for name in people if _is_refused(validation.new_person_name, name)]:
        yield PERSON.finding(where, names=_list("person", unsafe_people))
    for queue, queue_ids in ids.items():
        if unsafe_ids := [id for id in queue_ids if _is_refused(validation.new_item_id, id)]:
            yield ITEM.finding(where, names=f"in the queue {queue} {_list('item', unsafe_ids)}")


def _is_lost_queue(redis: Any, name: str) -> bool:
    return validation.is_dot_segment(name) and bool(redis.hexists(Keys(name).ledger, STATUS))


def _is_refused(check: Callable[[str], str], name: str) -> bool:
    try:
        check(name)
    except Invalid:
        return True
    return False


def _members(redis: Any, key: str) -> list[str]:
    return sorted(map(bytes.decode, redis.smembers(key)))


def _fields(redis: Any, key: str, pattern: str) -> Iterator[str]:
    """The matching fields of a hash, from at most _PAGES pages of it."""
    cursor = 0
    for _ in range(_PAGES):
        cursor, page = redis.hscan(key, cursor, match=pattern, count=_PAGE)
        yield from map(bytes.decode, page)
        if not int(cursor):
            return


def _list(kind: str, names: Iterable[str]) -> str:
    """The first few names, such as ``the person 'a/b' and 3 more``."""
    names = sorted(set(names))
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return f"the {kind} {', '.join(map(repr, names[:_SHOWN]))}{more}"
