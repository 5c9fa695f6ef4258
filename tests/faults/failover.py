"""The steps of the sentinels in an outage."""

from __future__ import annotations

from tests.conformance.topology.sentinels import SentinelService
from tests.conformance.topology.server_logs import LogMessage, read_logs
from tests.faults.course import Course, longest_wait
from tests.faults.history import History
from tests.faults.outage import longest_gap

# Each is in the sentinels' logs, except the last one, which is in the new primary's log.
NOTICE, AGREEMENT, TRY, ELECTION = "+sdown master", "+odown master", "+try-failover", "+elected-leader"
PROMOTION, SWITCH = "+promoted-slave", "+switch-master"
SYNC = ("Partial resynchronization request from", "Synchronization with replica")
# An election without a winner, no replica to promote, a promotion that takes too long; a clock that jumped.
FAILURES = ("-failover-abort", "+tilt")


def course_of(service: SentinelService, history: History, at: float) -> Course:
    """Return the course of the longest outage after a fault at this time. Sentinels notice that the primary
    is gone, agree on it, and elect a leader, which promotes a replica, announces it, and reconfigures the
    second replica: without that replica, nothing is confirmed."""
    start, end = longest_gap(history, at)
    messages = [message for message in read_logs(service.sentinels, at) if message.at <= end]
    switches = [message for message in messages if message.text.startswith(SWITCH)]
    steps: list[tuple[str, float]] = []
    if switches:
        port = switches[-1].text.split()[-1]
        switch = next(message for message in switches if message.text.endswith(f" {port}"))
        earlier_switches = [message for message in switches if message.at < switch.at]
        switch_messages = [
            message
            for message in messages
            if (earlier_switches[-1].at if earlier_switches else at) <= message.at <= switch.at
        ]
        for name, event in (("noticed", NOTICE), ("agreed", AGREEMENT)):
            steps += [(name, message.at) for message in switch_messages if message.text.startswith(event)][:1]
        for name, event in (("elected", ELECTION), ("promoted", PROMOTION)):
            steps += [(name, message.at) for message in switch_messages if message.text.startswith(event)][
                -1:
            ]
        steps += [("told", switch.at), *_sync_step(service, int(port), steps[-1][1])]
    last_step = max((step_time for _, step_time in steps), default=at)
    return Course(start, end, steps, _setbacks(messages, steps), longest_wait(history, last_step))


def _setbacks(messages: list[LogMessage], steps: list[tuple[str, float]]) -> list[LogMessage]:
    """Return the messages of failures, and of new attempts after a first switch, up to the last election."""
    election = dict(steps).get("elected", 0.0)
    first_switch = next((message.at for message in messages if message.text.startswith(SWITCH)), election)
    tries = [
        message
        for message in messages
        if message.text.startswith(TRY) and first_switch < message.at <= election
    ]
    failures = [
        message for message in messages if message.text.startswith(FAILURES) and message.at <= election
    ]
    return sorted([*tries, *failures], key=lambda message: message.at)


def _sync_step(service: SentinelService, port: int, since: float) -> list[tuple[str, float]]:
    primary = next(node for node in service.nodes if service.port(node) == port)
    messages = [message for message in read_logs([primary], since) if message.text.startswith(SYNC)]
    return [("followed", message.at) for message in messages[:1]]
