"""How the time of an outage was spent, from the logs of the nodes and the replies to clients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.conformance.topology.server_logs import LogMessage
from tests.faults.history import Call, History

_RETRY_SECONDS = 0.1  # most seconds after which the people of the tests retry an unanswered call


@dataclass(frozen=True)
class Course:
    """One outage. ``steps``: what had to happen before anybody could get a reply again, each with its time.
    ``setbacks``: log messages of failovers that had to start again."""

    start: float
    end: float
    steps: list[tuple[str, float]]
    setbacks: list[LogMessage]
    longest_wait: float  # seconds from the last step until every waiting client had a reply

    @property
    def seconds(self) -> float:
        return self.end - self.start

    @property
    def client_seconds(self) -> float:
        """Seconds between the last step and the end of the outage."""
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
    """Summarize in one line: durations, the part that the clients caused, and how many had setbacks."""
    durations, client_seconds = (
        sorted(course.seconds for course in courses),
        max(course.client_seconds for course in courses),
    )
    median, setback_count = durations[len(durations) // 2], sum(bool(course.setbacks) for course in courses)
    return (
        f"{len(courses)} times, nothing lost; outage {durations[0]:.2f} to {durations[-1]:.2f} s, mostly "
        f"{median:.2f}, the clients' part at most {client_seconds:.2f}; setbacks in {setback_count}"
    )


def longest_wait(history: History, ready: float) -> float:
    """Return how long after ``ready`` the last person who was trying then had a reply."""
    people: dict[str, list[Call]] = {}
    for call in sorted(history.calls, key=lambda call: call.start):
        people.setdefault(call.person, []).append(call)
    return max((_wait_of(calls, ready) for calls in people.values()), default=0.0)


def _wait_of(calls: list[Call], ready: float) -> float:
    retry_until = 0.0  # a moment after the end of a person's last unanswered call
    for call in calls:
        if call.start > max(ready, retry_until):
            break
        if call.end > ready and call.outcome != "unknown":
            return call.end - ready
        retry_until = call.end + _RETRY_SECONDS if call.outcome == "unknown" else 0.0
    return 0.0
