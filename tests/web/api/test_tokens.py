"""REST for tokens: a token may create, rotate and revoke tokens with no more rights than its own."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask

from leaseq.webapp.store.accounts import Accounts
from tests.web.api_calls import assert_problem
from tests.web.conftest import Browser, Caller

Program = Callable[..., Caller]


@pytest.fixture
def program(app: Flask, accounts: Accounts, new_name: Callable[[str], str]) -> Program:
    def make(role: str = "worker", **options: Any) -> Caller:
        name = new_name(role)
        accounts.add(name, by="test", role=role, skills=["fr"])
        return Caller(name, accounts.create_token(name, "first", by="test", **options), app.test_client())

    return make


def with_token(caller: Caller, token: str) -> Caller:
    return Caller(caller.name, token, caller.client)


def test_me_returns_caller_and_token(program: Program, sign_in_as: Callable[[str], Browser]) -> None:
    caller = program("manager", scope="work", days=7)
    me = caller("GET", "/me").json
    assert (me["name"], me["role"], me["skills"]) == (caller.name, "manager", ["fr"])
    assert (me["token"]["scope"], me["token"]["queue"]) == ("work", None)
    time_left = datetime.fromisoformat(me["token"]["expires_at"]) - datetime.now(UTC)
    assert timedelta(days=6) < time_left <= timedelta(days=7)
    by_session = sign_in_as("worker").get("/api/v1/me").json
    assert (by_session["role"], by_session["token"]) == ("worker", None)


def test_a_token_is_created_listed_and_revoked(program: Program) -> None:
    caller = program()
    response = caller("POST", "/tokens", json={"name": "nightly", "days": 3})
    assert response.status_code == 201
    token = response.json
    assert (token["name"], token["person"], token["scope"]) == ("nightly", caller.name, "work")
    new_caller = with_token(caller, token["token"])
    assert new_caller("GET", "/me").status_code == 200
    listed_tokens = caller("GET", "/tokens").json["tokens"]
    assert sorted(one["name"] for one in listed_tokens) == ["first", "nightly"]
    assert all("token" not in one for one in listed_tokens), "only the answer to its creation contains it"
    assert caller("DELETE", f"/tokens/{token['id']}").status_code == 204
    assert_problem(new_caller("GET", "/me"), 401, "unauthorized")
    assert_problem(caller("DELETE", f"/tokens/{token['id']}"), 404, "not-found")


def test_rotation_keeps_rights_and_revokes_old_token(program: Program) -> None:
    caller = program(days=30)
    (before,) = caller("GET", "/tokens").json["tokens"]
    response = caller("POST", f"/tokens/{before['id']}/rotate", json={})
    assert response.status_code == 200
    after = response.json
    assert after["id"] != before["id"]
    fields = ("name", "scope", "queue", "expires_at", "person")
    assert [after[one] for one in fields] == [before[one] for one in fields]
    assert_problem(caller("GET", "/me"), 401, "unauthorized")
    assert with_token(caller, after["token"])("GET", "/me").status_code == 200


@pytest.mark.parametrize(
    ("role", "own_scope", "scope", "is_allowed"),
    [
        ("admin", "admin", "read", True),
        ("admin", "admin", "admin", True),
        ("admin", "manage", "work", True),
        ("admin", "manage", "admin", False),
        ("admin", "work", "read", False),  # a token of an admin reads more than the scope "work"
        ("worker", "work", "read", True),
        ("manager", "manage", "enqueue", True),
        ("worker", "work", "enqueue", False),
        ("worker", "work", "manage", False),
        ("manager", "work", "manage", False),
    ],
)
@pytest.mark.guard("token-grants")
def test_token_creates_only_tokens_within_own_scope(
    program: Program, role: str, own_scope: str, scope: str, is_allowed: bool
) -> None:
    caller = program(role, scope=own_scope)
    response = caller("POST", "/tokens", json={"name": "x", "scope": scope})
    if is_allowed:
        assert (response.status_code, response.json["scope"]) == (201, scope)
    else:
        assert_problem(response, 403, "forbidden")
        assert len(caller("GET", "/tokens").json["tokens"]) == 1


@pytest.mark.guard("token-outlives")
def test_created_token_does_not_outlive_creating_token(program: Program) -> None:
    caller = program(days=5)
    refusal = assert_problem(caller("POST", "/tokens", json={"name": "x", "days": 6}), 400, "invalid")
    assert refusal["field"] == "days"
    assert refusal["limit"] == "at most 4"
    (own_token,) = caller("GET", "/tokens").json["tokens"]
    assert caller("POST", "/tokens", json={"name": "y"}).json["expires_at"] == own_token["expires_at"]
    assert caller("POST", "/tokens", json={"name": "x", "days": 4}).status_code == 201


def test_narrower_token_may_not_rotate_wider_token(program: Program, accounts: Accounts) -> None:
    narrow_caller = program("manager", scope="work")
    accounts.create_token(narrow_caller.name, "wide", by="test", scope="manage")
    wide_token = next(one for one in narrow_caller("GET", "/tokens").json["tokens"] if one["name"] == "wide")
    assert_problem(narrow_caller("POST", f"/tokens/{wide_token['id']}/rotate", json={}), 403, "forbidden")


@pytest.mark.guard("token-rotates-later")
def test_short_lived_token_may_not_rotate_longer_lived_token(program: Program) -> None:
    caller = program(days=7)
    short_token = caller("POST", "/tokens", json={"name": "short", "days": 1}).json
    short_caller = with_token(caller, short_token["token"])
    ids = {one["name"]: one["id"] for one in short_caller("GET", "/tokens").json["tokens"]}
    refusal = assert_problem(
        short_caller("POST", f"/tokens/{ids['first']}/rotate", json={}), 403, "forbidden"
    )
    assert "expires later" in refusal["detail"]
    assert caller("POST", f"/tokens/{ids['short']}/rotate", json={}).status_code == 200


@pytest.mark.guard("token-revokes-wider")
def test_narrower_token_may_not_revoke_wider_token(program: Program, accounts: Accounts) -> None:
    wide_caller = program("admin")
    narrow_caller = with_token(
        wide_caller, accounts.create_token(wide_caller.name, "narrow", by="test", scope="work")
    )
    ids = {one["name"]: one["id"] for one in wide_caller("GET", "/tokens").json["tokens"]}
    assert_problem(narrow_caller("DELETE", f"/tokens/{ids['first']}"), 403, "forbidden")
    assert narrow_caller("DELETE", f"/tokens/{ids['narrow']}").status_code == 204


@pytest.mark.guard("tokens-of-others", "tokens-of-others-by-id")
def test_tokens_of_others_require_admin_over_rest(program: Program, admin: Caller) -> None:
    ann, bob = program(), program()
    (anns_token,) = ann("GET", "/tokens").json["tokens"]
    assert_problem(bob("GET", f"/tokens?person={ann.name}"), 403, "forbidden")
    assert_problem(bob("POST", "/tokens", json={"name": "x", "person": ann.name}), 403, "forbidden")
    assert_problem(bob("DELETE", f"/tokens/{anns_token['id']}"), 404, "not-found")
    assert_problem(bob("POST", f"/tokens/{anns_token['id']}/rotate", json={}), 404, "not-found")
    assert admin("GET", f"/tokens?person={ann.name}").json["tokens"] == [anns_token]
    response = admin("POST", "/tokens", json={"name": "x", "person": ann.name, "scope": "work"})
    assert (response.status_code, response.json["person"]) == (201, ann.name)
    assert admin("DELETE", f"/tokens/{anns_token['id']}").status_code == 204
    assert_problem(ann("GET", "/me"), 401, "unauthorized")
    assert_problem(admin("GET", "/tokens?person=nobody"), 404, "not-found")


@pytest.mark.guard("token-by-token")
def test_session_may_not_create_token_over_rest(sign_in_as: Callable[[str], Browser]) -> None:
    person = sign_in_as("worker")
    headers = {"X-CSRFToken": person.csrf("/account")}
    response = person.client.post("/api/v1/tokens", json={"name": "x"}, headers=headers)
    assert "asks for the password" in assert_problem(response, 403, "forbidden")["detail"]


def test_token_secret_is_not_stored_for_repeated_request(program: Program, server: Any) -> None:
    caller = program()
    request = {"json": {"name": "once"}, "headers": {"Idempotency-Key": "k-1"}}
    token = caller("POST", "/tokens", **request).json["token"]
    assert_problem(caller("POST", "/tokens", **request), 409, "answer-not-kept")
    assert [one["name"] for one in caller("GET", "/tokens").json["tokens"]].count("once") == 1
    for key in server.redis.scan_iter("leaseq:{@sent:*"):
        if server.redis.type(key) == b"string":
            assert token.encode() not in server.redis.get(key)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": ""}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": "x", "scope": "all"}, "scope"),
        ({"name": "x", "days": 0}, "days"),
        ({"name": "x", "days": 3651}, "days"),
        ({"name": "x", "days": "3"}, "days"),
        ({"name": "x", "queue": "UPPER"}, "queue"),
        ({"name": "x", "queue": ""}, "queue"),
        ({"name": "x", "queue": "no-such-queue"}, "queue"),
        ({"name": "x", "more": 1}, "more"),
    ],
)
def test_invalid_token_request_is_refused(program: Program, body: dict[str, Any], field: str) -> None:
    caller = program()
    assert assert_problem(caller("POST", "/tokens", json=body), 400, "invalid")["field"] == field
    assert len(caller("GET", "/tokens").json["tokens"]) == 1
