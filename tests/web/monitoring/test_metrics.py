"""What Prometheus reads: the queues as they stand, and the requests."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, get_args

import pytest
from flask import Flask
from prometheus_client.parser import text_string_to_metric_families

import leaseq
from leaseq.webapp import create_app
from leaseq.webapp.settings import Settings
from tests.support.booting import Engine
from tests.web.conftest import CHEAP, SECRET, Caller

PAST = datetime(2020, 1, 1, tzinfo=UTC)
TOKEN = "a token for Prometheus, long enough"
Figures = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture(scope="module")
def scraped(server: Any) -> Flask:
    settings = Settings(redis_url=server.url, secret_key=SECRET, metrics_token=TOKEN)
    return create_app(settings, passwords=CHEAP)


def read(answer: Any) -> Figures:
    assert answer.status_code == 200
    families = text_string_to_metric_families(answer.text)
    return {
        (one.name, frozenset(one.labels.items())): one.value for family in families for one in family.samples
    }


def scrape(app: Flask) -> Figures:
    return read(app.test_client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}))


def figure(figures: Figures, name: str, **labels: str) -> float:
    return figures[name, frozenset(labels.items())]


def test_queues_are_read_at_the_scrape(scraped: Flask, queue: leaseq.Queue) -> None:
    queue.enqueue_many(range(3))
    queue.enqueue("later", delay=500)
    queue.enqueue("due", id="due", due=PAST)
    lease = queue.reserve("ann")
    assert lease
    metrics = scrape(scraped)
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
    metrics = scrape(scraped)
    assert figure(metrics, "leaseq_items", queue=name, state="finished") == 1
    assert figure(metrics, "leaseq_moves_total", queue=name, move="finished") == 1
    assert figure(metrics, "leaseq_moves_total", queue=name, move="enqueued") == 5
    assert figure(metrics, "leaseq_paused", queue=name) == 1


def test_alerts_that_are_raised_and_those_that_are_not(scraped: Flask, queue: leaseq.Queue) -> None:
    queue.configure(alerts=("waiting>1", "oldest>3600"))
    queue.enqueue_many(range(2))

    def raised() -> dict[str, float]:
        metrics = scrape(scraped)
        names = get_args(leaseq.AlertName)
        return {name: figure(metrics, "leaseq_alert", queue=queue.name, alert=name) for name in names}

    nothing = dict.fromkeys(("waiting", "oldest", "dead", "idle", "bridge", "webhooks"), 0)
    assert raised() == nothing
    queue.clear()
    assert raised() == {**nothing, "waiting": 1}


def scrape_as(url: str) -> Figures:
    """What a web app that uses the server by this URL gives."""
    settings = Settings(redis_url=url, secret_key=SECRET, metrics_token=TOKEN)
    return scrape(create_app(settings, passwords=CHEAP))


SERVER = ("leaseq_server_memory_bytes", "leaseq_server_memory_limit_bytes", "leaseq_server_clients")


def test_the_servers_memory_its_limit_and_its_clients(shared: Engine) -> None:
    limits = [str(node.config_get("maxmemory")["maxmemory"]) for node in shared.primaries]
    try:
        for node in shared.primaries:
            node.config_set("maxmemory", 10**12)
        metrics = scrape_as(shared.of_all)
        by_name = {
            wanted: {labels: value for (name, labels), value in metrics.items() if name == wanted}
            for wanted in SERVER
        }
        nodes = {value for labels in by_name[SERVER[0]] for _, value in labels}
        assert nodes == {""} if len(shared.primaries) == 1 else len(nodes) >= len(shared.primaries)
        assert all(value > 100_000 for value in by_name[SERVER[0]].values())
        assert list(by_name[SERVER[1]].values()).count(10**12) == len(shared.primaries)
        assert all(value >= 1 for value in by_name[SERVER[2]].values())
    finally:
        for node, limit in zip(shared.primaries, limits, strict=True):
            node.config_set("maxmemory", limit)
    metrics = scrape_as(shared.of_all)
    assert 0 in [value for (name, _), value in metrics.items() if name == SERVER[1]], "no limit"


def test_who_may_not_read_the_servers_figures_gets_all_others(shared: Engine, queue: leaseq.Queue) -> None:
    queue.enqueue(1)
    metrics = scrape_as(shared.of("pages"))
    assert figure(metrics, "leaseq_items", queue=queue.name, state="inbound") == 1
    assert not {name for name, _ in metrics} & set(SERVER)


def test_requests_are_counted_by_route_and_status(scraped: Flask) -> None:
    client = scraped.test_client()
    before = scrape(scraped)

    def more(name: str, **labels: str) -> float:
        return figure(scrape(scraped), name, **labels) - before.get((name, frozenset(labels.items())), 0)

    client.get("/q/anything", buffered=True)
    client.get("/q/anything-else", buffered=True)
    client.get("/made/up/1", buffered=True)
    client.open("/made/up/2", method="BREW", buffered=True)
    requests, times = "leaseq_http_requests_total", "leaseq_http_request_seconds_count"
    assert more(requests, method="GET", route="/q/<q>", status="303") == 2
    assert more(times, method="GET", route="/q/<q>") == 2
    assert more(requests, method="GET", route="none", status="404") == 1
    assert more(requests, method="other", route="none", status="404") == 1


def test_it_is_for_managers_and_for_the_token(
    app: Flask, scraped: Flask, worker: Caller, manager: Caller, admin: Caller, visitor: Any
) -> None:
    def status(place: Flask, token: str) -> int:
        header = {"Authorization": f"Bearer {token}"} if token else {}
        return place.test_client().get("/metrics", headers=header).status_code

    assert status(scraped, "") == 401
    assert status(scraped, "wrong") == 401
    assert status(scraped, TOKEN[:-1]) == 401
    assert status(scraped, worker.token) == 403
    assert status(scraped, manager.token) == status(scraped, admin.token) == status(scraped, TOKEN) == 200
    assert status(app, "") == status(app, "None") == 401, "where no token is set, none is right"
    assert visitor("manager").get("/metrics").status_code == 200
    assert visitor("worker").get("/metrics").status_code == 403


def test_the_token_opens_nothing_else(scraped: Flask) -> None:
    header = {"Authorization": f"Bearer {TOKEN}"}
    assert scraped.test_client().get("/api/v1/queues", headers=header).status_code == 401
