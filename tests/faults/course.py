"""Where the time of an outage went: by the logs of those who ended it, and by what clients were answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.conformance.topology.server_logs import LogMessage
from tests.faults.history import Call, History

_RETRY_SECONDS = 0.1  # seconds after which, at most, the people of the tests send again what was not answered


@dataclass(frozen=True)
class Course:
    """One outage. ``steps``: what had to happen before anybody could be answered again, each with its time.
    ``setbacks``: what made those who replace a primary begin anew meanwhile."""

    start: float
    end: float
    steps: list[tuple[str, float]]
    setbacks: list[LogMessage]
    longest_wait: float  # seconds from the last step until each who was trying was answered

    @property
    def seconds(self) -> float:
        return self.end - self.start

    @property
    def client_seconds(self) -> float:
        """Seconds of it that were left once all steps were done."""
        return self.end - max([self.start, *(at for _, at in self.steps)])

    def __str__(self) -> str:
        parts, previous = [], self.start
        for name, at in self.steps:
            parts.append(f"{name} {max(at - previous, 0):.2f}, ")
            previous = max(at, previous)
        lines = "".join(
            f"\n   {message.node} at {message.at - self.start:.2f}: {message.text}"
            for message in self.setbacks
        )
        return (
            f"{self.seconds:.2f} s without an answer: {''.join(parts)}"
            f"first answer {self.client_seconds:.2f}, slowest {self.longest_wait:.2f}{lines}"
        )


def summarize(courses: Sequence[Course]) -> str:
    """In one line: how long, how much of that the clients took, and how often the others began anew."""
    durations, client_seconds = (
        sorted(course.seconds for course in courses),
        max(course.client_seconds for course in courses),
    )
    median, setback_count = durations[len(durations) // 2], sum(bool(course.setbacks) for course in courses)
    return (
        f"{len(courses)} times, nothing lost; outage {durations[0]:.2f} to {durations[-1]:.2f} s, mostly "
        f"{median:.2f}, the clients' part at most {client_seconds:.2f}; begun anew in {setback_count}"
    )


def longest_wait(history: History, ready: float) -> float:
    """How long after this time the last of those was answered who were trying at it."""
    people: dict[str, list[Call]] = {}
    for call in sorted(history.calls, key=lambda call: call.start):
        people.setdefault(call.person, []).append(call)
    return max((_wait_of(calls, ready) for calls in people.values()), default=0.0)


def _wait_of(calls: list[Call], ready: float) -> float:
    retry_until = 0.0  # when somebody's last unanswered call ended, and a moment more
    for call in calls:
        if call.start > max(ready, retry_until):
            break
        if call.end > ready and call.outcome != "unknown":
            return call.end - ready
        retry_until = call.end + _RETRY_SECONDS if call.outcome == "unknown" else 0.0
    return 0.0
