"""``leaseq work``: a function works on a queue from the command line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import leaseq
from tests.cli.conftest import Call
from tests.conftest import Server

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
    end = time.monotonic() + 30
    while queue.stats().finished < 3:
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.02)
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
