"""The steps of a cluster's nodes in an outage."""

from __future__ import annotations

from tests.conformance.topology.cluster import ReplicatedCluster
from tests.conformance.topology.server_logs import read_logs
from tests.faults.course import Course, longest_wait
from tests.faults.history import History
from tests.faults.outage import longest_gap

NOTICE, AGREEMENT, ELECTION = "possibly failing.", "as failing (quorum reached).", "Failover election won"
SYNC = ("Partial resynchronization request from", "Synchronization with replica")
FAILURE = "Failover attempt expired"


def course_of(cluster: ReplicatedCluster, history: History, at: float) -> Course:
    """Return the course of the longest outage after a fault at this time. A node loses contact to a primary,
    most primaries agree on that, they elect a replica, and another replica follows it. A move of a slot has
    no such steps.
    """
    start, end = longest_gap(history, at)
    messages = [message for message in read_logs(cluster.nodes, at) if message.at <= end]
    events = {"noticed": NOTICE, "agreed": AGREEMENT, "elected": ELECTION}
    by_name = (
        (name, [message for message in messages if event in message.text]) for name, event in events.items()
    )
    steps = [(name, lines[0].at) for name, lines in by_name if lines]
    for election in (message for message in messages if message.text.startswith(ELECTION)):
        primary = next(node for node in cluster.nodes if node.folder.name == election.node)
        lines = [message for message in read_logs([primary], election.at) if message.text.startswith(SYNC)]
        steps += [("followed", message.at) for message in lines[:1]]
    setbacks = [message for message in messages if FAILURE in message.text]
    last_step = max((step_time for _, step_time in steps), default=at)
    return Course(start, end, steps, setbacks, longest_wait(history, last_step))
