"""What the queues require of their server, and their schemas."""

from __future__ import annotations

import re
from typing import Any

import pytest
import redis

import leaseq
from leaseq.doctor import examine
from leaseq.engine.keys import SCHEMA, Keys
from tests.conformance.topology.servers import primary_and_replicas
from tests.doctor.reports import findings_of, report_of, url_of


def test_fsync_durability_without_appendfsync_always_is_error(scratch_server: redis.Redis) -> None:
    client = leaseq.connect(url_of(scratch_server))
    for name in ("a", "b"):
        leaseq.Queue(client, name).configure(durable="fsync")
    leaseq.Queue(client, "c").configure()
    assert not findings_of(url_of(scratch_server))
    scratch_server.config_set("appendfsync", "everysec")
    findings = findings_of(url_of(scratch_server))
    assert set(findings) == {"appendfsync", "durable"}
    assert re.match(
        "error: can't provide the durability that each of the queues a, b requires: expected a server with "
        "appendfsync always, .*"
        r"may confirm writes that a power cut loses\. set appendfsync always on the server, "
        "or choose 'server'",
        findings["durable"],
    )


def test_replica_durability_without_replica_is_error(scratch_server: redis.Redis) -> None:
    client = leaseq.connect(url_of(scratch_server))
    leaseq.Queue(client, "q").configure()
    scratch_server.hset(Keys("q").ledger, "durable", '"replica"')  # as if the replica was lost since then
    policy = leaseq.Queue(leaseq.connect(url_of(scratch_server)), "q").policy
    assert policy.durable == "replica"
    findings = findings_of(url_of(scratch_server))
    assert re.match(
        "error: can't provide the durability that the queue q requires: expected a server with a "
        "connected replica",
        findings["durable"],
    )


def test_replica_durability_with_two_replicas_is_warning() -> None:
    with primary_and_replicas(2) as (primary, *_):
        queue = leaseq.Queue(leaseq.connect(url_of(primary)), "q")
        queue.configure(durable="replica")
        assert findings_of(url_of(primary))["durable-replica"] == (
            "warning: has 2 replicas, and the queue q may lose changes that only one of them confirmed, if "
            "the "
            "primary is cut off together with that one (durable 'replica'). "
            "leaseq queue set QUEUE --durable majority, which waits for 2 of them"
        )
        queue.configure(durable="majority")
        assert "durable-replica" not in findings_of(url_of(primary))


def test_queue_with_newer_schema_is_error(scratch_server: Any) -> None:
    client = leaseq.connect(url_of(scratch_server))
    leaseq.Queue(client, "old").configure()
    leaseq.Queue(client, "new").configure()
    ledger = Keys("new").ledger
    status = scratch_server.hget(ledger, "status")
    assert status is not None
    scratch_server.hset(ledger, "status", f"v{SCHEMA + 1} {status.decode()}")
    report = examine(client)
    (finding,) = report.findings
    assert (finding.check, finding.level) == ("schema-newer", "error")
    assert (
        f"the queue new with schema {SCHEMA + 1}: this version of leaseq supports schema {SCHEMA}"
        in finding.problem
    )
    assert report.schemas == {"old": SCHEMA, "new": SCHEMA + 1}
    assert report.known_schema == SCHEMA


def test_queue_with_unknown_policy_field_is_error(scratch_server: Any) -> None:
    client = leaseq.connect(url_of(scratch_server))
    leaseq.Queue(client, "a-new").configure()
    leaseq.Queue(client, "old").configure(durable="fsync")
    scratch_server.hset(Keys("a-new").ledger, "rules", "a_rule_of_tomorrow=5")
    scratch_server.config_set("appendfsync", "no")
    findings = findings_of(url_of(scratch_server))
    assert {"queue-unreadable", "durable"} <= set(findings), "the other queues are checked anyway"
    assert "error: holds the queue a-new" in findings["queue-unreadable"]
    assert "'a_rule_of_tomorrow'" in findings["queue-unreadable"]


@pytest.mark.parametrize(("count", "suffix"), [(5, ""), (6, " and 1 more"), (8, " and 3 more")])
def test_finding_names_at_most_five_queues(scratch_server: redis.Redis, count: int, suffix: str) -> None:
    client = leaseq.connect(url_of(scratch_server))
    for number in range(count):
        leaseq.Queue(client, f"q{number}").configure(durable="fsync")
    scratch_server.config_set("appendfsync", "no")
    assert f"q0, q1, q2, q3, q4{suffix} requires" in findings_of(url_of(scratch_server))["durable"]
    assert len(report_of(url_of(scratch_server)).schemas) == count
