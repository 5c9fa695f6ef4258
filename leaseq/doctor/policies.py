"""Checks of the queues in a server: their schema number, and what their policies require of the server."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from redis.cluster import RedisCluster

from leaseq import Client, Invalid, Queue, ServerRefused, queues, read_queues
from leaseq.doctor.checks import Check, Finding
from leaseq.engine.client import connection_of
from leaseq.engine.durability import check, majority_of
from leaseq.engine.keys import SCHEMA, Keys
from leaseq.engine.urls import without_password
from leaseq.policy import Durable
from leaseq.sentences import advice, statement

DURABLE = Check(
    "durable",
    "error",
    "can't provide the durability that {names} requires: {statement}",
    "{advice} (leaseq queue set QUEUE --durable server)",
)
ONE_OF_SEVERAL = Check(
    "durable-replica",
    "warning",
    "has {count} replicas, and {names} may lose changes that only one of them confirmed, if the primary is "
    "cut "
    "off together with that one (durable 'replica')",
    "leaseq queue set QUEUE --durable majority, which waits for {needed} of them",
)
NEWER = Check(
    "schema-newer",
    "error",
    "holds {names} with schema {schema}: this version of leaseq supports schema {known}, and refuses to "
    "change newer ones",
    "install the newer version of leaseq here too: pip install --upgrade leaseq",
)
UNREADABLE = Check(
    "queue-unreadable",
    "error",
    "holds {names}, which this version of leaseq can't read: {problem}",
    "run the version of leaseq that wrote it",
)
PASSED = "the server supports what their policies require"


def schemas(client: Client) -> dict[str, int]:
    """The schema number of each queue."""
    schemas = {name: Queue(client, name).schema for name in queues(client)}
    return {name: schema for name, schema in schemas.items() if schema is not None}


def find_problems(client: Client, schemas: Mapping[str, int]) -> Iterator[Finding]:
    where = without_password(client.url)
    newer: dict[int, list[str]] = defaultdict(list)
    for name, schema in schemas.items():
        if schema > SCHEMA:
            newer[schema].append(name)
    for schema, names in newer.items():
        yield NEWER.finding(where, names=_queue_list(names), schema=schema, known=SCHEMA)
    supported_names = [name for name, schema in schemas.items() if schema <= SCHEMA]
    durables, errors = read_queues(client, lambda queue: queue.policy.durable, supported_names)
    for name, error in errors.items():
        yield UNREADABLE.finding(where, names=_queue_list([name]), problem=error)
    yield from _durability(client, durables)


def _durability(client: Client, durables: Mapping[str, Durable]) -> Iterator[Finding]:
    """Report what the server lacks for the ``durable`` of each queue."""
    requirements: dict[tuple[Durable, str], list[str]] = defaultdict(list)
    for name, durable in durables.items():
        if durable != "server":
            requirements[durable, _server(client, name)].append(name)
    for (durable, server), names in requirements.items():
        key = Keys(names[0]).ledger
        try:
            connection = connection_of(client)
            check(durable, partial(connection.ask, key), partial(connection.replicas, key))
        except Invalid as error:
            facts = {
                "statement": statement(error.rule, error.values),
                "advice": advice(error.rule, error.values),
            }
            yield DURABLE.finding(server, names=_queue_list(names), **facts)
        else:
            count = _replicas(client, key) if durable == "replica" else 0
            if count > 1:
                needed_count = majority_of(count)
                yield ONE_OF_SEVERAL.finding(
                    server, names=_queue_list(names), count=count, needed=needed_count
                )


def _replicas(client: Client, key: str) -> int:
    """The number of replicas; 0 if the user may not read it."""
    try:
        return connection_of(client).replicas(key)
    except ServerRefused:
        return 0


def _server(client: Client, queue: str) -> str:
    """The server that has this queue: in a cluster, one of its nodes."""
    redis: Any = client.redis
    if isinstance(redis, RedisCluster):
        return str(redis.get_node_from_key(Keys(queue).ledger).name)
    return without_password(client.url)


def _queue_list(names: list[str]) -> str:
    text = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return f"the queue {text}" if len(names) == 1 else f"each of the queues {text}"
