"""Writes that requests hand to a thread."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Sequence

import pytest

from leaseq.webapp.store import deferred
from leaseq.webapp.store.deferred import Deferred
from tests.support.waiting import TIMEOUT


def flush_in_time(numbers: Deferred[int]) -> None:
    """Flush, and fail if it does not end."""
    thread = threading.Thread(target=numbers.flush, daemon=True)
    thread.start()
    thread.join(TIMEOUT)
    assert not thread.is_alive()


def test_all_are_written_in_order_and_those_that_come_meanwhile_at_once() -> None:
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


def test_a_flush_does_not_wait_for_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deferred, "GATHERED_SECONDS", 2 * TIMEOUT)
    output: list[int] = []
    numbers = Deferred[int](output.extend)
    numbers.add(1)
    flush_in_time(numbers)
    flush_in_time(numbers)
    assert output == [1]


def test_a_flush_does_not_wait_for_what_is_added_after_it() -> None:
    """Under constant load there is always more."""
    load_ended = threading.Event()
    numbers = Deferred[int](lambda entries: None if load_ended.is_set() else numbers.add(entries[-1] + 1))
    numbers.add(1)
    flush_in_time(numbers)
    load_ended.set()
    numbers.flush()


def test_what_is_not_written_yet_is_pending() -> None:
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


def test_a_process_that_ends_writes_them_first() -> None:
    program = (
        "from leaseq.webapp.store.deferred import Deferred\n"
        "Deferred(lambda entries: print(*entries)).add('kept')\n"
    )
    completed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=TIMEOUT
    )
    assert completed.stdout == "kept\n"


def test_a_batch_that_cannot_be_written_is_logged_and_the_next_one_is(
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
