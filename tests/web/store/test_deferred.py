"""Deferred writes, which a background thread makes in batches."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Sequence

import pytest

from leaseq.webapp.store import base
from leaseq.webapp.store.base import Deferred
from tests.support.waiting import TIMEOUT


def flush_in_time(numbers: Deferred[int]) -> None:
    """Flush, and fail if it does not end."""
    thread = threading.Thread(target=numbers.flush, daemon=True)
    thread.start()
    thread.join(TIMEOUT)
    assert not thread.is_alive()


def test_entries_added_during_write_are_written_as_next_batch() -> None:
    batches: list[list[int]] = []
    write_started, go_on = threading.Event(), threading.Event()

    def write(entries: Sequence[int]) -> None:
        batches.append(list(entries))
        write_started.set()
        assert go_on.wait(TIMEOUT)

    numbers = Deferred(write)
    numbers.add(1)
    assert write_started.wait(TIMEOUT)
    numbers.add(2)
    numbers.add(3)
    go_on.set()
    numbers.flush()
    assert batches == [[1], [2, 3]]
    numbers.add(4)
    numbers.flush()
    assert batches[2:] == [[4]]


def test_flush_does_not_wait_for_gathering_period(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "GATHERED_SECONDS", 2 * TIMEOUT)
    output: list[int] = []
    numbers = Deferred[int](output.extend)
    numbers.add(1)
    flush_in_time(numbers)
    flush_in_time(numbers)
    assert output == [1]


def test_flush_does_not_wait_for_later_entries() -> None:
    """Under constant load entries are always being added."""
    load_ended = threading.Event()
    numbers = Deferred[int](lambda entries: None if load_ended.is_set() else numbers.add(entries[-1] + 1))
    numbers.add(1)
    flush_in_time(numbers)
    load_ended.set()
    numbers.flush()


def test_unwritten_entries_are_pending() -> None:
    write_started, go_on = threading.Event(), threading.Event()

    def write(_: Sequence[int]) -> None:
        write_started.set()
        assert go_on.wait(TIMEOUT)

    numbers = Deferred(write)
    numbers.add(1)
    assert write_started.wait(TIMEOUT)
    numbers.add(2)
    assert numbers.pending() == [1, 2]
    go_on.set()
    numbers.flush()
    assert numbers.pending() == []


def test_entries_are_written_at_process_exit() -> None:
    program = (
        "from leaseq.webapp.store.base import Deferred\n"
        "Deferred(lambda entries: print(*entries)).add('kept')\n"
    )
    completed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=TIMEOUT
    )
    assert completed.stdout == "kept\n"


def test_entry_added_while_the_process_ends_is_written() -> None:
    """A request may still be at work then: a worker of gunicorn ends when its main process was killed."""
    program = (
        "import atexit\n"
        "from leaseq.webapp.store.base import Deferred\n"
        "entries = Deferred(lambda entries: print(*entries))\n"
        "entries.add('early')\n"
        "atexit.register(entries.add, 'late')\n"
    )
    completed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (completed.stdout.split(), completed.stderr) == (["early", "late"], "")


def test_failed_batch_is_logged_and_next_batch_is_written(
    caplog: pytest.LogCaptureFixture,
) -> None:
    output: list[int] = []

    def write(entries: Sequence[int]) -> None:
        if 1 in entries:
            raise ValueError("no")
        output.extend(entries)

    numbers = Deferred(write)
    for number in (1, 2):
        numbers.add(number)
        numbers.flush()
    assert output == [2]
    assert "could not be written: [1]" in caplog.text
