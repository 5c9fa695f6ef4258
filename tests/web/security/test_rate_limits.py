"""Rate limits of REST: one for all tokens of a person, in all web processes, and none for pages."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from limits import WindowStats
from limits.strategies import FixedWindowRateLimiter

import leaseq
from leaseq.webapp import create_app
from leaseq.webapp.settings import Settings, SettingsRefused, load_settings
from leaseq.webapp.store.accounts import Accounts
from tests.support.engines import cluster
from tests.web.api_calls import assert_problem
from tests.web.conftest import CHEAP_PASSWORDS, SECRET, Caller
from tests.web.gunicorn_server import run_gunicorn, send_request


def limited_app(url: str) -> Flask:
    """Three requests an hour: the hour may end during a test, but a minute would more often."""
    return create_app(
        Settings(redis_url=url, secret_key=SECRET, rate_limit="3/hour"), passwords=CHEAP_PASSWORDS
    )


@pytest.fixture
def call(server: Any, worker: Caller) -> Callable[..., Any]:
    """Sends requests with the worker's token to two web processes in turn."""
    clients = [limited_app(server.url).test_client() for _ in range(2)]

    def send(path: str = "/queues", token: str = worker.token, **headers: str) -> Any:
        clients.append(clients.pop(0))
        return clients[0].get(f"/api/v1{path}", headers={"Authorization": f"Bearer {token}", **headers})

    return send


def test_rate_limit_of_token_is_shared_by_web_processes(call: Callable[..., Any]) -> None:
    responses = [call() for _ in range(4)]
    assert [response.status_code for response in responses] == [200, 200, 200, 429]
    assert [response.headers["RateLimit-Remaining"] for response in responses] == ["2", "1", "0", "0"]
    assert {response.headers["RateLimit-Limit"] for response in responses} == {"3"}
    error = assert_problem(responses[-1], 429, "too-many-requests")
    assert (error["rule"], error["values"]["limit"]) == ("too_many", "3 per 1 hour")
    seconds = int(responses[-1].headers["Retry-After"])
    assert 3_000 < seconds <= 3_600, "the hour began with the first request"
    assert responses[-1].headers["RateLimit-Reset"] == str(seconds)


def test_retry_after_is_at_least_one_second(
    call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The remaining time may be less than a second, but a client that does not wait is refused again."""
    monkeypatch.setattr(FixedWindowRateLimiter, "get_window_stats", lambda *_: WindowStats(time.time(), 0))
    response = [call() for _ in range(4)][-1]
    assert response.status_code == 429
    assert response.headers["Retry-After"] == response.headers["RateLimit-Reset"] == "1"


def test_all_tokens_of_a_person_share_a_rate_limit(
    call: Callable[..., Any], worker: Caller, make_caller: Callable[[str], Caller], accounts: Accounts
) -> None:
    for _ in range(4):
        call()
    assert call().status_code == 429
    second_token = accounts.create_token(worker.name, "another", by="test")
    assert call(token=second_token).status_code == 429
    assert call(token=make_caller("worker").token).headers["RateLimit-Remaining"] == "2"


def test_response_to_invalid_token_has_no_rate_limit_headers(call: Callable[..., Any]) -> None:
    response = call(token="wrong")
    assert response.status_code == 401
    assert "RateLimit-Limit" not in response.headers


def test_response_has_no_rate_limit_headers_without_limit(worker: Caller) -> None:
    assert "RateLimit-Limit" not in worker("GET", "/queues").headers


def test_pages_have_no_rate_limit(server: Any) -> None:
    client = limited_app(server.url).test_client()
    assert [client.get("/login").status_code for _ in range(5)] == [200] * 5


def test_rate_limit_is_shared_with_redis_cluster() -> None:
    with cluster() as engine:
        client = leaseq.connect(engine.url_of("pages"))
        accounts = Accounts(client, passwords=CHEAP_PASSWORDS)
        accounts.add("ann", by="test")
        headers = {"Authorization": f"Bearer {accounts.create_token('ann', 'test', by='test')}"}
        client.close()
        limit = {"LEASEQ_RATE_LIMIT": "3/hour"}
        with run_gunicorn(engine.url_of("pages"), SECRET, workers=2, threads=2, **limit) as (url, _):  # type: ignore[arg-type]
            address = url.removeprefix("http://")
            statuses = [send_request(address, "/api/v1/queues", **headers)[0] for _ in range(4)]
    assert statuses == [200, 200, 200, 429]


@pytest.mark.parametrize("value", ["many", "5", "5/fortnight", "-5/minute", "5/minute; 6/hour"])
def test_invalid_rate_limit_setting_is_refused(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEASEQ_SECRET_KEY", SECRET)
    monkeypatch.setenv("LEASEQ_RATE_LIMIT", value)
    with pytest.raises(SettingsRefused, match=r"LEASEQ_RATE_LIMIT: .* is not a limit like 600/minute"):
        load_settings()
