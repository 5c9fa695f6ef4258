"""The producer and the consumer of examples/, run as its docstring describes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import leaseq
from tests.web.conftest import SECRET, Caller
from tests.web.gunicorn_server import ADJUSTED_APP, run_gunicorn

EXAMPLE = Path(__file__).parents[3] / "examples" / "rest.py"


@pytest.fixture(scope="module")
def api_url(server: Any) -> Iterator[str]:
    with run_gunicorn(server.url, SECRET, workers=1, threads=4, app=ADJUSTED_APP, NO_WAIT="1") as (url, _):
        yield f"{url}/api/v1"


def run(api_url: str, token: str, *arguments: str, lines: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "LEASEQ": api_url, "TOKEN": token}
    command = [sys.executable, "-W", "error", str(EXAMPLE), *arguments]
    return subprocess.run(
        command, check=False, env=environment, input=lines, capture_output=True, text=True, timeout=60
    )


def test_consumer_finishes_items_of_producer(api_url: str, queue: leaseq.Queue, manager: Caller) -> None:
    queue.configure()
    lines = "My parcel is late\nThank you\nWhere is it\n"
    result = run(api_url, manager.token, "produce", queue.name, lines=lines)
    assert (result.stderr, result.stdout) == ("", "{'added': 3, 'duplicates': 0}\n")
    queue.enqueue({"text": "an id with more in it"}, id="a/b c")
    assert run(api_url, manager.token, "consume", queue.name).stderr == ""
    assert [answer.result for answer in queue.answers()] == [{"words": n} for n in (4, 2, 3, 6)]


def test_refusal_is_printed_to_stderr(api_url: str, queue: leaseq.Queue, worker: Caller) -> None:
    queue.configure()
    result = run(api_url, worker.token, "produce", queue.name, lines="x\n")
    assert result.returncode == 1
    assert '"code": "forbidden"' in result.stderr


def test_example_has_at_most_40_lines() -> None:
    assert len(EXAMPLE.read_text().splitlines()) <= 40
