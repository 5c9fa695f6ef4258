"""The metrics for Prometheus: of queues, and of requests."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, get_args

import pytest
from flask import Flask
from prometheus_client.parser import text_string_to_metric_families

import leaseq
from leaseq.webapp import create_app
from leaseq.webapp.settings import Settings
from tests.support.engines import Engine
from tests.web.conftest import CHEAP_PASSWORDS, SECRET, Caller

PAST = datetime(2020, 1, 1, tzinfo=UTC)
TOKEN = "a token for Prometheus, long enough"
Figures = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture(scope="module")
def metrics_app(server: Any) -> Flask:
    settings = Settings(redis_url=server.url, secret_key=SECRET, metrics_token=TOKEN)
    return create_app(settings, passwords=CHEAP_PASSWORDS)


def parse_figures(response: Any) -> Figures:
    assert response.status_code == 200
    families = text_string_to_metric_families(response.text)
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


def scrape(app: Flask) -> Figures:
    return parse_figures(app.test_client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}))


def figure(figures: Figures, name: str, **labels: str) -> float:
    return figures[name, frozenset(labels.items())]


def test_scrape_reads_current_figures_of_queues(metrics_app: Flask, queue: leaseq.Queue) -> None:
    queue.enqueue_many(range(3))
    queue.enqueue("later", delay=500)
    queue.enqueue("due", id="due", due=PAST)
    lease = queue.reserve("ann")
    assert lease
    metrics = scrape(metrics_app)
    name = queue.name
    by_state = {
        state: figure(metrics, "leaseq_items", queue=name, state=state)
        for state in ("inbound", "reserved", "scheduled", "finished", "dead")
    }
    assert by_state == {"inbound": 3, "reserved": 1, "scheduled": 1, "finished": 0, "dead": 0}
    assert figure(metrics, "leaseq_overdue_items", queue=name) == 1
    assert figure(metrics, "leaseq_waiting_calls", queue=name) == 0
    assert figure(metrics, "leaseq_paused", queue=name) == 0
    assert figure(metrics, "leaseq_oldest_inbound_seconds", queue=name) > 0
    queue.finish(lease, "done")
    queue.pause("lunch")
    metrics = scrape(metrics_app)
    assert figure(metrics, "leaseq_items", queue=name, state="finished") == 1
    assert figure(metrics, "leaseq_moves_total", queue=name, move="finished") == 1
    assert figure(metrics, "leaseq_moves_total", queue=name, move="enqueued") == 5
    assert figure(metrics, "leaseq_paused", queue=name) == 1


def test_alert_metric_is_1_if_raised_and_0_otherwise(metrics_app: Flask, queue: leaseq.Queue) -> None:
    queue.configure(alerts=("waiting>1", "oldest>3600"))
    queue.enqueue_many(range(2))

    def alerts() -> dict[str, float]:
        metrics = scrape(metrics_app)
        names = get_args(leaseq.AlertName)
        return {name: figure(metrics, "leaseq_alert", queue=queue.name, alert=name) for name in names}

    no_alerts = dict.fromkeys(
        ("waiting", "oldest", "question", "dead", "idle", "unreachable", "bridge", "webhooks"), 0
    )
    assert alerts() == no_alerts
    queue.clear()
    assert alerts() == {**no_alerts, "waiting": 1}


def scrape_as(url: str) -> Figures:
    """Scrape a web app that uses the server with this URL."""
    settings = Settings(redis_url=url, secret_key=SECRET, metrics_token=TOKEN)
    return scrape(create_app(settings, passwords=CHEAP_PASSWORDS))


SERVER_METRICS = ("leaseq_server_memory_bytes", "leaseq_server_memory_limit_bytes", "leaseq_server_clients")


def test_scrape_reports_server_memory_limit_and_clients(shared_engine: Engine) -> None:
    limits = [str(node.config_get("maxmemory")["maxmemory"]) for node in shared_engine.primaries]
    try:
        for node in shared_engine.primaries:
            node.config_set("maxmemory", 10**12)
        metrics = scrape_as(shared_engine.admin_url)
        by_name = {
            metric_name: {labels: value for (name, labels), value in metrics.items() if name == metric_name}
            for metric_name in SERVER_METRICS
        }
        nodes = {value for labels in by_name[SERVER_METRICS[0]] for _, value in labels}
        assert (
            nodes == {""} if len(shared_engine.primaries) == 1 else len(nodes) >= len(shared_engine.primaries)
        )
        assert all(value > 100_000 for value in by_name[SERVER_METRICS[0]].values())
        assert list(by_name[SERVER_METRICS[1]].values()).count(10**12) == len(shared_engine.primaries)
        assert all(value >= 1 for value in by_name[SERVER_METRICS[2]].values())
    finally:
        for node, limit in zip(shared_engine.primaries, limits, strict=True):
            node.config_set("maxmemory", limit)
    metrics = scrape_as(shared_engine.admin_url)
    assert 0 in [value for (name, _), value in metrics.items() if name == SERVER_METRICS[1]], "no limit"


def test_server_metrics_are_omitted_without_permission(shared_engine: Engine, queue: leaseq.Queue) -> None:
    queue.enqueue(1)
    metrics = scrape_as(shared_engine.url_of("pages"))
    assert figure(metrics, "leaseq_items", queue=queue.name, state="inbound") == 1
    assert not {name for name, _ in metrics} & set(SERVER_METRICS)


def test_requests_are_counted_by_route_and_status(metrics_app: Flask) -> None:
    client = metrics_app.test_client()
    before = scrape(metrics_app)

    def increase(name: str, **labels: str) -> float:
        return figure(scrape(metrics_app), name, **labels) - before.get((name, frozenset(labels.items())), 0)

    client.get("/q/anything", buffered=True)
    client.get("/q/anything-else", buffered=True)
    client.get("/made/up/1", buffered=True)
    client.open("/made/up/2", method="BREW", buffered=True)
    requests, times = "leaseq_http_requests_total", "leaseq_http_request_seconds_count"
    assert increase(requests, method="GET", route="/q/<q>", status="303") == 2
    assert increase(times, method="GET", route="/q/<q>") == 2
    assert increase(requests, method="GET", route="none", status="404") == 1
    assert increase(requests, method="other", route="none", status="404") == 1


@pytest.mark.guard("metrics-token")
def test_metrics_require_manager_or_metrics_token(
    app: Flask, metrics_app: Flask, worker: Caller, manager: Caller, admin: Caller, sign_in_as: Any
) -> None:
    def status_of(flask_app: Flask, token: str) -> int:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return flask_app.test_client().get("/metrics", headers=headers).status_code

    assert status_of(metrics_app, "") == 401
    assert status_of(metrics_app, "wrong") == 401
    assert status_of(metrics_app, TOKEN[:-1]) == 401
    assert status_of(metrics_app, worker.token) == 403
    assert (
        status_of(metrics_app, manager.token)
        == status_of(metrics_app, admin.token)
        == status_of(metrics_app, TOKEN)
        == 200
    )
    assert status_of(app, "") == status_of(app, "None") == 401, "if no token is set, every token is refused"
    assert sign_in_as("manager").get("/metrics").status_code == 200
    assert sign_in_as("worker").get("/metrics").status_code == 403


def test_metrics_token_is_refused_by_rest(metrics_app: Flask) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    assert metrics_app.test_client().get("/api/v1/queues", headers=headers).status_code == 401
