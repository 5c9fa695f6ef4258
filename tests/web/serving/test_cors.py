"""CORS: only allowed origins may call REST, with a token and not with a session."""

from __future__ import annotations

from typing import Any

import pytest

import leaseq
from leaseq.webapp import create_app
from leaseq.webapp.settings import Settings
from leaseq.webapp.store.accounts import Accounts
from tests.web.api_calls import assert_problem
from tests.web.conftest import CHEAP_PASSWORDS, PASSWORD, SECRET, Browser, Caller

OUR_ORIGIN = "https://app.example"
PREFLIGHT = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}


@pytest.fixture(scope="module")
def cors_app(server: Any) -> Any:
    """The app with two allowed origins."""
    origins = (OUR_ORIGIN, "http://localhost:5173")
    return create_app(
        Settings(redis_url=server.url, secret_key=SECRET, cors_origins=origins), passwords=CHEAP_PASSWORDS
    )


def header_words(response: Any, name: str) -> set[str]:
    return {word.strip() for word in response.headers.get(name, "").split(",") if word.strip()}


def cors_headers(response: Any) -> dict[str, str]:
    return {name: value for name, value in response.headers if name.startswith("Access-Control-")}


def test_preflight_of_allowed_origin_is_accepted(cors_app: Any, queue_name: str) -> None:
    for path in ("/queues", f"/queues/{queue_name}/items/a%2Fb/finish", "/nowhere"):
        response = cors_app.test_client().options(
            f"/api/v1{path}", headers={"Origin": OUR_ORIGIN, **PREFLIGHT}
        )
        assert (response.status_code, response.data) == (204, b"")
        assert response.headers["Access-Control-Allow-Origin"] == OUR_ORIGIN
        assert {"GET", "POST", "PUT", "PATCH", "DELETE"} <= header_words(
            response, "Access-Control-Allow-Methods"
        )
        request_headers = {"Authorization", "Content-Type", "Idempotency-Key"}
        assert request_headers <= header_words(response, "Access-Control-Allow-Headers")
        assert "Origin" in header_words(response, "Vary")
        assert "Access-Control-Allow-Credentials" not in response.headers


def test_call_of_allowed_origin_with_token_is_accepted(
    cors_app: Any, form_queue: leaseq.Queue, worker: Caller
) -> None:
    headers = {"Origin": OUR_ORIGIN, "Authorization": f"Bearer {worker.token}"}
    response = cors_app.test_client().post(f"/api/v1/queues/{form_queue.name}/reserve", headers=headers)
    assert (response.status_code, response.headers["Access-Control-Allow-Origin"]) == (200, OUR_ORIGIN)
    assert {"Retry-After", "X-Leaseq-Reason"} <= header_words(response, "Access-Control-Expose-Headers")
    assert "Origin" in header_words(response, "Vary")
    error_response = cors_app.test_client().get("/api/v1/nowhere", headers=headers)
    assert assert_problem(error_response, 404, "not-found")
    assert error_response.headers["Access-Control-Allow-Origin"] == OUR_ORIGIN, "errors are readable too"


def test_described_response_headers_are_exposed(
    cors_app: Any, worker: Caller, document: dict[str, Any]
) -> None:
    headers = {"Origin": OUR_ORIGIN, "Authorization": f"Bearer {worker.token}"}
    exposed_headers = header_words(
        cors_app.test_client().get("/api/v1/me", headers=headers), "Access-Control-Expose-Headers"
    )
    described_headers = {
        name
        for path in document["paths"].values()
        for operation in path.values()
        for response in operation["responses"].values()
        for name in response.get("headers", ())
    }
    assert described_headers >= {"Link", "ETag", "RateLimit-Remaining", "Retry-After"}
    assert (
        described_headers | {"X-Request-Id", "Location", "Content-Disposition", "WWW-Authenticate"}
        == exposed_headers
    )


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "*",
        "https://app.example.evil.example",
        f"{OUR_ORIGIN}:8443",
        "http://app.example",
    ],
)
@pytest.mark.guard("cors-origins")
def test_other_origins_get_no_cors_headers(cors_app: Any, worker: Caller, origin: str) -> None:
    for method in ("OPTIONS", "GET"):
        headers = {"Origin": origin, "Authorization": f"Bearer {worker.token}", **PREFLIGHT}
        response = cors_app.test_client().open("/api/v1/queues", method=method, headers=headers)
        assert cors_headers(response) == {}
        assert "Origin" in header_words(response, "Vary"), "so that no cache returns it to another origin"


def test_no_origin_is_allowed_by_default(worker: Caller) -> None:
    response = worker("GET", "/queues", headers={"Origin": OUR_ORIGIN})
    assert (response.status_code, cors_headers(response)) == (200, {})


@pytest.mark.guard("cors-no-cookies")
def test_session_is_refused_for_other_origin(
    cors_app: Any, accounts: Accounts, new_name: Any, form_queue: leaseq.Queue
) -> None:
    name = new_name("worker")
    accounts.add(name, by="test", password=PASSWORD)
    browser = Browser(cors_app, name)
    browser.sign_in()
    assert browser.get("/api/v1/queues").status_code == 200
    get_response = browser.get("/api/v1/queues", headers={"Origin": OUR_ORIGIN})
    assert_problem(get_response, 401, "unauthorized")
    assert "Set-Cookie" not in get_response.headers
    headers = {"X-CSRFToken": browser.csrf("/account"), "Origin": OUR_ORIGIN}
    post_response = browser.client.post(f"/api/v1/queues/{form_queue.name}/reserve", headers=headers)
    assert_problem(post_response, 401, "unauthorized")


@pytest.mark.guard("cors-api-only")
def test_pages_have_no_cors_headers(cors_app: Any) -> None:
    for path in ("/login", "/healthz", "/static/any/shared/base.css"):
        with cors_app.test_client().get(path, headers={"Origin": OUR_ORIGIN}) as response:
            assert (response.status_code, cors_headers(response)) == (200, {})
