"""Pages of other origins: those that are named may call REST with a token, and nothing else gets in."""

from __future__ import annotations

from typing import Any

import pytest

import leaseq
from leaseq.webapp import create_app
from leaseq.webapp.settings import Settings
from leaseq.webapp.store.accounts import Accounts
from tests.web.api_calls import problem
from tests.web.conftest import CHEAP, PASSWORD, SECRET, Browser, Caller

OURS = "https://app.example"
PREFLIGHT = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}


@pytest.fixture(scope="module")
def named(server: Any) -> Any:
    """The app with two origins named."""
    origins = (OURS, "http://localhost:5173")
    return create_app(
        Settings(redis_url=server.url, secret_key=SECRET, cors_origins=origins), passwords=CHEAP
    )


def words(answer: Any, name: str) -> set[str]:
    return {word.strip() for word in answer.headers.get(name, "").split(",") if word.strip()}


def cors(answer: Any) -> dict[str, str]:
    return {name: value for name, value in answer.headers if name.startswith("Access-Control-")}


def test_a_preflight_of_a_named_origin(named: Any, queue_name: str) -> None:
    for path in ("/queues", f"/queues/{queue_name}/items/a%2Fb/finish", "/nowhere"):
        answer = named.test_client().options(f"/api/v1{path}", headers={"Origin": OURS, **PREFLIGHT})
        assert (answer.status_code, answer.data) == (204, b"")
        assert answer.headers["Access-Control-Allow-Origin"] == OURS
        assert {"GET", "POST", "PUT", "PATCH", "DELETE"} <= words(answer, "Access-Control-Allow-Methods")
        wanted = {"Authorization", "Content-Type", "Idempotency-Key"}
        assert wanted <= words(answer, "Access-Control-Allow-Headers")
        assert "Origin" in words(answer, "Vary")
        assert "Access-Control-Allow-Credentials" not in answer.headers


def test_a_call_of_a_named_origin_with_a_token(named: Any, asking: leaseq.Queue, worker: Caller) -> None:
    headers = {"Origin": OURS, "Authorization": f"Bearer {worker.token}"}
    answer = named.test_client().post(f"/api/v1/queues/{asking.name}/reserve", headers=headers)
    assert (answer.status_code, answer.headers["Access-Control-Allow-Origin"]) == (200, OURS)
    assert {"Retry-After", "X-Leaseq-Reason"} <= words(answer, "Access-Control-Expose-Headers")
    assert "Origin" in words(answer, "Vary")
    refused = named.test_client().get("/api/v1/nowhere", headers=headers)
    assert problem(refused, 404, "not-found")
    assert refused.headers["Access-Control-Allow-Origin"] == OURS, "an error can be read as well"


def test_each_header_that_the_description_names_can_be_read(
    named: Any, worker: Caller, document: dict[str, Any]
) -> None:
    headers = {"Origin": OURS, "Authorization": f"Bearer {worker.token}"}
    exposed = words(named.test_client().get("/api/v1/me", headers=headers), "Access-Control-Expose-Headers")
    described = {
        name
        for path in document["paths"].values()
        for operation in path.values()
        for answer in operation["responses"].values()
        for name in answer.get("headers", ())
    }
    assert described >= {"Link", "ETag", "RateLimit-Remaining", "Retry-After"}
    assert described | {"X-Request-Id", "Location", "Content-Disposition", "WWW-Authenticate"} == exposed


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "*",
        "https://app.example.evil.example",
        f"{OURS}:8443",
        "http://app.example",
    ],
)
def test_other_origins_are_told_nothing(named: Any, worker: Caller, origin: str) -> None:
    for method in ("OPTIONS", "GET"):
        headers = {"Origin": origin, "Authorization": f"Bearer {worker.token}", **PREFLIGHT}
        answer = named.test_client().open("/api/v1/queues", method=method, headers=headers)
        assert cors(answer) == {}
        assert "Origin" in words(answer, "Vary"), "so that no cache gives it to somebody else"


def test_nobody_is_named_unless_the_settings_do(worker: Caller) -> None:
    answer = worker("GET", "/queues", headers={"Origin": OURS})
    assert (answer.status_code, cors(answer)) == (200, {})


def test_a_session_counts_for_our_own_pages_only(
    named: Any, accounts: Accounts, new_name: Any, asking: leaseq.Queue
) -> None:
    name = new_name("worker")
    accounts.add(name, by="test", password=PASSWORD)
    signed_in = Browser(named, name)
    signed_in.sign_in()
    assert signed_in.get("/api/v1/queues").status_code == 200
    there = signed_in.get("/api/v1/queues", headers={"Origin": OURS})
    problem(there, 401, "unauthorized")
    assert "Set-Cookie" not in there.headers
    csrf = {"X-CSRFToken": signed_in.csrf("/account"), "Origin": OURS}
    sent = signed_in.client.post(f"/api/v1/queues/{asking.name}/reserve", headers=csrf)
    problem(sent, 401, "unauthorized")


def test_pages_are_for_no_other_origin(named: Any) -> None:
    for path in ("/login", "/healthz", "/static/shared/base.css"):
        with named.test_client().get(path, headers={"Origin": OURS}) as answer:
            assert (answer.status_code, cors(answer)) == (200, {})
