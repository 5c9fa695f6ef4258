"""Redundancy: replicas, sentinels and clusters."""

from __future__ import annotations

import os
import re
import signal
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Timer

import pytest
import redis

import leaseq
from leaseq.doctor import examine
from leaseq.doctor.rights import SENTINEL, SENTINEL_DOCTOR, allow_rules
from leaseq.engine.keys import SCHEMA
from tests.conformance.topology.sentinels import SentinelService
from tests.conformance.topology.servers import cluster, port_of, running, service_url
from tests.doctor.reports import SAFE_OPTIONS, findings_of, report_of, url_of, wait_for_report
from tests.support.ports import free_port
from tests.support.refused import raises
from tests.support.waiting import eventually

FAST_OPTIONS = (*SAFE_OPTIONS, "--repl-diskless-sync-delay", "0")


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[redis.Redis, redis.Redis]]:
    with running(*FAST_OPTIONS) as primary, running(*FAST_OPTIONS) as replica:
        replica.replicaof("127.0.0.1", str(port_of(primary)))
        eventually(lambda: primary.info("replication").get("slave0", {}).get("state") == "online")
        yield primary, replica


def test_url_of_replica_is_error(pair: tuple[redis.Redis, redis.Redis]) -> None:
    primary, replica = pair
    findings = findings_of(url_of(replica))
    assert re.match(rf"error: is a replica.*127\.0\.0\.1:{port_of(primary)}", findings["read-only"])


def test_min_replicas_to_write_is_checked(pair: tuple[redis.Redis, redis.Redis]) -> None:
    primary, _ = pair
    assert re.match("warning: ", findings_of(url_of(primary))["min-replicas-to-write"])
    primary.config_set("min-replicas-to-write", 1)
    try:
        assert not findings_of(url_of(primary))
        primary.config_set("min-replicas-to-write", 2)
        finding = findings_of(url_of(primary))["too-few-replicas"]
        assert re.match(
            "error: refuses every write: min-replicas-to-write is 2, and only 1 replicas are up to date",
            finding,
        )
    finally:
        primary.config_set("min-replicas-to-write", 0)


@contextmanager
def single_node(quorum: int) -> Iterator[tuple[str, redis.Redis]]:
    """Yield the URL of a service with one data node and one sentinel, and a client of the node."""
    with running(*FAST_OPTIONS) as node, tempfile.TemporaryDirectory(prefix="leaseq") as folder:
        file = Path(folder) / "sentinel.conf"
        file.write_text(f"sentinel monitor mymaster 127.0.0.1 {port_of(node)} {quorum}\n")
        with running(str(file), "--sentinel") as watcher:
            yield service_url(watcher), node


def test_service_of_three_nodes_is_healthy_until_replica_is_lost() -> None:
    with ExitStack() as stack:
        service = SentinelService(stack)
        for node in service.nodes:
            for name, value in zip(SAFE_OPTIONS[::2], SAFE_OPTIONS[1::2], strict=True):
                node.client.config_set(name.removeprefix("--"), value)
            node.client.config_set("min-replicas-to-write", 1)
        assert "three data nodes" in wait_for_report(service.url).passed["replication"]
        first_replica, second_replica = service.replicas()
        first_replica.client.config_set("appendfsync", "everysec")
        (finding,) = wait_for_report(service.url, "appendfsync").findings
        assert finding.where == f"127.0.0.1:{first_replica.port}"
        first_replica.client.config_set("appendfsync", "always")
        second_replica.kill()
        by_check = {
            finding.check: finding
            for finding in wait_for_report(service.url, "node-away", "few-data-nodes").findings
        }
        assert by_check["node-away"].where == f"127.0.0.1:{second_replica.port}"
        assert by_check["node-away"].level == "error"
        assert by_check["few-data-nodes"].level == "warning"


def test_single_data_node_and_single_sentinel_are_reported() -> None:
    with single_node(quorum=1) as (url, node):
        findings = findings_of(url)
        assert set(findings) == {"no-replica", "few-sentinels"}
        assert re.match(rf"error: .*mymaster.*REPLICAOF 127.0.0.1 {port_of(node)}", findings["no-replica"])
        assert re.match("warning: is watched by 1 ", findings["few-sentinels"])


def test_sentinel_with_short_down_after_is_warning() -> None:
    with single_node(quorum=1) as (url, _), redis.Redis.from_url(f"redis://{url.split('/')[2]}") as watcher:
        watcher.execute_command("SENTINEL", "SET", "mymaster", "down-after-milliseconds", 2_000)
        assert set(findings_of(url)) == {"no-replica", "few-sentinels"}
        watcher.execute_command("SENTINEL", "SET", "mymaster", "down-after-milliseconds", 1_999)
        assert re.match("warning: .* mymaster down after 1999 ms", findings_of(url)["sentinel-down-after"])


def test_slow_sentinel_is_not_reported_as_unavailable() -> None:
    with single_node(quorum=1) as (url, _):
        process = redis.Redis.from_url(f"redis://{url.split('/')[2]}").info("server")["process_id"]
        os.kill(process, signal.SIGSTOP)
        Timer(1.5, os.kill, (process, signal.SIGCONT)).start()  # by then a client would try the next sentinel
        assert set(findings_of(url)) == {"no-replica", "few-sentinels"}


def test_sentinels_below_quorum_are_error() -> None:
    with single_node(quorum=2) as (url, _):
        closed_address = f"127.0.0.1:{free_port()}"
        findings = findings_of(url.replace("//", f"//{closed_address},"))
        assert re.match("error: would not fail over mymaster: ", findings["sentinel-quorum"])
        assert re.match("warning: does not answer", findings["sentinel-away"])


def test_remote_sentinel_without_password_and_tls_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    with single_node(quorum=1) as (url, _):
        monkeypatch.setattr("leaseq.doctor.checks.addresses_of", lambda _: ["192.0.2.1"])
        report = report_of(url)
        checks = {finding.check for finding in report.findings if finding.where.startswith("sentinel")}
        assert checks == {"no-password", "no-tls"}


def test_sentinel_acl_rules_are_sufficient() -> None:
    with single_node(quorum=1) as (url, _):
        port = int(url.partition("/mymaster")[0].rpartition(":")[2])
        watcher = redis.Redis(port=port)
        for user, rules in (("library", SENTINEL), ("doctor", (*SENTINEL, *SENTINEL_DOCTOR))):
            watcher.execute_command(
                "ACL", "SETUSER", user, "reset", "on", ">pw", "-@all", *allow_rules(rules)
            )
        watcher.execute_command("ACL", "SETUSER", "default", "-@all", "+auth")
        leaseq.Queue(leaseq.connect(f"{url}?sentinel_username=library&sentinel_password=pw"), "q").enqueue({})
        report = report_of(f"{url}?sentinel_username=doctor&sentinel_password=pw")
        assert {finding.check for finding in report.findings} == {"no-replica", "few-sentinels"}


def test_unavailable_sentinels_raise_server_unavailable() -> None:
    with raises(leaseq.ServerUnavailable, "no_answer", what="sentinel", service="mymaster"):
        report_of(f"redis+sentinel://127.0.0.1:{free_port()}/mymaster/0")


def test_cluster_replicas_coverage_and_slots_are_checked() -> None:
    with cluster() as url:
        client = leaseq.connect(url)
        nodes = [client.redis.get_redis_connection(cluster_node) for cluster_node in client.redis.get_nodes()]  # type: ignore[union-attr]
        for node in nodes:
            for name, value in zip(SAFE_OPTIONS[::2], SAFE_OPTIONS[1::2], strict=True):
                node.config_set(name.removeprefix("--"), value)
            node.config_set("cluster-require-full-coverage", "no")
        errors = [finding for finding in examine(client).findings if finding.level == "error"]
        assert {finding.check for finding in errors} == {"cluster-no-replica"}
        assert {finding.where for finding in errors} == {f"127.0.0.1:{port_of(node)}" for node in nodes}

        nodes[0].config_set("cluster-require-full-coverage", "yes")
        with running(*FAST_OPTIONS, "--cluster-enabled", "yes") as replica:
            join(replica, nodes[0])
            findings = examine(leaseq.connect(url)).findings
            assert {(finding.check, finding.where) for finding in findings} == {
                ("cluster-full-coverage", f"127.0.0.1:{port_of(nodes[0])}"),
                *(("cluster-no-replica", f"127.0.0.1:{port_of(node)}") for node in nodes[1:]),
            }
            queue = leaseq.Queue(leaseq.connect(url), "reviews")
            queue.configure()
            assert examine(leaseq.connect(url)).schemas == {"reviews": SCHEMA}
        nodes[0].execute_command("CLUSTER", "DELSLOTS", 0)
        texts = {finding.check: finding.problem for finding in examine(client).findings}
        assert "1 slots that no node serves" in texts["cluster-slots"]


def join(replica: redis.Redis, primary: redis.Redis) -> None:
    """Return when the replica follows the primary."""
    replica.execute_command("CLUSTER", "MEET", "127.0.0.1", port_of(primary))
    id = primary.execute_command("CLUSTER MYID")
    eventually(lambda: replica.execute_command("CLUSTER", "REPLICATE", id) in (b"OK", True))
    eventually(lambda: primary.info("replication")["connected_slaves"] == 1)
