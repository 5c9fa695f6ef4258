"""Run every check against every server behind a URL."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from leaseq import Client, ServerRefused, ServerUnavailable
from leaseq.doctor import exposure, policies, proxies, replication, rights, server, storage
from leaseq.doctor.checks import Check, Finding, Group, Node
from leaseq.doctor.replication import Topology, topology_of
from leaseq.engine.keys import SCHEMA
from leaseq.engine.transport import FAILURES
from leaseq.engine.urls import without_password

UNREADABLE = Check(
    "not-seen",
    "unchecked",
    "could not be checked for {what} ({command} is not allowed for this user)",
    "ask the operator of the server, or run the doctor as the user described in docs/acl.md",
)


@dataclass(frozen=True, slots=True)
class Report:
    """The findings of all checks. ``passed``: the groups of checks that found nothing and could read
    everything."""

    server: str
    findings: tuple[Finding, ...]
    passed: dict[Group, str]
    known_schema: int
    schemas: dict[str, int]

    @property
    def ok(self) -> bool:
        """Whether no finding is an error."""
        return not any(finding.level == "error" for finding in self.findings)


class _Examination:
    def __init__(self, client: Client, clock: server.Clock) -> None:
        self.client = client
        self.clock = clock
        self.findings: dict[Group, list[Finding]] = defaultdict(list)
        self.unsure_groups: set[Group] = set()
        self.schemas: dict[str, int] = {}

    def run(self) -> Report:
        with self.client.translating():
            topology = topology_of(self.client)
            unreachable_nodes = {node for node in topology.nodes if not self._examine_node(node, topology)}
            self._collect(
                "replication",
                [*topology.nodes, *topology.sentinels],
                replication.find_problems(topology, unreachable_nodes),
            )
            self._collect_by_client("queues", self._queue_findings())
            self._collect_by_client("pages", proxies.find_problems(self.client))
        unreadable = map(_unreadable_findings, (*topology.nodes, *topology.sentinels))
        findings = chain(*self.findings.values(), *unreadable)
        return Report(
            without_password(self.client.url),
            tuple(sorted(findings, key=lambda finding: _ORDER.index(finding.level))),
            self._passed(topology),
            SCHEMA,
            self.schemas,
        )

    def _examine_node(self, node: Node, topology: Topology) -> bool:
        """Run every check on one server; False if it is one of several and does not answer."""
        findings_by_group: dict[Group, Iterator[Finding]] = {
            "append-only file": storage.find_problems(node),
            "memory": storage.find_memory_problems(node),
            "access": exposure.find_problems(node),
            "server": server.find_problems(node, self.clock),
            "permissions": rights.find_problems(node),
        }
        try:
            for group, findings in findings_by_group.items():
                self._collect(group, [node], findings)
        except FAILURES:
            if topology.kind == "server":
                raise
            return False
        return True

    def _collect(self, group: Group, nodes: list[Node], findings: Iterator[Finding]) -> None:
        """Collect the findings of one group, and note whether anything could not be read."""
        count_before = sum(len(node.unreadable) for node in nodes)
        self.findings[group] += findings
        if sum(len(node.unreadable) for node in nodes) > count_before:
            self.unsure_groups.add(group)

    def _collect_by_client(self, group: Group, findings: Iterator[Finding]) -> None:
        try:
            self._collect(group, [], findings)
        except (ServerRefused, ServerUnavailable):  # other checks report it, such as those of rights
            self.unsure_groups.add(group)

    def _queue_findings(self) -> Iterator[Finding]:
        self.schemas = policies.schemas(self.client)
        yield from policies.find_problems(self.client, self.schemas)

    def _passed(self, topology: Topology) -> dict[Group, str]:
        kinds = {" ".join(server.identity(node)) for node in topology.primaries if node.hello}
        texts: dict[Group, str] = {
            "append-only file": storage.PASSED,
            "memory": storage.MEMORY_PASSED,
            "access": exposure.PASSED,
            "server": f"{', '.join(sorted(kinds)).capitalize()}: {server.PASSED}",
            "permissions": rights.PASSED,
            "replication": replication.PASSED[topology.kind],
            "queues": f"{len(self.schemas):,}, schema {SCHEMA}: {policies.PASSED}",
            "pages": proxies.PASSED,
        }
        return {
            group: text
            for group, text in texts.items()
            if group not in self.unsure_groups and not self.findings[group]
        }


_ORDER = ("error", "warning", "unchecked")


def _unreadable_findings(node: Node) -> Iterator[Finding]:
    by_command: dict[str, dict[str, None]] = defaultdict(dict)
    for command, part in node.unreadable:
        by_command[command][part] = None
    for command, parts in by_command.items():
        yield UNREADABLE.finding(node.where, what=", ".join(parts), command=command)


def examine(client: Client, *, clock: server.Clock = time.time) -> Report:
    """Run every check on every server of this client. Raises ServerUnavailable if none answers.

    ``clock`` returns this machine's time in seconds since the epoch; only tests pass one.
    """
    return _Examination(client, clock).run()
