"""What the sentinels did in an outage, step by step."""

from __future__ import annotations

from tests.conformance.topology.said import LogMessage, said
from tests.conformance.topology.watched import SentinelService
from tests.faults.course import Course, slowest_client
from tests.faults.history import History
from tests.faults.outage import gap

# Each in the logs of the sentinels, but for the last one, which is in the new primary's.
NOTICED, AGREED, TRIES, ELECTED = "+sdown master", "+odown master", "+try-failover", "+elected-leader"
PROMOTED, TOLD = "+promoted-slave", "+switch-master"
FOLLOWED = ("Partial resynchronization request from", "Synchronization with replica")
# An election without a winner, no replica to promote, a promotion that takes too long; a clock that jumped.
FAILED = ("-failover-abort", "+tilt")


def course(service: SentinelService, history: History, at: float) -> Course:
    """Of the longest outage after a fault at this time. Sentinels notice that the primary is gone, agree on
    it, and elect one of them, who promotes a replica, tells the others, and lets the second replica follow
    the new primary: without that one nothing is confirmed."""
    begun, ended = gap(history, at)
    messages = [one for one in said(service.sentinels, at) if one.at <= ended]
    switches = [one for one in messages if one.what.startswith(TOLD)]
    steps: list[tuple[str, float]] = []
    if switches:
        port = switches[-1].what.split()[-1]
        switched = next(one for one in switches if one.what.endswith(f" {port}"))
        before = [one for one in switches if one.at < switched.at]
        ours = [one for one in messages if (before[-1].at if before else at) <= one.at <= switched.at]
        for name, event in (("noticed", NOTICED), ("agreed", AGREED)):
            steps += [(name, one.at) for one in ours if one.what.startswith(event)][:1]
        for name, event in (("elected", ELECTED), ("promoted", PROMOTED)):
            steps += [(name, one.at) for one in ours if one.what.startswith(event)][-1:]
        steps += [("told", switched.at), *_followed(service, int(port), steps[-1][1])]
    last = max((when for _, when in steps), default=at)
    return Course(begun, ended, steps, _anew(messages, steps), slowest_client(history, last))


def _anew(messages: list[LogMessage], steps: list[tuple[str, float]]) -> list[LogMessage]:
    """What failed, and who tried once more after a first one was done, until the election that counted."""
    until = dict(steps).get("elected", 0.0)
    done = next((one.at for one in messages if one.what.startswith(TOLD)), until)
    tries = [one for one in messages if one.what.startswith(TRIES) and done < one.at <= until]
    failed = [one for one in messages if one.what.startswith(FAILED) and one.at <= until]
    return sorted([*tries, *failed], key=lambda one: one.at)


def _followed(service: SentinelService, port: int, promoted: float) -> list[tuple[str, float]]:
    primary = next(node for node in service.nodes if service.port(node) == port)
    lines = [one for one in said([primary], promoted) if one.what.startswith(FOLLOWED)]
    return [("followed", one.at) for one in lines[:1]]
