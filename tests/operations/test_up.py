from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest
import redis

import leaseq
from leaseq.embedded import EmbeddedServer, running_url
from tests.operations.processes import LEASEQ, Up, alive, environment, get, settings_of
from tests.patience import PATIENCE, eventually
from webapp.demo import add_demo, messages

Start = Callable[..., Up]


def leaseq_command(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(LEASEQ), *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=environment(**env),
        check=False,
    )


def is_ready(port: int) -> Callable[[], bool]:
    def ask() -> bool:
        try:
            return get(port, "/readyz") == 200
        except OSError:
            return False

    return ask


def keep_busy(url: str) -> None:
    """Hold the server for a second of its own time, which is more on a busy machine: a stopped one won't do,
    the kernel wakes it when its parent dies."""
    script = "local till = os.clock() + 1 while os.clock() < till do end"
    with redis.Redis.from_url(url, retry=None) as server, suppress(redis.RedisError):
        server.eval(script, 0)


def is_busy(url: str) -> bool:
    with redis.Redis.from_url(url, socket_timeout=0.2, retry=None) as server:
        try:
            return not server.ping()
        except redis.TimeoutError:
            return True


def test_the_first_start_serves_and_prints_a_few_plain_lines(up: Start) -> None:
    run = up("--demo")
    assert run.get("/healthz") == 200
    serves, setup, demo, data = run.said
    assert serves == f"leaseq serves on http://127.0.0.1:{run.port}"
    assert f": http://127.0.0.1:{run.port}/setup?token=" in setup
    assert demo == "The queue `demo` holds 40 messages to try."
    assert data == f"The data is in {run.data}. Ctrl-C stops it."
    assert run.get(setup.partition(str(run.port))[2]) == 200
    assert leaseq_command("stats", "--data", str(run.data)).returncode == 0


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="platform: only Linux tells an environment")
def test_the_secret_key_is_the_web_apps_alone(up: Start) -> None:
    pids = up().state()["pids"]
    assert settings_of(pids["clear"]) == {"LEASEQ_REDIS_URL"}
    assert settings_of(pids["web"]) == {"LEASEQ_REDIS_URL", "LEASEQ_SECRET_KEY"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_everything(up: Start, number: signal.Signals) -> None:
    run = up()
    pids = run.pids()
    assert len(pids) == 5  # itself, server, gunicorn and its worker, clear
    assert run.stop(number) == 0
    assert [pid for pid in pids if alive(pid)] == []
    assert not (run.data / "up.json").exists()


def test_a_second_up_on_the_same_data_says_who_has_it_and_starts_nothing(up: Start) -> None:
    run = up()
    second = leaseq_command("up", "--data", str(run.data), "--port", str(run.port))
    assert (second.returncode, second.stdout) == (1, "")
    assert second.stderr == (
        f"leaseq: {run.data} is in use by another `leaseq up` (pid {run.process.pid}) "
        f"at http://127.0.0.1:{run.port}: use that one, stop it first, or give another directory by --data\n"
    )
    assert run.get("/healthz") == 200


def test_a_taken_port_is_said_before_anything_is_started(data_dir: Path) -> None:
    with socket.create_server(("127.0.0.1", 0), reuse_port=True) as other:
        port = other.getsockname()[1]
        refused = leaseq_command("up", "--data", str(data_dir), "--port", str(port))
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == (
        f"leaseq: port {port} on 127.0.0.1 is taken by another program: "
        "stop that one, or choose another port by --port\n"
    )
    assert sorted(path.name for path in data_dir.iterdir()) == ["up.lock"]


def test_what_dies_is_started_again_and_the_work_goes_on(up: Start) -> None:
    run = up()
    client = leaseq.connect(run.state()["url"])
    leaseq.Queue(client, "q").enqueue({"n": 1}, id="one")
    before = run.state()["pids"]
    for name in ("server", "web", "clear"):
        os.kill(before[name], signal.SIGKILL)
        assert f"leaseq: {name} was killed by signal 9; starting it again" in run.error_line()
    eventually(
        lambda: (
            len(run.state()["pids"]) == 3 and not set(run.state()["pids"].values()) & set(before.values())
        ),
        "three new processes",
    )
    eventually(is_ready(run.port), "the web app is ready again")
    assert leaseq.Queue(client, "q").get("one").payload == {"n": 1}


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="platform: only Linux ends children with their parent"
)
def test_after_kill_9_nothing_stays_and_the_next_start_goes_on(up: Start) -> None:
    run = up("--demo")
    pids = run.pids()
    busy = Thread(target=keep_busy, args=(run.state()["url"],))  # so that its server takes long to end
    busy.start()
    eventually(lambda: is_busy(run.state()["url"]), "the server runs the script")
    run.process.kill()
    run.stop()
    assert running_url(run.data) is not None, "its files are still in use: nobody else may have them"
    busy.join()
    eventually(lambda: not any(map(alive, pids)), "all of its processes ended")
    again = up()
    assert leaseq.Queue(leaseq.connect(again.state()["url"]), "demo").stats().inbound == 40


def test_the_clear_job_returns_an_item_whose_lease_ran_out(up: Start) -> None:
    queue = leaseq.Queue(leaseq.connect(up().state()["url"]), "q")
    queue.configure(lease_seconds=0.1)
    queue.enqueue({"n": 1})
    assert queue.reserve("ann") is not None
    eventually(lambda: queue.stats().inbound == 1, "the item is back, without anybody reserving")


def test_with_a_server_of_your_own_none_is_started(up: Start, own_server: EmbeddedServer) -> None:
    run = up("--redis", own_server.url)
    assert set(run.state()["pids"]) == {"web", "clear"}
    assert run.get("/readyz") == 200
    assert run.stop() == 0
    assert own_server.alive


def test_a_server_that_is_away_is_said_in_one_line(data_dir: Path, port: int) -> None:
    refused = leaseq_command(
        "up", "--data", str(data_dir), "--port", str(port), "--redis", f"unix://{data_dir}/nobody.sock"
    )
    assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (1, "", 1)
    assert "nobody.sock" in refused.stderr


def test_a_wrong_setting_is_said_in_one_line(data_dir: Path, port: int) -> None:
    refused = leaseq_command("up", "--data", str(data_dir), "--port", str(port), LEASEQ_SESSION_DAYS="many")
    assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (1, "", 1)
    assert "LEASEQ_SESSION_DAYS" in refused.stderr
    assert not (data_dir / "server.log").exists()


@pytest.mark.parametrize("key", ["", "short"])
def test_serve_refuses_a_missing_or_weak_key(key: str, port: int) -> None:
    refused = leaseq_command("serve", "--redis", "unix:///none", "--port", str(port), LEASEQ_SECRET_KEY=key)
    assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (1, "", 1)
    assert "LEASEQ_SECRET_KEY" in refused.stderr


GOOD_KEY = secrets.token_urlsafe(32)


def test_serve_serves_until_it_is_stopped(own_server: EmbeddedServer, port: int) -> None:
    arguments = ["serve", "--redis", own_server.url, "--port", str(port)]
    env = environment(LEASEQ_SECRET_KEY=GOOD_KEY)
    process = subprocess.Popen([str(LEASEQ), *arguments], env=env, stderr=subprocess.DEVNULL)
    try:
        eventually(is_ready(port), "it serves")
        taken = leaseq_command(*arguments, LEASEQ_SECRET_KEY=GOOD_KEY)
        assert f"port {port} on 127.0.0.1 is taken" in taken.stderr
    finally:
        process.terminate()
        assert process.wait(PATIENCE) == 0


def test_the_demo_is_added_once_and_leaves_a_changed_queue_alone(own_server: EmbeddedServer) -> None:
    client = leaseq.connect(own_server.url)
    assert add_demo(client) == leaseq.Counts(added=40, duplicates=0)
    queue = leaseq.Queue(client, "demo")
    queue.configure(title="Mine")
    lease = queue.reserve("ann")
    assert lease is not None
    queue.finish(lease, {"about": "Delivery", "urgency": "Today", "note": ""})
    assert add_demo(client) == leaseq.Counts(added=0, duplicates=40)
    assert (queue.policy.title, queue.stats().inbound, queue.stats().finished) == ("Mine", 39, 1)


def test_the_demo_messages_are_all_different() -> None:
    assert len({message["text"] for message in messages()}) == 40
