"""Request slots are granted in order of arrival, and none is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from leaseq.webapp.serving.middleware import RequestSlots
from tests.support.waiting import TIMEOUT, eventually


class Line:
    """Requests that wait for the only slot, each in a thread; records their names in the order of service."""

    def __init__(self, slots: RequestSlots) -> None:
        self.slots = slots
        self.order: list[str] = []
        self._threads: list[threading.Thread] = []

    def join(self, name: str, acquire: Callable[[], object]) -> None:
        def wait() -> None:
            acquire()
            self.order.append(name)
            self.slots.release()

        count_before = len(self.slots._line)
        self._threads.append(threading.Thread(target=wait, daemon=True))
        self._threads[-1].start()
        eventually(lambda: len(self.slots._line) == count_before + 1)

    def run(self) -> list[str]:
        self.slots.release()
        for thread in self._threads:
            thread.join(TIMEOUT)
        return self.order


@pytest.fixture
def line() -> Line:
    slots = RequestSlots(1)
    assert slots.acquire() == 0.0
    return Line(slots)


def test_a_slot_goes_to_the_first_in_line(line: Line) -> None:
    for name in ("one", "two", "three"):
        line.join(name, line.slots.acquire)
    assert line.run() == ["one", "two", "three"]
    assert line.slots.acquire() == 0.0, "it is free again"


def test_later_request_does_not_overtake_waiting_request(line: Line) -> None:
    line.join("one", line.slots.acquire)
    line.slots.release()
    line.slots.acquire()  # arrives now
    assert line.order == ["one"]


def test_request_after_lending_its_slot_gets_next_slot(line: Line) -> None:
    """It has already waited in line."""
    line.join("one", line.slots.acquire)
    line.join("went on", lambda: line.slots.acquire(at_front=True))
    assert line.run() == ["went on", "one"]


def test_acquire_returns_waiting_time() -> None:
    now = [100.0]
    slots = RequestSlots(1, clock=lambda: now[0])
    slots.acquire()
    waits: list[float] = []
    thread = threading.Thread(target=lambda: waits.append(slots.acquire()))
    thread.start()
    eventually(lambda: len(slots._line) == 1)
    now[0] += 2.5
    slots.release()
    thread.join(TIMEOUT)
    assert waits == [2.5]


def test_request_interrupted_in_line_keeps_no_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    slots = RequestSlots(1)
    slots.acquire()
    for has_slot in (False, True):  # before its turn, and at its turn

        def end(turn: threading.Event, has_slot: bool = has_slot) -> None:
            if has_slot:
                slots.release()
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(threading.Event, "wait", end)
            with pytest.raises(KeyboardInterrupt):
                slots.acquire()
    assert slots.acquire() == 0.0
