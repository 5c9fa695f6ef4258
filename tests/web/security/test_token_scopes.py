"""What an API token opens: every route of the API with each scope, one queue, and until when."""

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
from leaseq.webapp.store.accounts import SCOPES, Accounts
from leaseq.webapp.store.accounts.callers import Callers
from leaseq.webapp.store.accounts.people import People
from leaseq.webapp.store.accounts.tokens import Tokens
from tests.support.taking import not_none
from tests.web.conftest import PASSWORD, Browser, Caller

VALUES = {
    "q": "walked",
    "id": "x",
    "name": "somebody walked",
    "webhook": "wh-walked",
    "token": "0a",
    "invitation": "0b",
}
OPENS = {"work": {"worker"}, "manage": {"worker", "manager"}, "admin": {"worker", "manager", "admin"}}


def opens(scope: str, need: str, method: str) -> bool:
    return method == "GET" if scope == "read" else need in OPENS[scope]


def api_routes(app: Flask) -> list[tuple[str, str, str]]:
    """Method, path under /api/v1 and need of each route that knows who calls."""
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
def program(app: Flask, accounts: Accounts, new_name: Callable[[str], str]) -> Callable[..., Caller]:
    def make(role: str = "admin", **options: Any) -> Caller:
        name = new_name(f"bot of {role}")
        accounts.add(name, by="test", role=role)
        return Caller(name, accounts.create_token(name, "t", by="test", **options), app.test_client())

    return make


@pytest.mark.parametrize("scope", SCOPES)
def test_every_route_is_closed_to_a_scope_that_does_not_open_it(
    app: Flask, scope: str, program: Callable[..., Caller]
) -> None:
    call = program(scope=scope)
    for method, path, need in api_routes(app):
        answer = call(method, path, json=None if method == "GET" else {})
        case = f"{method} {path} with {scope}: {answer.status_code}"
        if opens(scope, need, method):
            assert answer.status_code not in (401, 403, 500), case
        else:
            assert (answer.status_code, answer.json["code"]) == (403, "forbidden"), case
            assert re.search("use one with another|of the scope (manage or )?admin;", answer.text), case
        answer.close()  # one is a stream without an end


def test_a_token_for_one_queue_opens_no_other_and_nothing_besides(
    app: Flask, queue: leaseq.Queue, program: Callable[..., Caller]
) -> None:
    queue.configure(title="Mine")
    call = program(scope="admin", queue="elsewhere")
    assert call("GET", "/me").json["token"] == {"scope": "admin", "queue": "elsewhere", "expires_at": None}
    for method, path, _ in api_routes(app):
        if path == "/me":  # what the token itself may do
            continue
        refused = call(method, path, json=None if method == "GET" else {})
        assert refused.status_code == 403, path
        assert "'elsewhere' only: use one that is for all queues" in refused.json["detail"]
    assert program(scope="admin", queue=queue.name)("GET", f"/queues/{queue.name}").status_code == 200


def test_a_scope_gives_no_more_than_the_role(
    accounts: Accounts, queue: leaseq.Queue, program: Callable[..., Caller]
) -> None:
    queue.configure(title="Mine")
    call = program("manager", scope="manage")
    assert call("GET", f"/queues/{queue.name}/stats").status_code == 200
    accounts.change(call.name, by="test", role="worker")
    assert call("GET", f"/queues/{queue.name}/stats").status_code == 403
    for role, scope in (("worker", "manage"), ("worker", "admin"), ("manager", "admin")):
        with pytest.raises(Invalid, match=f"a token can't have more rights than its person, a {role}"):
            program(role, scope=scope)
    with pytest.raises(Invalid, match="one of read, work"):
        program("admin", scope="everything")


@pytest.mark.parametrize(("role", "scope"), [("worker", "work"), ("manager", "manage"), ("admin", "admin")])
def test_without_a_scope_a_token_may_what_its_person_may(
    accounts: Accounts, program: Callable[..., Caller], role: str, scope: str
) -> None:
    (token,) = accounts.tokens(program(role).name)
    assert (token.scope, token.queue, token.expires_at) == (scope, None, None)


def test_a_token_ends_by_itself(server: Any, accounts: Accounts, program: Callable[..., Caller]) -> None:
    call, now = program(days=30), [time.time()]
    callers = Callers(
        server.client,
        People(server.client),
        Tokens(server.client),
        clock=lambda: now[0],
        monotonic=lambda: 0.0,
    )
    now[0] += 30 * 86_400 - 60
    assert callers.find(call.token)
    now[0] += 60
    assert callers.find(call.token) is None, "at its time, though it was read a moment ago"


def test_a_token_that_is_over_is_answered_as_one_that_never_was(
    accounts: Accounts, program: Callable[..., Caller], monkeypatch: pytest.MonkeyPatch
) -> None:
    call = program(days=1)
    assert call("GET", "/queues").status_code == 200
    monkeypatch.setattr(accounts._callers, "_clock", lambda: 9_999_999_999.0)
    assert call("GET", "/queues").status_code == 401


def test_pages_take_no_token(program: Callable[..., Caller]) -> None:
    call = program()
    headers = {"Authorization": f"Bearer {call.token}"}
    for path in ("/", "/people", "/manage", "/account"):
        assert call.client.get(path, headers=headers).location.startswith("/login")


def test_a_token_is_made_on_the_page_shown_once_and_used(
    app: Flask, accounts: Accounts, visitor: Callable[[str], Browser], queue: leaseq.Queue
) -> None:
    queue.configure(title="Mine")
    boss = visitor("manager")
    form = {
        "token_name": "producer",
        "scope": "read",
        "queue": queue.name,
        "days": "30",
        "password": PASSWORD,
    }
    page = boss.post("/account/tokens", form).text
    token = not_none(re.search(r"leaseq_[\w-]{43}", page))[0]
    assert token not in boss.get("/account").text
    headers = {"Authorization": f"Bearer {token}"}
    client = app.test_client()
    assert client.get(f"/api/v1/queues/{queue.name}/stats", headers=headers).status_code == 200
    assert client.post(f"/api/v1/queues/{queue.name}/pause", headers=headers).status_code == 403
    (known,) = accounts.tokens(boss.name)
    assert (known.scope, known.queue, (not_none(known.expires_at) - known.created_at).days) == (
        "read",
        queue.name,
        30,
    )
    assert known.used_at
    for field, bad in (
        ("scope", "admin"),
        ("days", "0"),
        ("days", "x"),
        ("queue", "No!"),
        ("token_name", ""),
    ):
        assert boss.post("/account/tokens", {**form, field: bad}).status_code == 400, field
    assert len(accounts.tokens(boss.name)) == 1


def test_an_admin_makes_a_token_for_a_program(
    accounts: Accounts, visitor: Callable[[str], Browser], new_name: Callable[[str], str]
) -> None:
    boss, bot = visitor("admin"), new_name("bot")
    accounts.add(bot, by="test")
    form = {"token_name": "t", "scope": "work", "days": "never", "password": PASSWORD}
    page = boss.post(f"/people/{bot}/tokens", form).text
    token = not_none(re.search(r"leaseq_[\w-]{43}", page))[0]
    assert not_none(accounts.caller(token)).person.name == bot
    assert boss.post(f"/people/{bot}/tokens", {**form, "scope": "manage"}).status_code == 400


def test_no_token_is_made_for_who_is_disabled(
    accounts: Accounts, visitor: Callable[[str], Browser], new_name: Callable[[str], str]
) -> None:
    boss, bot = visitor("admin"), new_name("bot")
    accounts.add(bot, by="test")
    form = f'action="/people/{bot}/tokens"'
    assert form in boss.get(f"/people/{bot}").text
    accounts.change(bot, by="test", disabled=True)
    assert form not in boss.get(f"/people/{bot}").text
    made = boss.post(
        f"/people/{bot}/tokens", {"token_name": "t", "scope": "work", "days": "never", "password": PASSWORD}
    )
    assert (made.status_code, "is disabled" in made.text) == (400, True)
    assert accounts.tokens(bot) == []
