"""Rate limits on REST: each token has its own, all web processes count together, and pages have none."""

from __future__ import annotations

import re
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
from tests.support.booting import cluster
from tests.web.api_calls import problem
from tests.web.conftest import CHEAP, SECRET, Caller
from tests.web.gunicorn_place import ask, gunicorn


def limited(url: str) -> Flask:
    """Three requests an hour: the hour may end in the middle of a test, a minute more often."""
    return create_app(Settings(redis_url=url, secret_key=SECRET, rate_limit="3/hour"), passwords=CHEAP)


@pytest.fixture
def call(server: Any, worker: Caller) -> Callable[..., Any]:
    """Sends requests of the worker's token to one of two web processes in turn."""
    processes = [limited(server.url).test_client() for _ in range(2)]

    def send(path: str = "/queues", token: str = worker.token, **headers: str) -> Any:
        processes.append(processes.pop(0))
        return processes[0].get(f"/api/v1{path}", headers={"Authorization": f"Bearer {token}", **headers})

    return send


def test_a_token_may_send_so_many_requests_to_all_web_processes(call: Callable[..., Any]) -> None:
    answers = [call() for _ in range(4)]
    assert [one.status_code for one in answers] == [200, 200, 200, 429]
    assert [one.headers["RateLimit-Remaining"] for one in answers] == ["2", "1", "0", "0"]
    assert {one.headers["RateLimit-Limit"] for one in answers} == {"3"}
    refused = problem(answers[-1], 429, "too-many-requests")
    assert re.fullmatch(r"this token may send 3 per 1 hour: wait \d+ s", refused["detail"])
    seconds = int(answers[-1].headers["Retry-After"])
    assert 3_000 < seconds <= 3_600, "the hour began with the first of them"
    assert answers[-1].headers["RateLimit-Reset"] == str(seconds)


def test_a_refused_token_is_told_to_wait_a_second_at_least(
    call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In whole seconds nothing may be left, and who does not wait at all is refused again."""
    monkeypatch.setattr(FixedWindowRateLimiter, "get_window_stats", lambda *_: WindowStats(time.time(), 0))
    refused = [call() for _ in range(4)][-1]
    assert refused.status_code == 429
    assert refused.headers["Retry-After"] == refused.headers["RateLimit-Reset"] == "1"


def test_each_token_has_its_own(call: Callable[..., Any], worker: Caller, accounts: Accounts) -> None:
    for _ in range(4):
        call()
    assert call().status_code == 429
    other = accounts.create_token(worker.name, "another", by="test")
    assert call(token=other).headers["RateLimit-Remaining"] == "2"


def test_a_wrong_token_counts_nowhere(call: Callable[..., Any]) -> None:
    answer = call(token="wrong")
    assert answer.status_code == 401
    assert "RateLimit-Limit" not in answer.headers


def test_without_a_limit_nothing_is_said(worker: Caller) -> None:
    assert "RateLimit-Limit" not in worker("GET", "/queues").headers


def test_pages_have_no_limit(server: Any) -> None:
    client = limited(server.url).test_client()
    assert [client.get("/login").status_code for _ in range(5)] == [200] * 5


def test_it_counts_in_a_cluster() -> None:
    with cluster() as engine:
        client = leaseq.connect(engine.of("pages"))
        accounts = Accounts(client, passwords=CHEAP)
        accounts.add("ann", by="test")
        header = {"Authorization": f"Bearer {accounts.create_token('ann', 'test', by='test')}"}
        client.close()
        limit = {"LEASEQ_RATE_LIMIT": "3/hour"}
        with gunicorn(engine.of("pages"), SECRET, workers=2, threads=2, **limit) as (url, _):  # type: ignore[arg-type]
            address = url.removeprefix("http://")
            codes = [ask(address, "/api/v1/queues", **header)[0] for _ in range(4)]
    assert codes == [200, 200, 200, 429]


@pytest.mark.parametrize("value", ["many", "5", "5/fortnight", "-5/minute", "5/minute; 6/hour"])
def test_a_limit_that_is_none_is_refused(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEASEQ_SECRET_KEY", SECRET)
    monkeypatch.setenv("LEASEQ_RATE_LIMIT", value)
    with pytest.raises(SettingsRefused, match=r"LEASEQ_RATE_LIMIT: .* is not a limit like 600/minute"):
        load_settings()
