"""What the nodes of a cluster did in an outage, step by step."""

from __future__ import annotations

from tests.conformance.topology.replicated import ReplicatedCluster
from tests.conformance.topology.said import said
from tests.faults.course import Course, slowest_client
from tests.faults.history import History
from tests.faults.outage import gap

NOTICED, AGREED, ELECTED = "possibly failing.", "as failing (quorum reached).", "Failover election won"
FOLLOWED = ("Partial resynchronization request from", "Synchronization with replica")
FAILED = "Failover attempt expired"


def course(cluster: ReplicatedCluster, history: History, at: float) -> Course:
    """Of the longest outage after a fault at this time. A node does not hear a primary, most primaries agree,
    they elect a replica, and another replica follows that one. Where a slot is moved there are no such steps.
    """
    begun, ended = gap(history, at)
    messages = [one for one in said(cluster.nodes, at) if one.at <= ended]
    events = {"noticed": NOTICED, "agreed": AGREED, "elected": ELECTED}
    by_name = ((name, [one for one in messages if event in one.what]) for name, event in events.items())
    steps = [(name, lines[0].at) for name, lines in by_name if lines]
    for won in (one for one in messages if one.what.startswith(ELECTED)):
        primary = next(node for node in cluster.nodes if node.folder.name == won.by)
        lines = [one for one in said([primary], won.at) if one.what.startswith(FOLLOWED)]
        steps += [("followed", one.at) for one in lines[:1]]
    anew = [one for one in messages if FAILED in one.what]
    last = max((when for _, when in steps), default=at)
    return Course(begun, ended, steps, anew, slowest_client(history, last))
