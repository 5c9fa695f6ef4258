"""What is said of an outage is true of the calls and the logs that it is told of."""

from __future__ import annotations

from tests.conformance.topology.said import LogMessage
from tests.faults.course import Course, slowest_client, summed_up
from tests.faults.history import Call, History
from tests.faults.outage import gap, last_to_go_on


def history(*calls: tuple[str, float, float, bool]) -> History:
    """Of calls: by whom, from when to when, and whether they were answered."""
    made = [
        Call("reserve", person, start=start, end=end, outcome="ok" if answered else "unknown")
        for person, start, end, answered in calls
    ]
    return History(0, made)


def test_who_was_trying_counts_from_when_there_was_somebody_to_answer() -> None:
    calls = history(
        ("ann", 1.0, 1.5, True),
        ("ann", 2.0, 4.5, True),  # was under way at 4
        ("bob", 3.0, 3.95, False),
        ("bob", 4.0, 4.1, False),  # tries again, and again
        ("bob", 4.15, 4.75, True),
        ("eve", 2.0, 2.5, False),
        ("eve", 5.5, 5.6, True),  # thought for three seconds
    )
    assert slowest_client(calls, 4.0) == 0.75
    assert gap(calls, 1.2) == (1.5, 4.5)
    assert last_to_go_on(calls, 1.2) == 5.6 - 1.2


def test_an_outage_is_told_by_its_steps() -> None:
    late = LogMessage(2.0, "sentinel-1", "-failover-abort-not-elected")
    quick = Course(1.0, 3.5, [("noticed", 2.0), ("told", 3.25)], [], 0.5)
    anew = Course(1.0, 8.0, [("noticed", 2.0), ("told", 6.0)], [late], 2.0)
    assert (quick.seconds, quick.clients, anew.clients) == (2.5, 0.25, 2.0)
    assert "noticed 1.00, told 1.25, first answer 0.25, slowest 0.50" in str(quick)
    assert "sentinel-1 at 1.00: -failover-abort-not-elected" in str(anew)
    assert summed_up([quick, anew, quick]) == (
        "3 times, nothing lost; outage 2.50 to 7.00 s, mostly 2.50, the clients' part at most 2.00; "
        "begun anew in 1"
    )
