"""Live updates of the dashboards by server-sent events (docs/decisions/0007-events.md)."""

from __future__ import annotations

from dataclasses import dataclass

from leaseq.webapp.realtime.poller import Poller
from leaseq.webapp.realtime.snapshot import Snapshots
from leaseq.webapp.realtime.sse_hub import Hub


@dataclass(frozen=True, slots=True)
class LiveUpdates:
    """The parts of a process that update its dashboards."""

    hub: Hub
    poller: Poller
    snapshots: Snapshots

    @classmethod
    def with_places(cls, places: int) -> LiveUpdates:
        """Set up the hub for this many watchers at a time."""
        hub = Hub(places)
        return cls(hub, Poller(hub), Snapshots())
