"""HTTP metrics: the number of requests, and their duration.

gunicorn's processes share their counts in prometheus-client's files in one directory (docs/decisions,
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
    """Counts requests by route. All unknown paths count as one, and so do all unknown methods."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._counts = Counter(
            "leaseq_http_requests",
            "Requests that were answered.",
            ["method", "route", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "leaseq_http_request_seconds",
            "From a request's head to the last byte of its response, including any wait for an item.",
            ["method", "route"],
            buckets=BUCKETS,
            registry=self._registry,
        )

        self._wait_seconds = Histogram(
            "leaseq_http_wait_seconds",
            "From reading a request's head to the start of its handling.",
            buckets=BUCKETS,
            registry=self._registry,
        )
        self._shed_counter = Counter(
            "leaseq_http_shed",
            "Requests that waited too long in line, and were refused.",
            registry=self._registry,
        )
        # By method, route and status, since a lookup by labels is slow.
        self._cache: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def observe_wait(self, seconds: float) -> None:
        self._wait_seconds.observe(seconds)

    def count_shed(self) -> None:
        self._shed_counter.inc()

    def count(self, route: str, method: str, status: int, seconds: float) -> None:
        method = method if method in _METHODS else "other"
        metrics = self._cache.get((method, route, status))
        if metrics is None:
            counter = self._counts.labels(method, route, str(status))
            metrics = self._cache[method, route, status] = counter, self._seconds.labels(method, route)
        metrics[0].inc()
        metrics[1].observe(seconds)

    def all_processes(self) -> CollectorRegistry:
        """The metrics of all processes that share the directory."""
        if DIRECTORY not in os.environ:
            return self._registry
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return registry
