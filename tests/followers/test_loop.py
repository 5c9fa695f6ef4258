"""The loop of a follower: rounds, pauses, outages, subjects that fail, and its end."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from leaseq.followers import Loop, Wait
from tests.support.refused import unavailable

log = logging.getLogger("tests.followers")


class Steps:
    """The work of a loop: each call takes the next of the subject's outcomes, and then there is no more."""

    def __init__(self, **outcomes: list[Any]) -> None:
        self.now = 0.0
        self.calls: list[str] = []
        self.outcomes = outcomes
        self.stop = threading.Event()
        self.pauses: list[float] = []

    def make_loop(self, **options: Any) -> Loop[str]:
        options = {"pause": 1.0, "clock": lambda: self.now, **options}
        return Loop("the test", lambda: list(self.outcomes), self.work, log, **options)

    def work(self, subject: str) -> object:
        self.calls.append(subject)
        outcome = self.outcomes[subject].pop(0) if self.outcomes[subject] else False
        if isinstance(outcome, Exception):
            raise outcome
        return outcome() if callable(outcome) else outcome

    def take(self, seconds: float) -> Callable[[], bool]:
        """Work that takes this long."""

        def work() -> bool:
            self.now += seconds
            return False

        return work

    @contextmanager
    def waiting(self) -> Iterator[Wait]:
        def wait(seconds: float) -> None:
            self.pauses.append(seconds)
            self.now += seconds
            if not any(self.outcomes.values()):
                self.stop.set()

        yield wait


def test_round_says_whether_there_is_more() -> None:
    loop = (steps := Steps(a=[True, False, False], b=[False, 3, 0])).make_loop()
    assert [loop.round() for _ in range(3)] == [True, True, False]
    assert steps.calls == ["a", "b"] * 3


def test_rounds_begin_at_the_pace_however_long_they_take() -> None:
    steps = Steps(a=[])
    steps.outcomes["a"] = [steps.take(seconds) for seconds in (0.0, 0.3, 2.0, 0.0)]
    steps.make_loop().run(steps.stop, steps.waiting)
    assert steps.pauses == pytest.approx([1, 0.7, 0.05, 1])


def test_there_is_no_pause_while_there_is_more() -> None:
    steps = Steps(a=[True, True, False])
    steps.make_loop().run(steps.stop, steps.waiting)
    assert len(steps.calls) == 3
    assert steps.pauses == [1]


def test_subject_that_fails_is_tried_again_later_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    loop = (steps := Steps(bad=[ValueError("broken")] * 4, good=[])).make_loop()
    times = []
    for _ in range(12):
        before = steps.calls.count("bad")
        loop.round()
        times += [steps.now] * (steps.calls.count("bad") - before)
        steps.now += 1
    assert times == [0, 1, 3, 7]
    assert steps.calls.count("good") == 12
    assert caplog.text.count("queue bad is tried again later: ValueError: broken") == 1
    steps.now += 60
    loop.round()
    assert "queue bad: the test goes on with it" in caplog.text


def test_a_subject_is_tried_again_after_a_minute_at_most() -> None:
    loop = (steps := Steps(bad=[ValueError("broken")] * 99)).make_loop()
    for _ in range(12):
        loop.round()
        steps.now += 60
    assert len(steps.calls) == 12


def test_a_subject_that_comes_back_is_tried_at_once() -> None:
    loop = (steps := Steps(bad=[ValueError("broken")], good=[])).make_loop()
    loop.round()
    steps.outcomes = {"good": []}
    loop.round()
    steps.outcomes = {"bad": []}
    loop.round()
    assert steps.calls == ["bad", "good", "good", "bad"]


def test_outage_is_logged_once_and_the_loop_goes_on(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaseq.followers.loop.RETRY_SECONDS", 0.001)
    steps = Steps(a=[unavailable()] * 3 + [True], b=[])
    opened: list[bool] = []

    @contextmanager
    def waiting() -> Iterator[Wait]:
        opened.append(True)
        with steps.waiting() as wait:
            yield wait

    steps.make_loop().run(steps.stop, waiting)
    assert steps.calls == ["a", "a", "a", "a", "b", "a", "b"]
    assert len(opened) == 4, "what it waits with is opened again"
    assert caplog.text.count("it is away") == 1
    assert caplog.text.count("the test goes on") == 1


def test_fatal_error_ends_the_loop() -> None:
    steps = Steps(a=[ValueError("broken")])
    with pytest.raises(ValueError, match="broken"):
        steps.make_loop(is_fatal=lambda error: isinstance(error, ValueError)).run(steps.stop, steps.waiting)


def test_stopping_ends_the_pause() -> None:
    steps = Steps(a=[])
    thread = threading.Thread(target=steps.make_loop(pause=3_600.0).run, args=(steps.stop,))
    thread.start()
    steps.stop.set()
    thread.join(60)
    assert not thread.is_alive()
