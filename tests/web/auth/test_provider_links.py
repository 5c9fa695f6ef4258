"""Links between people of an identity provider and local accounts, and the proof that a link requires."""

from __future__ import annotations

import time
from collections.abc import Callable

import pyotp
import pytest
from flask import Flask

from leaseq.webapp.store.accounts import Accounts
from tests.web.auth.oidc_provider import Provider, sign_in, visit_provider
from tests.web.conftest import PASSWORD, Browser

LINK_PATH = "/login/provider/link"


def turn_on_factor(accounts: Accounts, name: str) -> pyotp.TOTP:
    """Turn two-factor sign-in on with a code of 30 seconds ago, so that the current code is unused."""
    totp = pyotp.TOTP(accounts.factors.offer(name))
    accounts.factors.confirm(name, totp.at(time.time() - 30))
    return totp


def is_signed_in(browser: Browser) -> bool:
    return browser.get("/account").status_code == 200


@pytest.mark.guard("linked-by-password", "name-linked-to-other", "password-of-linked")
def test_an_account_with_a_password_is_linked_by_its_password(
    accounts: Accounts, make_app: Callable[..., Flask], provider: Provider
) -> None:
    app, name = make_app(), provider.claims["preferred_username"]
    accounts.add(name, by="test", password=PASSWORD)
    browser, response = sign_in(app, "/login/provider?next=/q/reviews")
    assert (response.status_code, response.location) == (303, LINK_PATH)
    assert not is_signed_in(browser), "the provider's sign-in alone opens nothing"
    assert name in browser.get(LINK_PATH).text
    refusal = browser.post(LINK_PATH, {"password": "not that one"}, page=LINK_PATH)
    assert (refusal.status_code, "not the leaseq password" in refusal.text) == (401, True)
    assert not accounts.has_provider_link(name)
    assert browser.post(LINK_PATH, {"password": PASSWORD}, page=LINK_PATH).location == "/q/reviews"
    assert is_signed_in(browser)
    second_browser, response = sign_in(app)
    assert response.location == "/", "it is asked once"
    page = second_browser.get("/account").text
    assert f"<h1>{name}</h1>" in page
    assert "was linked to the identity provider" in page, "somebody who stole the password may have done it"
    provider.claims["sub"] = "another person"
    assert sign_in(app)[1].status_code == 403, "somebody else is not even asked for the password"


@pytest.mark.guard("limit-refuses")
def test_password_attempts_on_link_page_are_limited(
    accounts: Accounts, make_app: Callable[..., Flask], provider: Provider
) -> None:
    accounts.add(provider.claims["preferred_username"], by="test", password=PASSWORD)
    browser, _ = sign_in(make_app())
    statuses = [
        browser.post(LINK_PATH, {"password": "not that one"}, page=LINK_PATH).status_code for _ in range(11)
    ]
    assert statuses == [401] * 10 + [429]
    assert browser.post(LINK_PATH, {"password": PASSWORD}, page=LINK_PATH).status_code == 429


def test_account_with_second_factor_is_linked_by_password_and_code(
    accounts: Accounts, make_app: Callable[..., Flask], provider: Provider
) -> None:
    app, name = make_app(), provider.claims["preferred_username"]
    accounts.add(name, by="test", password=PASSWORD)
    totp = turn_on_factor(accounts, name)
    browser, _ = sign_in(app)
    assert browser.get("/login/code").location == "/login", "the password comes first"
    assert browser.post(LINK_PATH, {"password": PASSWORD}, page=LINK_PATH).location == "/login/code"
    assert (is_signed_in(browser), accounts.has_provider_link(name)) == (False, False)
    assert browser.post("/login/code", {"code": totp.now()}, page="/login/code").status_code == 303
    assert (is_signed_in(browser), accounts.has_provider_link(name)) == (True, True)


@pytest.mark.guard("second-step-of-linked")
def test_linked_account_still_requires_second_factor(
    accounts: Accounts, make_app: Callable[..., Flask], provider: Provider
) -> None:
    app, name = make_app(), provider.claims["preferred_username"]
    accounts.add(name, by="test", password=PASSWORD)
    browser, _ = sign_in(app)
    browser.post(LINK_PATH, {"password": PASSWORD}, page=LINK_PATH)
    totp = turn_on_factor(accounts, name)
    browser, response = sign_in(app, "/login/provider?next=/account")
    assert (response.location, is_signed_in(browser)) == ("/login/code", False)
    assert browser.post("/login/code", {"code": "000000"}, page="/login/code").status_code == 401
    assert browser.post("/login/code", {"code": totp.now()}, page="/login/code").location == "/account"
    assert is_signed_in(browser)


@pytest.mark.parametrize("kind", ["manager", "admin", "token"])
@pytest.mark.guard("linked-by-admin", "linked-tokens", "linked-worker")
def test_privileged_account_without_password_is_linked_by_admin(
    accounts: Accounts,
    make_app: Callable[..., Flask],
    provider: Provider,
    sign_in_as: Callable[[str], Browser],
    kind: str,
) -> None:
    app, name, admin_browser = make_app(), provider.claims["preferred_username"], sign_in_as("admin")
    accounts.add(name, by="test", role="worker" if kind == "token" else kind)
    if kind == "token":
        accounts.create_token(name, "a program", by="test")
    browser, response = sign_in(app)
    assert (response.status_code, "Ask an admin" in response.text, is_signed_in(browser)) == (
        403,
        True,
        False,
    )
    assert browser.get(LINK_PATH).location == "/login", "there is no password to ask for"
    admin_browser = sign_in_at(app, admin_browser)
    assert admin_browser.post(f"/people/{name}/link-provider").status_code == 303
    assert sign_in(app)[1].status_code == 303
    accounts.unlink_provider(name, by="test")
    assert sign_in(app)[1].status_code == 403, "it counts once"
    actions = [(entry.by, entry.what) for entry in accounts.log.page(person=name).entries]
    assert (admin_browser.name, "sign-in.provider-allowed") in actions


@pytest.mark.guard("link-of-an-admin")
def test_allowed_link_ends_when_admin_is_disabled(
    accounts: Accounts, make_app: Callable[..., Flask], provider: Provider, new_name: Callable[[str], str]
) -> None:
    app, name, admin = make_app(), provider.claims["preferred_username"], new_name("boss")
    accounts.add(name, by="test", role="manager")
    accounts.add(admin, by="test", role="admin", password=PASSWORD)
    accounts.add(new_name("other"), by="test", role="admin", password=PASSWORD)
    accounts.allow_provider_link(name, by=admin)
    accounts.change(admin, by="test", disabled=True)
    assert sign_in(app)[1].status_code == 403


def sign_in_at(app: Flask, browser: Browser) -> Browser:
    """Sign the same person in at another installation."""
    other_browser = Browser(app, browser.name)
    assert other_browser.sign_in().status_code == 303
    return other_browser


def test_a_worker_without_a_password_is_linked_at_their_first_sign_in(
    accounts: Accounts, make_app: Callable[..., Flask], provider: Provider
) -> None:
    name = provider.claims["preferred_username"]
    accounts.add(name, by="test")
    assert sign_in(make_app())[1].location == "/"
    assert accounts.has_provider_link(name)


@pytest.mark.guard("linked-stays")
def test_linked_account_is_kept_when_provider_renames_person(
    accounts: Accounts, make_app: Callable[..., Flask], provider: Provider, new_name: Callable[[str], str]
) -> None:
    """Many providers let people change their names."""
    app, name, other = make_app(), provider.claims["preferred_username"], new_name("other")
    accounts.add(name, by="test")
    accounts.add(other, by="test")
    sign_in(app)
    provider.claims["preferred_username"] = other
    browser, response = sign_in(app)
    assert response.status_code == 303
    assert f"<h1>{name}</h1>" in browser.get("/account").text
    assert not accounts.has_provider_link(other)


def test_pending_link_expires_and_ends_at_password_change(
    accounts: Accounts, make_app: Callable[..., Flask], provider: Provider
) -> None:
    app, name = make_app(), provider.claims["preferred_username"]
    accounts.add(name, by="test", password=PASSWORD)
    (late_browser, _), (early_browser, _) = sign_in(app), sign_in(app)
    with late_browser.client.session_transaction() as session:
        session["half-way"] = {**session["half-way"], "at": time.time() - 601}
    assert late_browser.get(LINK_PATH).location == "/login"
    accounts.set_password(name, "another long one", by="test")
    assert early_browser.get(LINK_PATH).location == "/login"
    assert Browser(app, "").get(LINK_PATH).location == "/login", (
        "a browser that did not come from the provider"
    )


@pytest.mark.guard("link-step")
def test_link_page_requires_sign_in_through_provider(
    app: Flask, accounts: Accounts, worker_browser: Browser
) -> None:
    """A pending sign-in with a password must not reach the page."""
    turn_on_factor(accounts, worker_browser.name)
    browser = Browser(app, worker_browser.name)
    assert browser.sign_in().location == "/login/code"
    assert browser.get(LINK_PATH).location == "/login"


@pytest.mark.guard("provider-by-tls")
def test_provider_endpoints_without_https_are_refused(
    make_app: Callable[..., Flask], provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    metadata = provider.metadata()
    for endpoint in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
        monkeypatch.setattr(
            provider, "metadata", lambda one=endpoint: {**metadata, one: "http://idp.example.org/x"}
        )
        response = Browser(make_app(), "").get("/login/provider")
        assert (response.status_code, "https" in response.text) == (502, True), endpoint
    monkeypatch.undo()
    assert visit_provider(Browser(make_app(), "")).startswith("/login/provider/back")
