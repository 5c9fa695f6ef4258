"""Live updates of the dashboards with server-sent events (docs/decisions/0007-events.md)."""

from __future__ import annotations

from dataclasses import dataclass

from leaseq.webapp.realtime.poller import Poller
from leaseq.webapp.realtime.snapshot import Snapshots


@dataclass(frozen=True, slots=True)
class LiveUpdates:
    """The parts of a process that update its dashboards."""

    snapshots: Snapshots
    poller: Poller

    def close(self) -> None:
        """End all streams now, and refuse later ones."""
        self.poller.close()
