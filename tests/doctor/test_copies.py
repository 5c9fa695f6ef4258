"""What the loss of a machine would take: replicas, sentinels, clusters."""

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
from leaseq.doctor.acl import SENTINEL, SENTINEL_DOCTOR, allow_rules
from leaseq.engine.keys import SCHEMA
from tests.conformance.topology.servers import cluster, port_of, running, service_url
from tests.conformance.topology.watched import SentinelService
from tests.doctor.looking import WELL, examined, found, settled, url_of
from tests.support.patience import eventually
from tests.support.ports import free_port

FAST = (*WELL, "--repl-diskless-sync-delay", "0")


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[redis.Redis, redis.Redis]]:
    with running(*FAST) as primary, running(*FAST) as replica:
        replica.replicaof("127.0.0.1", str(port_of(primary)))
        eventually(lambda: primary.info("replication").get("slave0", {}).get("state") == "online")
        yield primary, replica


def test_a_replica_is_not_where_to_write(pair: tuple[redis.Redis, redis.Redis]) -> None:
    primary, replica = pair
    said = found(url_of(replica))
    assert re.match(rf"error: is a replica.*127\.0\.0\.1:{port_of(primary)}", said["read-only"])


def test_replicas_that_need_not_keep_up(pair: tuple[redis.Redis, redis.Redis]) -> None:
    primary, _ = pair
    assert re.match("warning: ", found(url_of(primary))["min-replicas-to-write"])
    primary.config_set("min-replicas-to-write", 1)
    try:
        assert not found(url_of(primary))
        primary.config_set("min-replicas-to-write", 2)
        said = found(url_of(primary))["too-few-replicas"]
        assert re.match(
            "error: refuses every write: min-replicas-to-write is 2, and only 1 replicas are up to date", said
        )
    finally:
        primary.config_set("min-replicas-to-write", 0)


@contextmanager
def alone(quorum: int) -> Iterator[tuple[str, redis.Redis]]:
    """One data node that one sentinel watches, and the URL that names the sentinel."""
    with running(*FAST) as node, tempfile.TemporaryDirectory(prefix="leaseq") as folder:
        file = Path(folder) / "sentinel.conf"
        file.write_text(f"sentinel monitor mymaster 127.0.0.1 {port_of(node)} {quorum}\n")
        with running(str(file), "--sentinel") as watcher:
            yield service_url(watcher), node


def test_three_data_nodes_and_three_sentinels() -> None:
    with ExitStack() as stack:
        watched = SentinelService(stack)
        for node in watched.nodes:
            for name, value in zip(WELL[::2], WELL[1::2], strict=True):
                node.client.config_set(name.removeprefix("--"), value)
            node.client.config_set("min-replicas-to-write", 1)
        assert "three data nodes" in settled(watched.url).well["replication"]
        first, second = watched.replicas()
        first.client.config_set("appendfsync", "everysec")
        (each,) = settled(watched.url, "appendfsync").findings
        assert each.where == f"127.0.0.1:{first.port}"
        first.client.config_set("appendfsync", "always")
        second.kill()
        away = {one.check: one for one in settled(watched.url, "node-away", "few-data-nodes").findings}
        assert away["node-away"].where == f"127.0.0.1:{second.port}"
        assert away["node-away"].level == "error"
        assert away["few-data-nodes"].level == "warning"


def test_one_data_node_and_one_sentinel() -> None:
    with alone(quorum=1) as (url, node):
        said = found(url)
        assert set(said) == {"no-replica", "few-sentinels"}
        assert re.match(rf"error: .*mymaster.*REPLICAOF 127.0.0.1 {port_of(node)}", said["no-replica"])
        assert re.match("warning: is watched by 1 ", said["few-sentinels"])


def test_a_sentinel_that_takes_a_new_primary_for_gone() -> None:
    with alone(quorum=1) as (url, _), redis.Redis.from_url(f"redis://{url.split('/')[2]}") as watcher:
        watcher.execute_command("SENTINEL", "SET", "mymaster", "down-after-milliseconds", 2_000)
        assert set(found(url)) == {"no-replica", "few-sentinels"}
        watcher.execute_command("SENTINEL", "SET", "mymaster", "down-after-milliseconds", 1_999)
        assert re.match("warning: .* mymaster down after 1999 ms", found(url)["sentinel-hasty"])


def test_a_sentinel_that_is_slow_is_not_away() -> None:
    with alone(quorum=1) as (url, _):
        process = redis.Redis.from_url(f"redis://{url.split('/')[2]}").info("server")["process_id"]
        os.kill(process, signal.SIGSTOP)
        Timer(1.5, os.kill, (process, signal.SIGCONT)).start()  # a client would have gone to the next by then
        assert set(found(url)) == {"no-replica", "few-sentinels"}


def test_sentinels_that_are_too_few_to_agree() -> None:
    with alone(quorum=2) as (url, _):
        nobody = f"127.0.0.1:{free_port()}"
        said = found(url.replace("//", f"//{nobody},"))
        assert re.match("error: would not fail over mymaster: ", said["sentinel-quorum"])
        assert re.match("warning: does not answer", said["sentinel-away"])


def test_sentinels_on_other_machines_without_password_and_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    with alone(quorum=1) as (url, _):
        monkeypatch.setattr("leaseq.doctor.server_info.addresses_of", lambda _: ["192.0.2.1"])
        report = examined(url)
        doors = {one.check for one in report.findings if one.where.startswith("sentinel")}
        assert doors == {"no-password", "no-tls"}


def test_what_a_sentinel_must_allow() -> None:
    with alone(quorum=1) as (url, _):
        port = int(url.partition("/mymaster")[0].rpartition(":")[2])
        watcher = redis.Redis(port=port)
        for user, rules in (("library", SENTINEL), ("doctor", (*SENTINEL, *SENTINEL_DOCTOR))):
            watcher.execute_command(
                "ACL", "SETUSER", user, "reset", "on", ">pw", "-@all", *allow_rules(rules)
            )
        watcher.execute_command("ACL", "SETUSER", "default", "-@all", "+auth")
        leaseq.Queue(leaseq.connect(f"{url}?sentinel_username=library&sentinel_password=pw"), "q").enqueue({})
        report = examined(f"{url}?sentinel_username=doctor&sentinel_password=pw")
        assert {one.check for one in report.findings} == {"no-replica", "few-sentinels"}


def test_no_sentinel_that_answers() -> None:
    with pytest.raises(leaseq.ServerUnavailable, match="mymaster"):
        examined(f"redis+sentinel://127.0.0.1:{free_port()}/mymaster/0")


def test_a_cluster() -> None:
    with cluster() as url:
        client = leaseq.connect(url)
        nodes = [client.redis.get_redis_connection(one) for one in client.redis.get_nodes()]  # type: ignore[union-attr]
        for node in nodes:
            for name, value in zip(WELL[::2], WELL[1::2], strict=True):
                node.config_set(name.removeprefix("--"), value)
            node.config_set("cluster-require-full-coverage", "no")
        alone = [one for one in examine(client).findings if one.level == "error"]
        assert {one.check for one in alone} == {"cluster-no-replica"}
        assert {one.where for one in alone} == {f"127.0.0.1:{port_of(node)}" for node in nodes}

        nodes[0].config_set("cluster-require-full-coverage", "yes")
        with running(*FAST, "--cluster-enabled", "yes") as replica:
            join(replica, nodes[0])
            said = examine(leaseq.connect(url)).findings
            assert {(one.check, one.where) for one in said} == {
                ("cluster-full-coverage", f"127.0.0.1:{port_of(nodes[0])}"),
                *(("cluster-no-replica", f"127.0.0.1:{port_of(node)}") for node in nodes[1:]),
            }
            queue = leaseq.Queue(leaseq.connect(url), "reviews")
            queue.configure()
            assert examine(leaseq.connect(url)).schemas == {"reviews": SCHEMA}
        nodes[0].execute_command("CLUSTER", "DELSLOTS", 0)
        texts = {one.check: one.says for one in examine(client).findings}
        assert "1 slots that no node serves" in texts["cluster-slots"]


def join(replica: redis.Redis, primary: redis.Redis) -> None:
    """Return when it follows the primary."""
    replica.execute_command("CLUSTER", "MEET", "127.0.0.1", port_of(primary))
    id = primary.execute_command("CLUSTER MYID")
    eventually(lambda: replica.execute_command("CLUSTER", "REPLICATE", id) in (b"OK", True))
    eventually(lambda: primary.info("replication")["connected_slaves"] == 1)
