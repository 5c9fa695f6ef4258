"""Where the time of an outage went: by the logs of those who ended it, and by what clients were answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.conformance.topology.said import LogMessage
from tests.faults.history import Call, History

_AGAIN = 0.1  # seconds after which, at most, the people of the tests send again what was not answered


@dataclass(frozen=True)
class Course:
    """One outage. ``steps``: what had to happen before anybody could be answered again, each with its time.
    ``anew``: what made those who replace a primary begin anew meanwhile."""

    begun: float
    ended: float
    steps: list[tuple[str, float]]
    anew: list[LogMessage]
    slowest: float  # seconds from the last step until each who was trying was answered

    @property
    def seconds(self) -> float:
        return self.ended - self.begun

    @property
    def clients(self) -> float:
        """Seconds of it that were left once all steps were done."""
        return self.ended - max([self.begun, *(at for _, at in self.steps)])

    def __str__(self) -> str:
        parts, before = [], self.begun
        for name, at in self.steps:
            parts.append(f"{name} {max(at - before, 0):.2f}, ")
            before = max(at, before)
        lines = "".join(f"\n   {one.by} at {one.at - self.begun:.2f}: {one.what}" for one in self.anew)
        return (
            f"{self.seconds:.2f} s without an answer: {''.join(parts)}first answer {self.clients:.2f}, "
            f"slowest {self.slowest:.2f}{lines}"
        )


def summed_up(courses: Sequence[Course]) -> str:
    """In one line: how long, how much of that the clients took, and how often the others began anew."""
    seconds, clients = sorted(one.seconds for one in courses), max(one.clients for one in courses)
    middle, anew = seconds[len(seconds) // 2], sum(bool(one.anew) for one in courses)
    return (
        f"{len(courses)} times, nothing lost; outage {seconds[0]:.2f} to {seconds[-1]:.2f} s, mostly "
        f"{middle:.2f}, the clients' part at most {clients:.2f}; begun anew in {anew}"
    )


def slowest_client(history: History, ready: float) -> float:
    """How long after this time the last of those was answered who were trying at it."""
    people: dict[str, list[Call]] = {}
    for call in sorted(history.calls, key=lambda call: call.start):
        people.setdefault(call.person, []).append(call)
    return max((_until_answered(calls, ready) for calls in people.values()), default=0.0)


def _until_answered(calls: list[Call], ready: float) -> float:
    trying_until = 0.0  # when somebody's last unanswered call ended, and a moment more
    for call in calls:
        if call.start > max(ready, trying_until):
            break
        if call.end > ready and call.outcome != "unknown":
            return call.end - ready
        trying_until = call.end + _AGAIN if call.outcome == "unknown" else 0.0
    return 0.0
