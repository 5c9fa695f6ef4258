"""The description of an outage agrees with the calls and logs that it is made from."""

from __future__ import annotations

from tests.conformance.topology.server_logs import LogMessage
from tests.faults.course import Course, longest_wait, summarize
from tests.faults.history import Call, History
from tests.faults.outage import longest_gap, recovery_time


def history_of(*calls: tuple[str, float, float, bool]) -> History:
    """Make a history from calls: the person, start, end, and whether there was a reply."""
    recorded_calls = [
        Call("reserve", person, start=start, end=end, outcome="ok" if is_answered else "unknown")
        for person, start, end, is_answered in calls
    ]
    return History(0, recorded_calls)


def test_outage_durations_are_computed_from_calls() -> None:
    history = history_of(
        ("ann", 1.0, 1.5, True),
        ("ann", 2.0, 4.5, True),  # was under way at 4
        ("bob", 3.0, 3.95, False),
        ("bob", 4.0, 4.1, False),  # retries repeatedly
        ("bob", 4.15, 4.75, True),
        ("eve", 2.0, 2.5, False),
        ("eve", 5.5, 5.6, True),  # thought for three seconds
    )
    assert longest_wait(history, 4.0) == 0.75
    assert longest_gap(history, 1.2) == (1.5, 4.5)
    assert recovery_time(history, 1.2) == 5.6 - 1.2


def test_outage_is_described_by_its_steps() -> None:
    message = LogMessage(2.0, "sentinel-1", "-failover-abort-not-elected")
    quick_course = Course(1.0, 3.5, [("noticed", 2.0), ("told", 3.25)], [], 0.5)
    slow_course = Course(1.0, 8.0, [("noticed", 2.0), ("told", 6.0)], [message], 2.0)
    assert (quick_course.seconds, quick_course.client_seconds, slow_course.client_seconds) == (2.5, 0.25, 2.0)
    assert "noticed 1.00, told 1.25, first answer 0.25, slowest 0.50" in str(quick_course)
    assert "sentinel-1 at 1.00: -failover-abort-not-elected" in str(slow_course)
    assert summarize([quick_course, slow_course, quick_course]) == (
        "3 times, nothing lost; outage 2.50 to 7.00 s, mostly 2.50, the clients' part at most 2.00; "
        "setbacks in 1"
    )
