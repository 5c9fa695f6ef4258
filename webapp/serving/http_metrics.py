"""HTTP metrics: the number of requests, and their duration.

gunicorn's processes share their counts by prometheus-client's files in one directory (docs/decisions,
0008-metrics.md).
"""

from __future__ import annotations

import os

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.multiprocess import MultiProcessCollector

DIRECTORY = "PROMETHEUS_MULTIPROC_DIR"  # prometheus-client's name for it
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})


class HttpMetrics:
    """Counts requests by route. Unknown paths and methods count as one."""

    def __init__(self) -> None:
        self._own = CollectorRegistry()
        self._counts = Counter(
            "leaseq_http_requests",
            "Requests that were answered.",
            ["method", "route", "status"],
            registry=self._own,
        )
        self._seconds = Histogram(
            "leaseq_http_request_seconds",
            "From a request's head to the last byte of its answer; with the time that it waits for an item.",
            ["method", "route"],
            buckets=BUCKETS,
            registry=self._own,
        )

        self._waited = Histogram(
            "leaseq_http_wait_seconds",
            "From when a request's head was read until it was handled.",
            buckets=BUCKETS,
            registry=self._own,
        )
        self._shed = Counter(
            "leaseq_http_shed",
            "Requests that waited too long in line, and were told to come again.",
            registry=self._own,
        )
        self._of: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}  # to look them up takes long

    def waited(self, seconds: float) -> None:
        self._waited.observe(seconds)

    def shed(self) -> None:
        self._shed.inc()

    def count(self, route: str, method: str, status: int, seconds: float) -> None:
        method = method if method in _METHODS else "other"
        found = self._of.get((method, route, status))
        if found is None:
            counter = self._counts.labels(method, route, str(status))
            found = self._of[method, route, status] = counter, self._seconds.labels(method, route)
        found[0].inc()
        found[1].observe(seconds)

    def everywhere(self) -> CollectorRegistry:
        """The metrics of all processes that share the directory."""
        if DIRECTORY not in os.environ:
            return self._own
        shared = CollectorRegistry()
        MultiProcessCollector(shared)  # type: ignore[no-untyped-call]
        return shared
