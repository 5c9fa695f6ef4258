"""What an API token may do: every route of the API with each scope, limits to one queue, and expiry."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

import leaseq
from leaseq import Invalid
from leaseq.webapp.security.authorization import need_of
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.accounts.model import SCOPES
from leaseq.webapp.store.accounts.people import People
from leaseq.webapp.store.accounts.tokens import Callers, Tokens
from tests.support.leases import not_none
from tests.support.refused import refused
from tests.web.conftest import PASSWORD, Browser, Caller

VALUES = {
    "q": "walked",
    "id": "x",
    "name": "somebody walked",
    "webhook": "wh-walked",
    "section": "time",
    "token": "0a",
    "invitation": "0b",
    "team": "walked",
    "file": "x",
}
OPENED_NEEDS = {"work": {"worker"}, "manage": {"worker", "manager"}, "admin": {"worker", "manager", "admin"}}
ADDING = {("POST", "/queues/walked/items"), ("POST", "/queues/walked/import"), ("GET", "/me")}


def is_allowed(scope: str, need: str, method: str, path: str) -> bool:
    if scope == "read":
        return method == "GET"
    if scope == "enqueue":
        return (method, path) in ADDING
    if scope == "ask":
        return path.startswith("/queues/walked/questions") or (method, path) == ("GET", "/me")
    if (method, path) == ("DELETE", "/queues/walked"):  # requires all rights of the person, here an admin
        return scope == "admin"
    return need in OPENED_NEEDS[scope]


def api_routes(app: Flask) -> list[tuple[str, str, str]]:
    """Method, path under /api/v1 and required scope of each route that requires sign-in."""
    routes: list[tuple[str, str, str]] = []
    for rule in app.url_map.iter_rules():
        need = need_of(app, rule.endpoint)
        if rule.rule.startswith("/api/v1") and need != "anyone":
            path = re.sub(r"<(?:\w+:)?(\w+)>", lambda match: VALUES[match[1]], rule.rule)
            path = path.removeprefix("/api/v1")
            routes += [
                (method, path, str(need)) for method in sorted(not_none(rule.methods) - {"HEAD", "OPTIONS"})
            ]
    assert len(routes) > 20
    return routes


@pytest.fixture
def make_program(app: Flask, accounts: Accounts, new_name: Callable[[str], str]) -> Callable[..., Caller]:
    def make(role: str = "admin", **options: Any) -> Caller:
        name = new_name(f"bot of {role}")
        accounts.add(name, by="test", role=role)
        return Caller(name, accounts.create_token(name, "t", by="test", **options), app.test_client())

    return make


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.guard("scope-reads-only", "scope-role", "token-within")
def test_routes_refuse_tokens_of_insufficient_scope(
    app: Flask, scope: str, make_program: Callable[..., Caller]
) -> None:
    program = make_program(scope=scope)
    for method, path, need in api_routes(app):
        response = program(method, path, json=None if method == "GET" else {})
        case = f"{method} {path} with {scope}: {response.status_code}"
        if is_allowed(scope, need, method, path):
            assert response.status_code not in (401, 403, 500), case
        else:
            assert (response.status_code, response.json["code"]) == (403, "forbidden"), case
        response.close()  # one is an endless stream


@pytest.mark.guard("token-queue")
def test_token_for_one_queue_is_refused_elsewhere(
    app: Flask, queue: leaseq.Queue, make_program: Callable[..., Caller]
) -> None:
    queue.configure(title="Mine")
    program = make_program(scope="admin", queue="elsewhere")
    assert program("GET", "/me").json["token"] == {"scope": "admin", "queue": "elsewhere", "expires_at": None}
    for method, path, _ in api_routes(app):
        if path == "/me":  # describes the token itself
            continue
        response = program(method, path, json=None if method == "GET" else {})
        assert response.status_code == 403, path
        assert "'elsewhere' only: use one that is for all queues" in response.json["detail"]
    assert make_program(scope="admin", queue=queue.name)("GET", f"/queues/{queue.name}").status_code == 200


@pytest.mark.guard("scope-of-the-role")
def test_token_scope_does_not_exceed_role_of_person(
    accounts: Accounts, queue: leaseq.Queue, make_program: Callable[..., Caller]
) -> None:
    queue.configure(title="Mine")
    program = make_program("manager", scope="manage")
    assert program("GET", f"/queues/{queue.name}/stats").status_code == 200
    accounts.change(program.name, by="test", role="worker")
    assert program("GET", f"/queues/{queue.name}/stats").status_code == 403
    for role, scope in (("worker", "manage"), ("worker", "admin"), ("manager", "admin")):
        with refused("maximum", "scope", what="scope", role=role):
            make_program(role, scope=scope)
    with refused("one_of", "scope"):
        make_program("admin", scope="everything")


def test_queue_is_deleted_only_by_token_with_all_rights_of_its_person(
    queue: leaseq.Queue, make_program: Callable[..., Caller]
) -> None:
    queue.configure(title="Mine")
    path = f"/queues/{queue.name}"
    for role, options in (
        ("manager", {"scope": "manage", "queue": queue.name}),
        ("admin", {"scope": "admin", "queue": queue.name}),
        ("admin", {"scope": "manage"}),
    ):
        assert make_program(role, **options)("DELETE", path).status_code == 403, options
        assert queue.exists()
    assert make_program("manager")("DELETE", path).status_code == 204
    assert not queue.exists()


def test_enqueue_token_adds_items_and_reads_none(
    queue: leaseq.Queue, make_program: Callable[..., Caller]
) -> None:
    queue.configure()
    program = make_program("manager", scope="enqueue", queue=queue.name)
    added = program("POST", f"/queues/{queue.name}/items", json={"payload": {"text": "hello"}, "id": "1"})
    assert (added.status_code, queue.get("1").payload) == (201, {"text": "hello"})
    assert program("GET", f"/queues/{queue.name}/items/1").status_code == 403
    assert program("POST", f"/queues/{queue.name}/reserve", json={}).status_code == 403
    assert program("POST", "/tokens", json={"name": "another"}).status_code == 403
    with pytest.raises(Invalid) as refusal:
        make_program("worker", scope="enqueue")
    assert refusal.value.field == "scope"


@pytest.mark.parametrize(("role", "scope"), [("worker", "work"), ("manager", "manage"), ("admin", "admin")])
def test_token_without_scope_has_full_scope_of_role(
    accounts: Accounts, make_program: Callable[..., Caller], role: str, scope: str
) -> None:
    (token,) = accounts.tokens(make_program(role).name)
    assert (token.scope, token.queue, token.expires_at) == (scope, None, None)


@pytest.mark.guard("token-end")
def test_token_expires_after_its_days(
    server: Any, accounts: Accounts, make_program: Callable[..., Caller]
) -> None:
    program, now = make_program(days=30), [time.time()]
    callers = Callers(
        server.client,
        People(server.client),
        Tokens(server.client),
        clock=lambda: now[0],
        monotonic=lambda: 0.0,
    )
    now[0] += 30 * 86_400 - 60
    assert callers.find(program.token)
    now[0] += 60
    assert callers.find(program.token) is None, "on time, although it was read a moment ago"


def test_expired_token_returns_401(
    accounts: Accounts, make_program: Callable[..., Caller], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = make_program(days=1)
    assert program("GET", "/queues").status_code == 200
    monkeypatch.setattr(accounts.callers, "_clock", lambda: 9_999_999_999.0)
    assert program("GET", "/queues").status_code == 401


@pytest.mark.guard("api-only-tokens")
def test_pages_do_not_accept_tokens(make_program: Callable[..., Caller]) -> None:
    program = make_program()
    headers = {"Authorization": f"Bearer {program.token}"}
    for path in ("/", "/people", "/manage", "/account"):
        assert program.client.get(path, headers=headers).location.startswith("/login")


def test_token_is_created_on_page_and_shown_once(
    app: Flask, accounts: Accounts, sign_in_as: Callable[[str], Browser], queue: leaseq.Queue
) -> None:
    queue.configure(title="Mine")
    browser = sign_in_as("manager")
    form = {
        "token_name": "producer",
        "scope": "read",
        "queue": queue.name,
        "days": "30",
        "password": PASSWORD,
    }
    page = browser.post("/account/tokens", form).text
    token = not_none(re.search(r"leaseq_[\w-]{43}", page))[0]
    assert token not in browser.get("/account").text
    headers = {"Authorization": f"Bearer {token}"}
    client = app.test_client()
    assert client.get(f"/api/v1/queues/{queue.name}/stats", headers=headers).status_code == 200
    assert client.post(f"/api/v1/queues/{queue.name}/pause", headers=headers).status_code == 403
    (listed_token,) = accounts.tokens(browser.name)
    assert (
        listed_token.scope,
        listed_token.queue,
        (not_none(listed_token.expires_at) - listed_token.created_at).days,
    ) == (
        "read",
        queue.name,
        30,
    )
    assert listed_token.used_at
    for field, value in (
        ("scope", "admin"),
        ("days", "0"),
        ("days", "x"),
        ("queue", "No!"),
        ("token_name", ""),
    ):
        assert browser.post("/account/tokens", {**form, field: value}).status_code == 400, field
    assert len(accounts.tokens(browser.name)) == 1


def test_admin_creates_token_for_program(
    accounts: Accounts, sign_in_as: Callable[[str], Browser], new_name: Callable[[str], str]
) -> None:
    admin_browser, bot = sign_in_as("admin"), new_name("bot")
    accounts.add(bot, by="test")
    form = {"token_name": "t", "scope": "work", "days": "never", "password": PASSWORD}
    page = admin_browser.post(f"/people/{bot}/tokens", form).text
    token = not_none(re.search(r"leaseq_[\w-]{43}", page))[0]
    assert not_none(accounts.callers.find(token)).person.name == bot
    assert admin_browser.post(f"/people/{bot}/tokens", {**form, "scope": "manage"}).status_code == 400


def test_token_is_not_created_for_disabled_person(
    accounts: Accounts, sign_in_as: Callable[[str], Browser], new_name: Callable[[str], str]
) -> None:
    admin_browser, bot = sign_in_as("admin"), new_name("bot")
    accounts.add(bot, by="test")
    form = f'action="/people/{bot}/tokens"'
    assert form in admin_browser.get(f"/people/{bot}").text
    accounts.change(bot, by="test", disabled=True)
    assert form not in admin_browser.get(f"/people/{bot}").text
    response = admin_browser.post(
        f"/people/{bot}/tokens", {"token_name": "t", "scope": "work", "days": "never", "password": PASSWORD}
    )
    assert (response.status_code, "is disabled" in response.text) == (400, True)
    assert accounts.tokens(bot) == []
