"""API tokens on the pages: proof of identity for creation, the limit per person, and revoking all."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest
from flask import Flask

import leaseq
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.accounts.model import MAX_TOKENS
from leaseq.webapp.store.queue_access import Access, Group
from tests.support.refused import refused
from tests.web.auth.oidc_provider import Provider, visit_provider
from tests.web.conftest import PASSWORD, Browser
from tests.web.elements import attribute, attributes

FORM = {"token_name": "t", "scope": "read", "days": "30"}
NEW = "another long one"


@pytest.mark.parametrize("password", [{}, {"password": ""}, {"password": "not that one"}])
@pytest.mark.guard("token-by-password", "token-presence")
def test_token_creation_on_pages_requires_password(
    accounts: Accounts, sign_in_as: Callable[[str], Browser], password: dict[str, str]
) -> None:
    """On the page of the own account, and on the page of another person."""
    admin_browser = sign_in_as("admin")
    for path in ("/account/tokens", f"/people/{admin_browser.name}/tokens"):
        response = admin_browser.post(path, {**FORM, "token_name": "a <b>", "days": "never", **password})
        assert (response.status_code, "not your current password" in response.text) == (400, True)
        assert attribute(response.text, "[name=token_name]", "value") == "a <b>", "as it was typed"
        for name, value in (("scope", "read"), ("days", "never")):
            assert attribute(response.text, f"[name={name}] > [selected]", "value") == value
    assert accounts.tokens(admin_browser.name) == []
    response = admin_browser.post("/account/tokens", {**FORM, "token_name": "a <b>", "password": PASSWORD})
    assert response.status_code == 200
    assert "a <b>" not in attributes(response.text, "[name=token_name][value]", "value")
    assert len(accounts.tokens(admin_browser.name)) == 1


@pytest.mark.parametrize(
    ("role", "scopes"),
    [
        ("worker", ["read", "work"]),
        ("manager", ["read", "work", "enqueue", "ask", "manage"]),
        ("admin", ["read", "work", "enqueue", "ask", "manage", "admin"]),
    ],
)
def test_scope_choices_depend_on_role(
    sign_in_as: Callable[[str], Browser], role: str, scopes: list[str]
) -> None:
    page = sign_in_as(role).get("/account").text
    assert attributes(page, "select[name=scope] option", "value") == scopes


def test_token_for_other_person_requires_own_password(
    accounts: Accounts, sign_in_as: Callable[[str], Browser]
) -> None:
    admin_browser = sign_in_as("admin")
    accounts.set_password(other := sign_in_as("worker").name, NEW, by="test")
    path = f"/people/{other}/tokens"
    assert admin_browser.post(path, {**FORM, "password": NEW}).status_code == 400
    assert admin_browser.post(path, {**FORM, "password": PASSWORD}).status_code == 200


def test_token_for_unknown_or_inaccessible_queue_is_refused(
    app: Flask, accounts: Accounts, queue: leaseq.Queue, sign_in_as: Callable[[str], Browser]
) -> None:
    """A queue without access gets the same refusal as an unknown queue."""
    admin_browser, fields = sign_in_as("admin"), {**FORM, "password": PASSWORD}
    for path in ("/account/tokens", f"/people/{admin_browser.name}/tokens"):
        response = admin_browser.post(path, {**fields, "queue": queue.name[:-1]})
        assert (response.status_code, "there is no queue" in response.text) == (400, True)
    assert accounts.tokens(admin_browser.name) == []
    queue.configure()
    assert admin_browser.post("/account/tokens", {**fields, "queue": queue.name}).status_code == 200
    worker = sign_in_as("worker")
    assert worker.post("/account/tokens", {**fields, "queue": queue.name}).status_code == 200
    app.extensions["leaseq"].access.set(queue.name, Access(work=Group(people=(admin_browser.name,))))
    response = worker.post("/account/tokens", {**fields, "queue": queue.name})
    assert (response.status_code, "there is no queue" in response.text) == (400, True)


@pytest.mark.guard("token-recent-sign-in")
def test_person_without_password_needs_recent_provider_sign_in(
    accounts: Accounts, make_app: Callable[..., Flask], provider: Provider
) -> None:
    app, name = make_app(), provider.claims["preferred_username"]
    accounts.add(name, by="test")
    browser = Browser(app, name)
    browser.get(visit_provider(browser))
    button = ">Create a token</button>"
    assert button in browser.get("/account").text
    assert browser.post("/account/tokens", FORM).status_code == 200
    with browser.client.session_transaction() as session:
        session["proved-at"] = time.time() - 601
    assert button not in browser.get("/account").text
    response = browser.post("/account/tokens", FORM)
    assert (response.status_code, "Sign in again" in response.text) == (400, True)
    link = re.search(r'href="(/login/provider\?again=[^"]+)"', response.text)
    assert link
    provider.requests.clear()
    response = browser.get(visit_provider(browser, link[1].replace("&amp;", "&")))
    assert response.location.startswith("/account")
    (request,) = provider.requests
    assert (request["prompt"], request["max_age"]) == ("login", "0"), "the provider must ask them again"
    assert browser.post("/account/tokens", FORM).status_code == 200
    assert len(accounts.tokens(name)) == 2


@pytest.mark.guard("sign-in-time")
def test_old_auth_time_of_provider_is_no_proof(
    accounts: Accounts, make_app: Callable[..., Flask], provider: Provider
) -> None:
    app, name = make_app(), provider.claims["preferred_username"]
    accounts.add(name, by="test")
    for ago, status in ((3_600, 400), (60, 200)):
        provider.claims["auth_time"] = int(time.time()) - ago
        browser = Browser(app, name)
        browser.get(visit_provider(browser))
        assert browser.post("/account/tokens", FORM).status_code == status


def test_future_auth_time_of_provider_is_capped_at_now(
    accounts: Accounts, make_app: Callable[..., Flask], provider: Provider
) -> None:
    app, name = make_app(), provider.claims["preferred_username"]
    accounts.add(name, by="test")
    provider.claims["auth_time"] = int(time.time()) + 86_400
    browser = Browser(app, name)
    browser.get(visit_provider(browser))
    with browser.client.session_transaction() as session:
        assert session["proved-at"] <= time.time()


@pytest.mark.guard("token-count")
def test_number_of_tokens_per_person_is_limited(
    accounts: Accounts, worker_browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    accounts.create_token(worker_browser.name, "short", by="test", days=1)
    for number in range(MAX_TOKENS - 1):
        accounts.create_token(worker_browser.name, f"t{number}", by="test")
    response = worker_browser.post("/account/tokens", {**FORM, "password": PASSWORD})
    assert (response.status_code, f"at most {MAX_TOKENS} API tokens" in response.text) == (400, True)
    monkeypatch.setattr(accounts._tokens, "_clock", lambda: time.time() + 2 * 86_400)
    accounts.create_token(worker_browser.name, "one more", by="test")
    names = [token.name for token in accounts.tokens(worker_browser.name)]
    assert (len(names), "short" in names) == (MAX_TOKENS, False), "expired ones make room"
    with refused("maximum", what="tokens"):
        accounts.create_token(worker_browser.name, "too many", by="test")


@pytest.mark.parametrize("box", [{"revoke_tokens": "yes"}, {}], ids=["box-checked", "box-unchecked"])
@pytest.mark.parametrize("action", ["password", "everywhere", "link", "by-admin"])
def test_ending_sessions_optionally_revokes_tokens(
    app: Flask,
    accounts: Accounts,
    worker_browser: Browser,
    sign_in_as: Callable[[str], Browser],
    action: str,
    box: dict[str, str],
) -> None:
    admin_browser = sign_in_as("admin")
    token = accounts.create_token(worker_browser.name, "a program", by="test")
    link = accounts.password_link(worker_browser.name, by=admin_browser.name)
    passwords = {"password": PASSWORD, "new_password": NEW, "again": NEW}
    page, path, browser, fields = {
        "password": ("/account", "/account/password", worker_browser, passwords),
        "everywhere": ("/account", "/account/sign-out-everywhere", worker_browser, {}),
        "link": (f"/welcome?token={link}", "/welcome", Browser(app, ""), {**passwords, "token": link}),
        "by-admin": (
            f"/people/{worker_browser.name}",
            f"/people/{worker_browser.name}/sign-out",
            admin_browser,
            {},
        ),
    }[action]
    assert "Revoke the 1 API token as well" in browser.get(page).text
    assert browser.post(path, {**fields, **box}, page=page).status_code == 303
    assert ("1 API token is revoked." in browser.get("/account", follow_redirects=True).text) is bool(box)
    assert (accounts.callers.find(token) is None) is bool(box)
    actions = [entry.what for entry in accounts.log.page(person=worker_browser.name).entries]
    assert ("token.all-revoked" in actions) is bool(box)


def test_revoking_tokens_is_not_offered_without_tokens(worker_browser: Browser) -> None:
    assert "as well" not in worker_browser.get("/account").text
