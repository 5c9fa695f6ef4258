from __future__ import annotations

import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Thread

import pytest
import redis

import leaseq
from leaseq.discovery import running_url
from leaseq.server.embedded import EmbeddedServer
from tests.support.ports import free_port
from tests.support.processes import (
    LEASEQ,
    UpProcess,
    environment,
    is_alive,
    is_ready,
    run_leaseq,
    settings_of,
)
from tests.support.waiting import TIMEOUT, eventually

Start = Callable[..., UpProcess]


def keep_busy(url: str) -> None:
    """Keep the server busy for a second of its own time, which is longer on a busy machine. Stopping it by a
    signal would not do: the kernel wakes it when its parent dies."""
    script = "local till = os.clock() + 1 while os.clock() < till do end"
    with redis.Redis.from_url(url, retry=None) as server, suppress(redis.RedisError):
        server.eval(script, 0)


def is_busy(url: str) -> bool:
    with redis.Redis.from_url(url, socket_timeout=0.2, retry=None) as server:
        try:
            return not server.ping()
        except redis.TimeoutError:
            return True


@pytest.fixture(scope="module")
def shared_up() -> Iterator[UpProcess]:
    """One ``leaseq up`` for the tests that don't change it."""
    with tempfile.TemporaryDirectory(prefix="leaseq") as folder:
        run = UpProcess(Path(folder) / "data", free_port(), "--workers", "1", "--demo")
        yield run
        run.stop()


def test_first_start_serves_and_prints_addresses(shared_up: UpProcess) -> None:
    run = shared_up
    assert run.get("/healthz") == 200
    address_line, setup_line, demo_line, data_line = run.lines
    assert address_line == f"leaseq serves on http://127.0.0.1:{run.port}"
    assert f": http://127.0.0.1:{run.port}/setup?token=" in setup_line
    assert demo_line == "The queue `demo` has 40 example messages."
    assert data_line == f"The data is in {run.data}. Ctrl-C stops it."
    assert run.get(setup_line.partition(str(run.port))[2]) == 200
    assert run_leaseq("stats", "--data", str(run.data)).returncode == 0


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="platform: only Linux shows the environment of a process"
)
def test_only_web_process_receives_secret_key(shared_up: UpProcess) -> None:
    pids = shared_up.state()["pids"]
    assert settings_of(pids["clear"]) == {"LEASEQ_REDIS_URL"}
    assert settings_of(pids["webhooks"]) == {"LEASEQ_REDIS_URL"}
    assert settings_of(pids["web"]) == {"LEASEQ_REDIS_URL", "LEASEQ_SECRET_KEY", "LEASEQ_FILES"}


def stop_by(number: signal.Signals, run: UpProcess) -> None:
    """Stop all processes of a run."""
    pids = run.pids()
    assert len(pids) == 6  # itself, server, gunicorn and its worker, clear, webhooks
    assert run.stop(number) == 0
    assert [pid for pid in pids if is_alive(pid)] == []
    assert not (run.data / "up.json").exists()


def takes_signals(pid: int) -> bool:
    """True once a handler of SIGTERM is installed."""
    match = re.search(r"SigCgt:\t([0-9a-f]+)", Path(f"/proc/{pid}/status").read_text())
    return match is not None and bool(int(match[1], 16) & 1 << (signal.SIGTERM - 1))


def pids_in_session(leader: int) -> set[int]:
    """The running processes of this session."""
    pids = set()
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended in the meantime
            state, _, _, session = entry.read_text().rpartition(")")[2].split()[:4]
            if int(session) == leader and state != "Z":
                pids.add(int(entry.parent.name))
    return pids


@contextmanager
def launch_up(data: Path, port: int) -> Iterator[subprocess.Popen[str]]:
    """Start a ``leaseq up`` in its own session, without waiting for it."""
    command = [str(LEASEQ), "up", "--data", str(data), "--port", str(port), "--workers", "1"]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdout=pipe, stderr=pipe, text=True, start_new_session=True, env=environment()
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="platform: only Linux has /proc")
@pytest.mark.parametrize(
    "moment", ["signals", "up.lock", "secret-key", "server.sock", "appendonlydir/*.incr.aof", "up.json"]
)
def test_signal_during_startup_stops_all_processes(data_dir: Path, port: int, moment: str) -> None:
    with launch_up(data_dir, port) as process:
        if moment == "signals":
            eventually(lambda: takes_signals(process.pid), "it takes signals")
        else:
            eventually(lambda: list(data_dir.glob(moment)), f"{moment} is there")
        process.terminate()
        _, stderr = process.communicate(timeout=TIMEOUT)
        assert (process.returncode, stderr) == (0, "")
        assert pids_in_session(process.pid) == set()
        assert not (data_dir / "up.json").exists()


def test_signal_ends_wait_for_processes_of_killed_run(data_dir: Path, port: int) -> None:
    script = (
        "import os, subprocess, sys; from leaseq.server.datadir import DataDir; claimed = "
        "DataDir(sys.argv[1]);"
        "claimed.claim();"
        "held = subprocess.Popen(['sh', '-c', 'trap \"\" TERM; sleep 600'], pass_fds=(claimed.lock_fd,),"
        " start_new_session=True, stdout=subprocess.DEVNULL);"
        "claimed.publish(url='unix:///x', web='', pids={'server': held.pid}); print(held.pid); os._exit(9)"
    )
    command = [sys.executable, "-c", script, str(data_dir)]
    completed = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    pid = int(completed.stdout)
    try:
        with launch_up(data_dir, port) as process:
            assert process.stderr is not None
            assert "was killed; waiting for its processes to end" in process.stderr.readline()
            process.terminate()
            assert process.wait(TIMEOUT) == 0
    finally:
        os.killpg(pid, signal.SIGKILL)


def test_second_up_on_same_data_names_first_and_starts_nothing(shared_up: UpProcess) -> None:
    run = shared_up
    completed = run_leaseq("up", "--data", str(run.data), "--port", str(run.port))
    assert (completed.returncode, completed.stdout) == (1, "")
    assert completed.stderr == (
        f"leaseq: {run.data} is in use by another `leaseq up` (pid {run.process.pid}) "
        f"at http://127.0.0.1:{run.port}: use that one, stop it first, or name another directory "
        "with --data\n"
    )
    assert run.get("/healthz") == 200


def test_taken_port_is_reported_before_any_process_starts(data_dir: Path) -> None:
    with socket.create_server(("127.0.0.1", 0), reuse_port=True) as listener:
        port = listener.getsockname()[1]
        completed = run_leaseq("up", "--data", str(data_dir), "--port", str(port))
    assert (completed.returncode, completed.stdout) == (1, "")
    assert completed.stderr == (
        f"leaseq: port {port} on 127.0.0.1 is taken by another program: "
        "stop that one, or choose another port with --port\n"
    )
    assert sorted(path.name for path in data_dir.iterdir()) == ["up.lock"]


def test_killed_processes_are_restarted_items_are_kept_and_all_stop(start_leaseq: Start) -> None:
    run = start_leaseq()
    client = leaseq.connect(run.state()["url"])
    leaseq.Queue(client, "q").enqueue({"n": 1}, id="one")
    before = run.state()["pids"]
    for name in ("server", "web", "clear", "webhooks"):
        os.kill(before[name], signal.SIGKILL)
        assert f"leaseq: {name} was killed by signal 9; starting it again" in run.error_line()
    eventually(
        lambda: (
            len(run.state()["pids"]) == 4 and not set(run.state()["pids"].values()) & set(before.values())
        ),
        "four new processes",
    )
    eventually(is_ready(run.port), "the web app is ready again")
    assert leaseq.Queue(client, "q").get("one").payload == {"n": 1}
    client.close()
    stop_by(signal.SIGTERM, run)


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="platform: only Linux ends children with their parent"
)
def test_sigkill_leaves_no_process_and_next_start_keeps_items_until_interrupt(start_leaseq: Start) -> None:
    run = start_leaseq("--demo")
    pids = run.pids()
    thread = Thread(target=keep_busy, args=(run.state()["url"],))  # delays the end of its server
    thread.start()
    eventually(lambda: is_busy(run.state()["url"]), "the server runs the script")
    run.process.kill()
    run.stop()
    assert running_url(run.data) is not None, "its files are still in use, so nobody else may lock them"
    thread.join()
    eventually(lambda: not any(map(is_alive, pids)), "all of its processes ended")
    next_run = start_leaseq()
    assert leaseq.Queue(leaseq.connect(next_run.state()["url"]), "demo").stats().inbound == 40
    stop_by(signal.SIGINT, next_run)


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="platform: only Linux ends children with their parent"
)
def test_start_after_sigkill_waits_for_port_of_old_web_process(start_leaseq: Start) -> None:
    run = start_leaseq()
    with socket.create_connection(("127.0.0.1", run.port)) as connection:  # completed by the old process
        connection.settimeout(TIMEOUT)
        connection.sendall(
            b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n"
            b"Content-Type: application/x-www-form-urlencoded\r\nExpect: 100-continue\r\n\r\n"
        )
        assert connection.recv(25) == b"HTTP/1.1 100 Continue\r\n\r\n"  # a thread handles it
        run.process.kill()
        run.process.wait()
        with launch_up(run.data, run.port) as next_process:
            assert next_process.stderr is not None
            assert next_process.stdout is not None
            line = next_process.stderr.readline()
            assert f"(pid {run.process.pid}) was killed; waiting for its processes to end" in line
            connection.sendall(b"name=bo&x")
            assert connection.recv(12) == b"HTTP/1.1 403"  # answered: it has no CSRF token
            connection.close()
            assert next_process.stdout.readline() == f"leaseq serves on http://127.0.0.1:{run.port}\n"
            next_process.terminate()
            assert next_process.wait(TIMEOUT) == 0


def test_clear_job_returns_item_with_expired_lease(shared_up: UpProcess) -> None:
    queue = leaseq.Queue(leaseq.connect(shared_up.state()["url"]), "q")
    queue.configure(lease_seconds=0.1)
    queue.enqueue({"n": 1})
    assert queue.reserve("ann") is not None
    eventually(lambda: queue.stats().inbound == 1, "the item is back without any reserve")


def test_redis_option_starts_no_server_and_database_option_the_bridge(
    start_leaseq: Start, own_server: EmbeddedServer, tmp_path: Path
) -> None:
    file = tmp_path / "work.db"
    options = ("--redis", own_server.url, "--database", f"sqlite:///{file}")
    run = start_leaseq(*options, settings={"LEASEQ_BRIDGE_WINDOW": "1"})
    assert set(run.state()["pids"]) == {"web", "clear", "webhooks", "bridge"}
    assert run.get("/readyz") == 200

    def query(statement: str) -> list[tuple[object, ...]]:
        with closing(sqlite3.connect(file)) as connection, connection:
            return connection.execute(statement).fetchall()

    query("INSERT INTO leaseq_item (queue, id, payload) VALUES ('reviews', 'a', '1'), ('reviews', 'b', '2')")
    client = leaseq.connect(own_server.url)
    queue = leaseq.Queue(client, "reviews")
    eventually(queue.exists, "the row creates the queue")
    waiting = "SELECT id FROM leaseq_item WHERE status = 'waiting'"
    eventually(lambda: query(waiting) == [("b",)], "one item is moved, as the setting allows")
    assert queue.stats().inbound == 1
    lease = queue.reserve("ann", wait=TIMEOUT)
    assert lease is not None
    queue.finish(lease, "yes")
    eventually(lambda: query("SELECT id, result FROM leaseq_answer") == [("a", '"yes"')], "it is archived")
    client.close()
    assert run.stop() == 0
    assert own_server.is_alive


def test_unsupported_database_url_is_reported_in_one_line(data_dir: Path, port: int) -> None:
    completed = run_leaseq("up", "--data", str(data_dir), "--port", str(port), "--database", "mysql://x/y")
    assert completed.returncode == 1
    assert completed.stderr.startswith("leaseq: database: expected postgresql://")
    assert completed.stderr.count("\n") == 1


def test_unavailable_server_is_reported_in_one_line(data_dir: Path, port: int) -> None:
    completed = run_leaseq(
        "up", "--data", str(data_dir), "--port", str(port), "--redis", f"unix://{data_dir}/nobody.sock"
    )
    assert (completed.returncode, completed.stdout, completed.stderr.count("\n")) == (1, "", 1)
    assert "nobody.sock" in completed.stderr


def test_invalid_setting_is_reported_in_one_line(data_dir: Path, port: int) -> None:
    completed = run_leaseq("up", "--data", str(data_dir), "--port", str(port), LEASEQ_SESSION_DAYS="many")
    assert (completed.returncode, completed.stdout, completed.stderr.count("\n")) == (1, "", 1)
    assert "LEASEQ_SESSION_DAYS" in completed.stderr
    assert not (data_dir / "server.log").exists()
