"""``/metrics`` for Prometheus, of the queues' counts and the server's figures at the scrape and the HTTP
metrics, and the health checks."""

from __future__ import annotations

import contextlib
import hmac
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, cast, get_args

from flask import Blueprint, Response, request
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from redis.cluster import RedisCluster

import leaseq
from leaseq import STATES
from leaseq.webapp.context import accounts, state
from leaseq.webapp.security.authorization import bearer_token, needs
from leaseq.webapp.serving import shutdown
from leaseq.webapp.serving.problem import Problem
from leaseq.webapp.serving.time_slices import in_slices, run_beside

bp = Blueprint("monitoring", __name__)

ALERTS: tuple[leaseq.AlertName, ...] = get_args(leaseq.AlertName)


class Collected:
    """Metrics that were collected before, so that writing them needs no server."""

    def __init__(self, *metrics: Iterable[Metric]) -> None:
        self._metrics = [*chain(*metrics)]

    def collect(self) -> Iterator[Metric]:
        yield from self._metrics


def queue_metrics(client: leaseq.Client) -> Iterator[Metric]:
    """The queues' counts."""
    items = GaugeMetricFamily("leaseq_items", "Items, by state.", labels=["queue", "state"])
    overdue = _gauge("leaseq_overdue_items", "Items past their due date, neither finished nor dead.")
    unreachable = _gauge("leaseq_unreachable_items", "Waiting items that nobody can take.")
    waiting = _gauge("leaseq_waiting_calls", "Calls that wait for an item.")
    oldest = _gauge("leaseq_oldest_inbound_seconds", "How long the oldest item has waited; 0 if none waits.")
    questions = _gauge("leaseq_open_questions", "Questions that somebody asked and nobody has answered.")
    paused = _gauge("leaseq_paused", "1 while the queue is paused.")
    alerts = GaugeMetricFamily("leaseq_alert", "1 while the alert is raised.", labels=["queue", "alert"])
    moves = CounterMetricFamily("leaseq_moves", "What happened to items.", labels=["queue", "move"])
    unreadable = _gauge("leaseq_unreadable", "1 if the queue needs a newer version of leaseq.")
    stats_by_queue, errors = leaseq.read_queues(client, leaseq.Queue.stats)
    for name in (*stats_by_queue, *errors):
        unreadable.add_metric([name], name in errors)
    for name, stats in in_slices(stats_by_queue.items()):
        for item_state in STATES:
            items.add_metric([name, item_state], getattr(stats, item_state))
        overdue.add_metric([name], stats.overdue)
        if stats.unreachable is not None:
            unreachable.add_metric([name], stats.unreachable)
        waiting.add_metric([name], stats.waiting)
        oldest.add_metric([name], stats.oldest_inbound_seconds or 0)
        questions.add_metric([name], stats.questions)
        paused.add_metric([name], stats.paused is not None)
        alert_names = {alert.name for alert in stats.alerts}
        for alert in ALERTS:
            alerts.add_metric([name, alert], alert in alert_names)
        for move, count in stats.counters.items():
            moves.add_metric([name, move], count)
    yield from (items, overdue, unreachable, waiting, oldest, questions, paused, alerts, moves, unreadable)


def server_metrics(client: leaseq.Client) -> Iterator[Metric]:
    """The server's memory and clients, in a cluster for each node. A node that does not respond is left
    out; so are all if the user may not call INFO."""
    memory = _gauge("leaseq_server_memory_bytes", "Memory that the server uses.", "node")
    limit = _gauge("leaseq_server_memory_limit_bytes", "The server's maxmemory; 0: no limit.", "node")
    clients = _gauge("leaseq_server_clients", "Clients that are connected to the server.", "node")
    for node, arguments in _nodes(client.redis):
        with contextlib.suppress(leaseq.LeaseqError), client.translating():
            info: dict[str, Any] = client.redis.info("memory", "clients", **arguments)
            memory.add_metric([node], info["used_memory"])
            limit.add_metric([node], info["maxmemory"])
            clients.add_metric([node], info["connected_clients"])
    yield from (memory, limit, clients)


def _nodes(redis: Any) -> list[tuple[str, dict[str, Any]]]:
    """The label of each node, and redis-py's argument for it. A single server has no label."""
    if not isinstance(redis, RedisCluster):
        return [("", {})]
    return [(f"{node.host}:{node.port}", {"target_nodes": node}) for node in redis.get_nodes()]


def _gauge(name: str, text: str, label: str = "queue") -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, labels=[label])


def scraper() -> bool:
    """Whether the request is from Prometheus, according to its token."""
    token = state().settings.metrics_token
    if token is None:
        return False
    bearer = bearer_token(request.headers.get("Authorization", "")) or ""
    return hmac.compare_digest(token.get_secret_value().encode(), bearer.encode())


@bp.get("/metrics")
@needs("manager", unless=scraper, all_queues=True)
def metrics() -> Response:
    """Return all figures in Prometheus' text format."""
    registry, client = CollectorRegistry(), state().client
    registry.register(cast("CollectorRegistry", Collected(queue_metrics(client), server_metrics(client))))
    registries = (registry, state().http_metrics.all_processes())
    text = b"".join(run_beside(generate_latest, registry) for registry in registries)
    return Response(text, content_type=CONTENT_TYPE_PLAIN_0_0_4)


@bp.get("/healthz")
def healthz() -> dict[str, str]:
    """Return 200 if the process responds."""
    return {"status": "alive"}


@bp.get("/readyz")
def readyz() -> dict[str, str]:
    """Return 200 if the server accepts writes and the process is not stopping; 503 otherwise."""
    if shutdown.has_begun():
        raise Problem.of(503, "stopping", "unavailable", what="stopping")
    accounts().check_writes()
    return {"status": "ready"}
