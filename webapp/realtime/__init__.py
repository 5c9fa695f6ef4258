"""Live updates of the dashboards by server-sent events (docs/decisions/0007-events.md)."""

from __future__ import annotations

from dataclasses import dataclass

from leaseq.webapp.realtime.poller import Feed
from leaseq.webapp.realtime.snapshot import Snapshots
from leaseq.webapp.realtime.sse_hub import Hub


@dataclass(frozen=True, slots=True)
class Live:
    hub: Hub
    feed: Feed
    pictures: Snapshots

    @classmethod
    def with_places(cls, places: int) -> Live:
        """Set up the hub for this many watchers at a time."""
        hub = Hub(places)
        return cls(hub, Feed(hub), Snapshots())
