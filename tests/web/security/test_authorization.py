"""The role that each route requires. The tests iterate over all routes, so that none is forgotten."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Flask

import leaseq
from leaseq.webapp.security.authorization import OPEN_TO_ANYONE, need_of
from leaseq.webapp.store.accounts.model import ROLES
from tests.support.leases import not_none
from tests.web.conftest import Browser, Caller

VALUES = {
    "q": "nowhere",
    "id": "x",
    "name": "x",
    "webhook": "wh-x",
    "section": "time",
    "filename": "shared/base.css",
    "digest": "any",
    "token": "0a",
    "invitation": "0b",
    "team": "walked",
    "file": "x",
}


def every_route(app: Flask) -> list[tuple[str, str, str]]:
    """The endpoint, the method and a path of each route."""
    routes = []
    for rule in app.url_map.iter_rules():
        path = re.sub(r"<(?:\w+:)?(\w+)>", lambda match: VALUES[match[1]], rule.rule)
        routes += [
            (rule.endpoint, method, path) for method in sorted(not_none(rule.methods) - {"HEAD", "OPTIONS"})
        ]
    return routes


def test_every_route_declares_role_or_is_listed_as_open(app: Flask) -> None:
    undeclared = [route for route in every_route(app) if need_of(app, route[0]) is None]
    assert undeclared == []
    assert {endpoint for endpoint, _, _ in every_route(app)} >= OPEN_TO_ANYONE


@pytest.mark.guard("stranger-signs-in")
def test_request_without_sign_in_reaches_only_open_routes(app: Flask) -> None:
    client = app.test_client()
    for endpoint, method, path in every_route(app):
        response = client.open(path, method=method, buffered=True)
        if endpoint in OPEN_TO_ANYONE:
            assert response.status_code not in (401, 500), path
        elif path.startswith("/api/") or path == "/metrics":
            assert (response.status_code, not_none(response.json)["code"]) == (401, "unauthorized"), path
        else:
            assert response.status_code == 303, path
            assert response.location.startswith("/login?next="), path


@pytest.mark.parametrize("role", ["worker", "manager"])
@pytest.mark.guard("role-of-the-route")
def test_role_is_refused_on_routes_of_higher_roles(
    app: Flask, role: str, make_caller: Callable[[str], Caller], sign_in_as: Callable[[str], Browser]
) -> None:
    client, browser = make_caller(role), sign_in_as(role)
    for endpoint, method, path in every_route(app):
        need = need_of(app, endpoint)
        if need not in ROLES or ROLES.index(need) <= ROLES.index(role):
            continue
        if path.startswith("/api/"):
            response = client(method, path.removeprefix("/api/v1"), json={})
            assert (response.status_code, not_none(response.json)["code"]) == (403, "forbidden"), path
            assert response.json["detail"] == f"this requires the role {need}; yours is {role}: ask an admin"
        page = browser.client.open(path, method=method, headers={"Accept": "text/html"})
        assert page.status_code == 403, path
        if page.mimetype == "text/html":
            assert f"Only {need}s can open this page." in page.text, path


@pytest.mark.guard("default-deny")
def test_route_without_declared_role_is_forbidden(server: Any) -> None:
    from leaseq.webapp import create_app
    from leaseq.webapp.settings import Settings
    from tests.web.conftest import CHEAP_PASSWORDS, SECRET

    app = create_app(Settings(redis_url=server.url, secret_key=SECRET), passwords=CHEAP_PASSWORDS)
    app.add_url_rule("/forgotten", view_func=lambda: "open")
    assert app.test_client().get("/forgotten").status_code == 403


@pytest.fixture
def existing_queue(server: Any) -> Iterator[None]:
    """If the queue does not exist, the answer is always 404."""
    queue = leaseq.Queue(server.client, VALUES["q"])
    queue.configure()
    yield
    queue.delete()


@pytest.mark.usefixtures("existing_queue")
@pytest.mark.guard("csrf")
def test_every_write_with_session_requires_csrf_token(
    app: Flask, sign_in_as: Callable[[str], Browser]
) -> None:
    browser = sign_in_as("admin")
    for _, method, path in every_route(app):
        if method != "GET":
            response = browser.client.open(path, method=method, json={} if path.startswith("/api/") else None)
            assert response.status_code == 403, path
            assert "CSRF" in response.text, path


def test_verified_csrf_token_is_refused_in_another_session(sign_in_as: Callable[[str], Browser]) -> None:
    """A signature is verified once, and whose token it is at each request."""
    browser, other = sign_in_as("worker"), sign_in_as("worker")
    token = browser.csrf("/account")
    assert browser.post("/logout", {"csrf_token": token}).status_code == 303
    assert other.post("/logout", {"csrf_token": token}).status_code == 403
    assert other.post("/logout", {"csrf_token": f"{other.csrf('/account')}x"}).status_code == 403


def test_verified_csrf_token_requires_a_page_of_this_site_under_tls(
    sign_in_as: Callable[[str], Browser],
) -> None:
    browser = sign_in_as("worker")
    token = browser.csrf("/account")
    for referrer, status in (("https://localhost/break", 303), ("https://other.example/", 403), ("", 403)):
        response = browser.client.post(
            "/break",
            data={"csrf_token": token},
            headers={"Referer": referrer} if referrer else {},
            base_url="https://localhost",
        )
        assert response.status_code == status


def test_rest_accepts_session_with_csrf_token(form_queue: Any, sign_in_as: Callable[[str], Browser]) -> None:
    browser = sign_in_as("worker")
    headers = {"X-CSRFToken": browser.csrf("/account")}
    response = browser.client.post(f"/api/v1/queues/{form_queue.name}/reserve", headers=headers)
    assert response.status_code == 200
    assert not_none(response.json)["person"] == browser.name


@pytest.mark.guard("bad-token-stays-bad")
def test_invalid_token_is_refused_despite_session(sign_in_as: Callable[[str], Browser]) -> None:
    response = sign_in_as("admin").get("/api/v1/queues", headers={"Authorization": "Bearer wrong"})
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"] == "Bearer"
    assert "is not valid" in response.json["detail"]


@pytest.mark.parametrize("header", ["Basic YW5uOnB3", "Bearer", "Bearer ", "abc"])
def test_authorization_header_without_token_is_refused_with_hint(app: Flask, header: str) -> None:
    response = app.test_client().get("/api/v1/queues", headers={"Authorization": header})
    assert response.status_code == 401
    assert not_none(response.json)["detail"].endswith("send `Authorization: Bearer <token>`")


@pytest.mark.guard("csp-nonce", "csp-sent", "frame-ancestors", "nonce-new", "nosniff")
def test_pages_have_security_headers_and_unique_nonce(
    sign_in_as: Callable[[str], Browser], queue: leaseq.Queue
) -> None:
    queue.configure()  # without a queue, / leads elsewhere
    browser = sign_in_as("admin")
    nonces = set()
    for path in ("/", "/manage", "/people", "/account", "/api/v1/docs", "/nowhere"):
        response = browser.get(path)
        policy = response.headers["Content-Security-Policy"]
        (nonce,) = re.findall(r"script-src 'nonce-([^']+)'(?:;|$)", policy)
        nonces.add(nonce)
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Referrer-Policy"] == "same-origin"
        assert response.headers["Cache-Control"] == "no-store"
        scripts = re.findall(r"<script[^>]*>", response.text)
        assert scripts
        assert all(f'nonce="{nonce}"' in script and " src=" in script for script in scripts)
        assert not re.search(
            r"<style|\sstyle=|\son\w+=|https?://(?!www\.w3\.org|localhost/|example\.org/)", response.text
        )
    assert len(nonces) == 6


@pytest.mark.guard("host-cookie", "hsts", "httponly", "samesite", "secure-cookie")
def test_session_cookie_over_https_has_host_prefix(server: Any) -> None:
    from leaseq.webapp import create_app
    from leaseq.webapp.settings import Settings
    from tests.web.conftest import CHEAP_PASSWORDS, SECRET

    settings = Settings(redis_url=server.url, secret_key=SECRET, secure_cookies=True)
    client = create_app(settings, passwords=CHEAP_PASSWORDS).test_client()
    response = client.get("/login", base_url="https://localhost")
    cookie = response.headers["Set-Cookie"]
    assert cookie.startswith("__Host-leaseq=")
    assert {"Secure", "HttpOnly", "Path=/", "SameSite=Lax"} <= set(cookie.split("; "))
    assert "Domain" not in cookie
    assert "max-age" in response.headers["Strict-Transport-Security"]


@pytest.mark.guard("forwarded-networks")
def test_forwarded_headers_are_trusted_only_from_configured_proxies(server: Any) -> None:
    from leaseq.webapp import create_app
    from leaseq.webapp.settings import Settings
    from tests.web.conftest import CHEAP_PASSWORDS, SECRET

    for proxies, networks, expected in (
        (0, "127.0.0.0/8", "127.0.0.1"),
        (1, "127.0.0.0/8", "203.0.113.9"),
        (1, "192.0.2.7", "127.0.0.1"),
    ):
        settings = Settings(
            redis_url=server.url, secret_key=SECRET, trusted_proxies=proxies, proxy_addresses=networks
        )
        app = create_app(settings, passwords=CHEAP_PASSWORDS)
        addresses: list[str | None] = []

        @app.before_request
        def record_address(addresses: list[str | None] = addresses) -> None:
            from flask import request

            addresses.append(request.remote_addr)

        app.test_client().get("/healthz", headers={"X-Forwarded-For": "198.51.100.1, 203.0.113.9"})
        assert addresses == [expected]
