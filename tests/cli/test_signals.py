"""The signals that stop a long-running command: none is missed, whatever the command does at that moment."""

from __future__ import annotations

import itertools
import signal
import sys
import threading
from types import FrameType
from typing import Any

import pytest

from leaseq.cli.common import stopped_by_signals
from tests.support.waiting import TIMEOUT


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_is_noticed_at_each_line_of_a_wait(number: signal.Signals) -> None:
    for signal_line in itertools.count(1):
        with stopped_by_signals() as stop:
            if _wait_with_signal(stop, number, signal_line) < signal_line:
                break  # the wait has no more lines
            assert stop.wait(TIMEOUT)
    assert signal_line > 5


def test_handlers_are_restored() -> None:
    def wakeup_fd() -> int:
        current = signal.set_wakeup_fd(-1)
        signal.set_wakeup_fd(current)
        return current

    before = (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT), wakeup_fd())
    threads = threading.active_count()
    with stopped_by_signals() as stop:
        pass
    after = (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT), wakeup_fd())
    assert (after, threading.active_count(), stop.is_set()) == (before, threads, False)


def _wait_with_signal(stop: threading.Event, number: signal.Signals, signal_line: int) -> int:
    """Wait for a moment, with a signal at this line of the code that waits; the number of lines that ran."""
    lines = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal lines
        if frame.f_code.co_filename != threading.__file__:
            return None
        if event == "line":
            lines += 1
            if lines == signal_line:
                signal.raise_signal(number)
        return trace

    trace_before = sys.gettrace()
    sys.settrace(trace)
    try:
        stop.wait(0.001)
    finally:
        sys.settrace(trace_before)
    return lines
