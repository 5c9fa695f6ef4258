"""``/metrics`` for Prometheus: the queues' counts at the scrape, and the HTTP metrics."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from typing import cast

from flask import Blueprint, Response
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

import leaseq
from leaseq import STATES
from leaseq.webapp.context import state
from leaseq.webapp.security.authorization import bearer_token, needs

bp = Blueprint("metrics", __name__)


class QueueCollector:
    """Collects the queues' counts at each scrape."""

    def __init__(self, client: leaseq.Client) -> None:
        self._client = client

    def collect(self) -> Iterator[Metric]:
        items = GaugeMetricFamily("leaseq_items", "Items, by state.", labels=["queue", "state"])
        overdue = _gauge("leaseq_overdue_items", "Items past their due date, neither finished nor dead.")
        waiting = _gauge("leaseq_waiting_calls", "Calls that wait for an item.")
        oldest = _gauge("leaseq_oldest_inbound_seconds", "How long the oldest item waits; 0 where none does.")
        paused = _gauge("leaseq_paused", "1 while the queue is paused.")
        moves = CounterMetricFamily("leaseq_moves", "What happened to items.", labels=["queue", "move"])
        wrong = _gauge("leaseq_unreadable", "1 where the queue needs another version of leaseq.")
        found, unreadable = leaseq.read_queues(self._client, leaseq.Queue.stats)
        for name in (*found, *unreadable):
            wrong.add_metric([name], name in unreadable)
        for name, stats in found.items():
            for one in STATES:
                items.add_metric([name, one], getattr(stats, one))
            overdue.add_metric([name], stats.overdue)
            waiting.add_metric([name], stats.waiting)
            oldest.add_metric([name], stats.oldest_inbound_seconds or 0)
            paused.add_metric([name], stats.paused is not None)
            for move, count in stats.counters.items():
                moves.add_metric([name, move], count)
        yield from (items, overdue, waiting, oldest, paused, moves, wrong)


def _gauge(name: str, what: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, what, labels=["queue"])


def scraper() -> bool:
    """Whether this is Prometheus, by the token that it was given."""
    token = state().settings.metrics_token
    if token is None:
        return False
    # guard: metrics-token
    return hmac.compare_digest(token.get_secret_value().encode(), (bearer_token() or "").encode())


@bp.get("/metrics")
@needs("manager", unless=scraper)
def metrics() -> Response:
    """All figures, in Prometheus' text format."""
    queues = CollectorRegistry()
    queues.register(cast("CollectorRegistry", QueueCollector(state().client)))
    text = generate_latest(queues) + generate_latest(state().http_metrics.everywhere())
    return Response(text, content_type=CONTENT_TYPE_PLAIN_0_0_4)
