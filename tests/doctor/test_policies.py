"""What the queues ask of their server, and of which schema they are."""

from __future__ import annotations

import re
from typing import Any

import pytest
import redis

import leaseq
from leaseq.doctor import examine
from leaseq.engine.keys import SCHEMA, Keys
from tests.conformance.topology.servers import primary_and_replicas
from tests.doctor.looking import examined, found, url_of


def test_a_disk_that_is_asked_for_and_not_to_be_had(wrong: redis.Redis) -> None:
    client = leaseq.connect(url_of(wrong))
    for name in ("a", "b"):
        leaseq.Queue(client, name).configure(durable="fsync")
    leaseq.Queue(client, "c").configure()
    assert not found(url_of(wrong))
    wrong.config_set("appendfsync", "everysec")
    said = found(url_of(wrong))
    assert set(said) == {"appendfsync", "durable"}
    assert re.match(
        "error: can't provide the durability that each of the queues a, b requires: durable 'fsync' needs "
        "appendfsync always; .*"
        r"may confirm writes that a power cut loses\. set appendfsync always on the server, "
        "or choose 'server'",
        said["durable"],
    )


def test_a_replica_that_is_asked_for_and_not_to_be_had(wrong: redis.Redis) -> None:
    client = leaseq.connect(url_of(wrong))
    leaseq.Queue(client, "q").configure()
    wrong.hset(Keys("q").ledger, "durable", '"replica"')  # as where the replica was lost since
    policy = leaseq.Queue(leaseq.connect(url_of(wrong)), "q").policy
    assert policy.durable == "replica"
    said = found(url_of(wrong))
    assert re.match(
        "error: can't provide the durability that the queue q requires: durable 'replica' needs a connected "
        "replica",
        said["durable"],
    )


def test_of_two_replicas_one_is_no_majority() -> None:
    with primary_and_replicas(2) as (primary, *_):
        queue = leaseq.Queue(leaseq.connect(url_of(primary)), "q")
        queue.configure(durable="replica")
        assert found(url_of(primary))["durable-replica"] == (
            "warning: has 2 replicas, and the queue q may lose changes that only one of them confirmed, if "
            "the "
            "primary is cut off together with that one (durable 'replica'). "
            "leaseq queue set QUEUE --durable majority, which waits for 2 of them"
        )
        queue.configure(durable="majority")
        assert "durable-replica" not in found(url_of(primary))


def test_a_queue_of_a_newer_schema(wrong: Any) -> None:
    client = leaseq.connect(url_of(wrong))
    leaseq.Queue(client, "old").configure()
    leaseq.Queue(client, "new").configure()
    ledger = Keys("new").ledger
    status = wrong.hget(ledger, "status")
    assert status is not None
    wrong.hset(ledger, mapping={"schema": SCHEMA + 1, "status": f"v{SCHEMA + 1} {status.decode()}"})
    report = examine(client)
    (newer,) = report.findings
    assert (newer.check, newer.level) == ("schema-newer", "error")
    assert (
        f"the queue new with schema {SCHEMA + 1}: this version of leaseq supports schema {SCHEMA}"
        in newer.says
    )
    assert report.schemas == {"old": SCHEMA, "new": SCHEMA + 1}
    assert report.known_schema == SCHEMA


def test_a_queue_with_a_rule_of_a_newer_version(wrong: Any) -> None:
    client = leaseq.connect(url_of(wrong))
    leaseq.Queue(client, "a-new").configure()
    leaseq.Queue(client, "old").configure(durable="fsync")
    wrong.hset(Keys("a-new").ledger, "rules", "a_rule_of_tomorrow=5")
    wrong.config_set("appendfsync", "no")
    listed = found(url_of(wrong))
    assert {"queue-unreadable", "durable"} <= set(listed), "the others are checked all the same"
    assert (
        "error: holds the queue a-new, which this version of leaseq can't read: this queue has the policy "
        "field a_rule_of_tomorrow, which this version of leaseq does not know"
    ) in listed["queue-unreadable"]


@pytest.mark.parametrize(("count", "more"), [(5, ""), (6, " and 1 more"), (8, " and 3 more")])
def test_of_many_queues_a_few_are_named(wrong: redis.Redis, count: int, more: str) -> None:
    client = leaseq.connect(url_of(wrong))
    for number in range(count):
        leaseq.Queue(client, f"q{number}").configure(durable="fsync")
    wrong.config_set("appendfsync", "no")
    assert f"q0, q1, q2, q3, q4{more} requires" in found(url_of(wrong))["durable"]
    assert len(examined(url_of(wrong)).schemas) == count
