"""What commands show on a terminal while they run."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import pytest

import leaseq
from tests.support.leases import not_none
from tests.support.waiting import TIMEOUT

Run = Callable[..., tuple[int, str]]
BAR = "━"
WHOLE_BAR = BAR * 40  # the width for rich; without colors, it draws nothing for the remaining part
ERASE_LINE = "\x1b[2K"


@pytest.fixture
def run_on_terminal(server: Any) -> Iterator[Run]:
    """Run a command whose standard error is a terminal, and with ``stdout`` its output, too. Return its exit
    code and everything that the terminal received."""
    screen, terminal = pty.openpty()
    terminal_settings = {"TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "60", "LINES": "30", "PYTHONUTF8": "1"}
    environment = {**os.environ, **terminal_settings, "LEASEQ_REDIS_URL": server.url}
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        environment.pop(name, None)

    def run(*args: str, stdin: int | IO[bytes] = subprocess.DEVNULL, stdout: bool = False) -> tuple[int, str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "leaseq", *args],
            stdin=stdin,
            stdout=terminal if stdout else subprocess.DEVNULL,
            stderr=terminal,
            env=environment,
        )
        os.close(terminal)
        output = b""
        while data := _read(screen):
            output += data
        return process.wait(TIMEOUT), output.decode()

    yield run
    os.close(screen)


def _read(screen: int) -> bytes:
    try:
        return os.read(screen, 1 << 16)
    except OSError:  # on Linux: no process has the other end open any longer
        return b""


def numbers(screen: str, unit: str) -> list[str]:
    """Return each number that the bar showed, in order."""
    return re.findall(rf"([\d,]+) {unit}(?! written)", screen)


def is_erased(screen: str, unit: str) -> bool:
    """Whether the bar was erased when the command ended."""
    return ERASE_LINE in screen.rpartition(f" {unit} {BAR}")[2]


def test_import_of_file_shows_progress_bar_and_row_count(
    run_on_terminal: Run, new_queue: leaseq.Queue, tmp_path: Path
) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"[b]":1,"[b]":2}\n{"n":1}\n')
    code, screen = run_on_terminal("import", new_queue.name, str(file))
    assert code == 1
    assert numbers(screen, "rows")[-1] == "2"
    assert WHOLE_BAR in screen
    assert is_erased(screen, "rows")
    assert "line 1: expected each key once in an object, got '[b]' twice" in screen


def test_dry_run_progress_counts_readable_and_bad_rows(
    run_on_terminal: Run, new_queue: leaseq.Queue, tmp_path: Path
) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"n":1}\n' * 995 + '{"n":\n' * 5)
    code, screen = run_on_terminal("import", new_queue.name, str(file), "--dry-run")
    assert code == 1
    assert numbers(screen, "rows")[-1] == "1,000"


def test_import_of_pipe_shows_row_count(run_on_terminal: Run, new_queue: leaseq.Queue) -> None:
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as rows:
        with os.fdopen(writer, "wb") as stream:
            stream.write(b'{"n":1}\n' * 2_000)
        code, screen = run_on_terminal("import", new_queue.name, "-", "--format", "jsonl", stdin=rows)
    assert code == 0
    assert numbers(screen, "rows")[-1] == "2,000"


@pytest.mark.parametrize(("file", "stdout"), [("answers.csv", True), ("-", False)])
def test_export_updates_progress_every_500_answers(
    run_on_terminal: Run, new_queue: leaseq.Queue, tmp_path: Path, file: str, stdout: bool
) -> None:
    new_queue.enqueue_many({"n": n} for n in range(501))
    for _ in range(501):
        new_queue.finish(not_none(new_queue.reserve("ann")), {})
    path = file if file == "-" else str(tmp_path / file)
    code, screen = run_on_terminal("export", new_queue.name, path, stdout=stdout)
    assert code == 0
    assert set(numbers(screen, "answers")) == {"0", "500"}
    assert BAR * 39 in screen
    assert WHOLE_BAR not in screen
    assert is_erased(screen, "answers")
    assert ("501 answers written to" in screen) is (file != "-")


def test_export_to_terminal_shows_no_progress_bar(run_on_terminal: Run, new_queue: leaseq.Queue) -> None:
    new_queue.enqueue({"n": 1}, id="one")
    new_queue.finish(not_none(new_queue.reserve("ann")), {})
    code, screen = run_on_terminal("export", new_queue.name, stdout=True)
    assert code == 0
    assert json.loads(screen)["id"] == "one"


def test_watched_stats_are_json_on_a_terminal_too(server: Any, new_queue: leaseq.Queue) -> None:
    screen, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "leaseq", "stats", new_queue.name, "--watch", "--json"],
        stdout=terminal,
        env={**os.environ, "LEASEQ_REDIS_URL": server.url},
    )
    os.close(terminal)
    output = b""
    while b"\n" not in output and (data := _read(screen)):
        output += data
    process.send_signal(signal.SIGINT)
    while _read(screen):
        pass
    os.close(screen)
    assert process.wait(TIMEOUT) == 0
    assert json.loads(output.partition(b"\n")[0])["queues"][0]["name"] == new_queue.name
