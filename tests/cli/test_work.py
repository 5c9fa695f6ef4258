"""``leaseq work``: a function works on a queue from the command line."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import leaseq
from tests.cli.conftest import Call
from tests.conftest import Server
from tests.support.patience import eventually
from tests.support.processes import LEASEQ

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_example_works_until_it_is_stopped(server: Server, queue: leaseq.Queue) -> None:
    queue.enqueue_many({"text": text} for text in ("Where is my PARCEL?", "My password", "Hello"))
    process = subprocess.Popen(
        [sys.executable, "-m", "leaseq", "work", queue.name, "prelabel:handle", "--person", "prelabel-bot"],
        cwd=EXAMPLES,
        env={**os.environ, "LEASEQ_REDIS_URL": server.url},
        stderr=subprocess.PIPE,
        text=True,
    )
    eventually(lambda: queue.stats().finished == 3 or process.poll() is not None, "all are finished")
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "3 finished, 0 failed, 0 given back" in said
    assert [a.result["label"] for a in queue.answers()] == ["delivery", "account", "other"]
    assert {a.person for a in queue.answers()} == {"prelabel-bot"}


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("handle", "is not MODULE:FUNCTION"),
        ("no_such_module:handle", "no module 'no_such_module'"),
        ("json:no_such_function", "has no function 'no_such_function'"),
    ],
)
def test_a_function_that_is_not_there(call: Call, queue: leaseq.Queue, function: str, said: str) -> None:
    queue.configure()
    failed = call("work", queue.name, function)
    assert failed.exit_code == 2
    assert said in failed.stderr


def test_a_queue_that_is_not_there(call: Call, queue: leaseq.Queue) -> None:
    failed = call("work", queue.name, "json:dumps")
    assert failed.exit_code == 1
    assert queue.name in failed.stderr


def test_a_module_that_breaks_when_it_is_imported(
    call: Call, queue: leaseq.Queue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_for_work.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    queue.configure()
    failed = call("work", queue.name, "broken_for_work:handle")
    assert failed.exit_code == 2
    assert (
        failed.stderr == "leaseq: 'broken_for_work' can't be imported: ZeroDivisionError: division by zero\n"
    )


def test_a_server_that_is_away_at_the_start(call: Call, tmp_path: Path) -> None:
    failed = call("work", "reviews", "json:dumps", "--redis", f"unix://{tmp_path}/nothing.sock")
    assert failed.exit_code == 1
    assert "no answer from" in failed.stderr


def test_what_the_function_imports_later_comes_from_here_too(
    server: Server, queue: leaseq.Queue, tmp_path: Path
) -> None:
    """By the installed command, which unlike ``python -m`` does not look here by itself; on a terminal."""
    (tmp_path / "lazily.py").write_text("def handle(_):\n    import of_here\n    return of_here.ANSWER\n")
    (tmp_path / "of_here.py").write_text("ANSWER = 42\n")
    queue.enqueue({}, max_attempts=1)
    ours, theirs = pty.openpty()
    words = [str(LEASEQ), "work", queue.name, "lazily:handle"]
    environment = {**os.environ, "LEASEQ_REDIS_URL": server.url, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(words, cwd=tmp_path, env=environment, stderr=theirs) as process:
        os.close(theirs)
        said = b""
        while b"1 finished, 0 failed," not in said:
            said += os.read(ours, 4_096)  # an error where the process has ended
        process.terminate()
        with suppress(OSError):  # what a terminal says that nobody has any more
            while more := os.read(ours, 4_096):
                said += more
    os.close(ours)
    assert process.returncode == 0
    assert b" per second" in said
    assert b"1 finished, 0 failed, 0 given back" in said
    assert next(queue.answers()).result == 42
