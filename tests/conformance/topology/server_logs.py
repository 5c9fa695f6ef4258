"""Reads the logs of servers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from tests.conformance.topology.nodes import Node

_LINE = re.compile(r"\d+:\w (\d+ \w+ \d+ [\d:.]+) \S (.*)")


@dataclass(frozen=True)
class LogMessage:
    """A line of a log. ``at`` is in this machine's wall-clock time."""

    at: float
    node: str
    text: str


def read_logs(nodes: Iterable[Node], since: float) -> list[LogMessage]:
    """Return the lines that these servers have written since this time, in order."""
    messages: list[LogMessage] = []
    for server in nodes:
        for line in (server.folder / "log").read_text(errors="replace").splitlines():
            if match := _LINE.fullmatch(line):
                at = datetime.strptime(match[1], "%d %b %Y %H:%M:%S.%f").astimezone().timestamp()
                if at >= since - 0.001:  # logs have a resolution of a millisecond
                    messages.append(LogMessage(at, server.folder.name, match[2]))
    return sorted(messages, key=lambda one: one.at)
