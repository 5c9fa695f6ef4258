"""``leaseq clear``: once, and as a separate process."""

from __future__ import annotations

import json
import signal
import socket
from typing import Any

import pytest

import leaseq
from tests.cli.conftest import Call, Spawn
from tests.conftest import Clock
from tests.support.leases import not_none, take
from tests.support.waiting import TIMEOUT, eventually


def add_expired_leases(
    client: leaseq.Client, name: str, count: int, *, for_seconds: float = 60
) -> leaseq.Queue:
    """Create a queue with this many leases that expired this long ago."""
    queue = leaseq.Queue(client, name, clock=Clock.from_now(-300 - for_seconds))
    queue.configure(lease_seconds=300)
    queue.enqueue_many([{"n": n} for n in range(count)])
    for n in range(count):
        take(queue, f"person-{n}")
    return leaseq.Queue(client, name)


def test_clear_returns_expired_leases(call: Call, server: Any, queue_name: str) -> None:
    queue = add_expired_leases(server.client, queue_name, 3)
    result = call("clear", queue_name)
    assert (result.exit_code, result.stdout) == (0, f"{queue_name}: 3 returned, 0 released, 0 died\n")
    assert queue.stats().inbound == 3
    counts = json.loads(call("clear", queue_name, "--json").stdout)
    assert counts == {
        "queues": [{"name": queue_name, "returned": 0, "released": 0, "died": 0, "forgotten": 0}]
    }


@pytest.mark.parametrize(("names", "wrong"), [((), "neither"), (("--all", "demo"), "both")])
def test_clear_takes_names_or_all(call: Call, names: tuple[str, ...], wrong: str) -> None:
    result = call("clear", *names)
    assert (result.exit_code, f"got {wrong}" in result.stderr) == (2, True)


def test_clear_repeats_until_no_expired_lease_is_left(
    call: Call, server: Any, queue_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_expired_leases(server.client, queue_name, 7)
    clear = leaseq.Queue.clear
    monkeypatch.setattr(leaseq.Queue, "clear", lambda queue: clear(queue, limit=2))
    assert call("clear", queue_name).stdout == f"{queue_name}: 7 returned, 0 released, 0 died\n"


def test_clear_prints_number_of_forgotten_items(call: Call, server: Any, queue_name: str) -> None:
    queue = leaseq.Queue(server.client, queue_name)
    queue.configure(keep_finished_seconds=0)
    queue.enqueue({})
    queue.finish(not_none(queue.reserve("ann")), {})
    assert call("clear", queue_name).stdout == f"{queue_name}: 0 returned, 0 released, 0 died, 1 forgotten\n"


def test_all_option_clears_every_queue(call: Call, server: Any, queue_name: str) -> None:
    add_expired_leases(server.client, queue_name, 1)
    assert f"{queue_name}: 1 returned" in call("clear", "--all").stdout


def test_repeated_clear_prints_json_line_per_changed_queue(
    spawn: Spawn, server: Any, queue_name: str
) -> None:
    add_expired_leases(server.client, queue_name, 1)
    process = spawn("clear", queue_name, "--every", "0.05", "--json")
    counts = {"returned": 1, "released": 0, "died": 0, "forgotten": 0}
    assert json.loads(not_none(process.stdout).readline()) == {"name": queue_name, **counts}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_repeated_clear_finds_new_queues_and_stops_on_signal(
    spawn: Spawn, server: Any, queue_name: str, number: signal.Signals
) -> None:
    process = spawn("clear", "--all", "--every", "0.05")
    first_queue = add_expired_leases(server.client, f"{queue_name}-1", 1)
    wait_for(process, f"{first_queue.name}: 1 returned")
    # The queue doesn't exist yet when the process starts.
    second_queue = add_expired_leases(server.client, f"{queue_name}-2", 1)
    wait_for(process, f"{second_queue.name}: 1 returned")
    process.send_signal(number)
    _, stderr = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, stderr) == (0, b"")


def test_repeated_clear_continues_after_server_restart(spawn: Spawn, own_server: Any) -> None:
    client = leaseq.connect(own_server.url)
    process = spawn("clear", "--all", "--every", "0.05", url=own_server.url)
    queue = add_expired_leases(client, "q", 1)
    wait_for(process, "q: 1 returned")
    own_server.stop()
    message = not_none(process.stderr).readline().decode()
    assert message.startswith("leaseq: ")
    assert message.endswith("trying again every 0.05 s\n")
    refuse_connections(own_server, times=6)  # a few more rounds, which print nothing
    own_server.start()
    assert not_none(process.stderr).readline() == b"leaseq: the server is back\n"
    queue = add_expired_leases(client, "q2", 1)
    wait_for(process, f"{queue.name}: 1 returned")
    client.close()
    process.terminate()
    _, stderr = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, stderr) == (0, b"")


def test_concurrent_clear_processes_return_each_lease_once(
    spawn: Spawn, server: Any, queue_name: str
) -> None:
    processes = []
    for own_name in (f"{queue_name}-a", f"{queue_name}-b"):
        leaseq.Queue(server.client, queue_name).configure()
        add_expired_leases(server.client, own_name, 1)
        processes.append(spawn("clear", queue_name, own_name, "--every", "0.05"))
        wait_for(processes[-1], f"{own_name}: 1 returned")
    queue = add_expired_leases(server.client, queue_name, 30, for_seconds=-1)  # expire in a second, for both
    eventually(lambda: queue.stats().reserved == 0)
    assert queue.stats().counters["expired"] == 30
    assert queue.stats().inbound == 30
    for process in processes:
        process.terminate()
        assert process.wait(TIMEOUT) == 0


def refuse_connections(own_server: Any, times: int) -> None:
    """Listen on the server's address, and close each connection, until there were this many."""
    with socket.socket(socket.AF_UNIX) as stand_in:
        own_server.socket.unlink(missing_ok=True)
        stand_in.bind(str(own_server.socket))
        stand_in.listen()
        stand_in.settimeout(20)
        for _ in range(times):
            stand_in.accept()[0].close()
    own_server.socket.unlink()


def wait_for(process: Any, beginning: str) -> None:
    """Read the output until a line begins with this text. The test's own timeout limits the wait."""
    for line in process.stdout:
        if line.decode().startswith(beginning):
            return
    raise AssertionError(f"it ended without printing {beginning!r}: {process.stderr.read().decode()}")


@pytest.mark.parametrize("unreadable_queue", ["schema"], indirect=True)
def test_clear_skips_unreadable_queue_and_exits_1(
    call: Call, server: Any, unreadable_queue: leaseq.Queue, queue_name: str
) -> None:
    queue = add_expired_leases(server.client, queue_name, 1)
    for words in (["--all"], [unreadable_queue.name, queue_name]):
        result = call("clear", *words)
        assert result.exit_code == 1, "so that a timer unit reports the failure"
        assert f"leaseq: queue {unreadable_queue.name!r} was left out: " in result.stderr
        assert f"{queue_name}: " in result.stdout
    assert queue.stats().inbound == 1


@pytest.mark.parametrize("unreadable_queue", ["schema"], indirect=True)
def test_repeated_clear_reports_unreadable_queue_once(
    spawn: Spawn, server: Any, unreadable_queue: leaseq.Queue, queue_name: str
) -> None:
    process = spawn("clear", "--all", "--every", "0.05")
    for name in (queue_name, f"{queue_name}-2"):
        queue = add_expired_leases(server.client, name, 1)
        eventually(lambda queue=queue: queue.stats().inbound == 1)  # type: ignore[misc]
    process.terminate()
    _, stderr = process.communicate(timeout=TIMEOUT)
    assert stderr.decode().count(f"queue {unreadable_queue.name!r} was left out") == 1, (
        "reported once, not in each round"
    )
