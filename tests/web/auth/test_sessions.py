"""Sessions are stored on the server, so a copied cookie is invalid after the session ends."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from leaseq.webapp.store.accounts import Accounts, model
from leaseq.webapp.store.accounts.model import digest
from leaseq.webapp.store.accounts.sessions import SESSION_SECONDS
from tests.web.conftest import PASSWORD, Browser

COOKIE = "leaseq"
NEW = "another long one"


def copy_session(app: Flask, browser: Browser) -> Browser:
    """A browser with a copy of the cookie."""
    thief = Browser(app, browser.name)
    cookie = browser.client.get_cookie(COOKIE)
    assert cookie
    thief.client.set_cookie(COOKIE, cookie.value)
    return thief


def is_signed_in(browser: Browser) -> bool:
    return browser.get("/account").status_code == 200


@pytest.mark.parametrize(
    "end",
    [
        lambda person, _: person.post("/logout"),
        lambda person, _: person.post("/account/sign-out-everywhere"),
        lambda person, _: person.post(
            "/account/password", {"password": PASSWORD, "new_password": NEW, "again": NEW}
        ),
        lambda person, accounts: accounts.change(person.name, by="test", disabled=True),
        lambda person, accounts: accounts.set_password(person.name, NEW, by="test"),
        lambda person, accounts: accounts.use_link(accounts.password_link(person.name, by="test"), NEW),
        lambda person, accounts: accounts.end_sessions(person.name, by="test"),
    ],
    ids=["logout", "everywhere", "password", "disabled", "password-by-admin", "link", "by-admin"],
)
@pytest.mark.guard(
    "link-ends-sessions", "new-password-ends-sessions", "revoke-ends-sessions", "session-ended"
)
def test_copied_cookie_is_refused_after_session_ends(
    app: Flask, accounts: Accounts, worker_browser: Browser, end: Callable[[Browser, Accounts], object]
) -> None:
    thief = copy_session(app, worker_browser)
    assert is_signed_in(thief)
    end(worker_browser, accounts)
    assert not is_signed_in(thief)


def test_requests_after_sign_in_change_no_cookie(worker_browser: Browser) -> None:
    """Otherwise the last of several responses at the same time would drop the CSRF token of another."""
    for path in ("/work/session", "/day", "/account"):
        response = worker_browser.get(path)
        assert (response.status_code, response.headers.get("Set-Cookie")) == (200, None), path


def test_sign_out_keeps_sessions_of_other_browsers(app: Flask, worker_browser: Browser) -> None:
    other_browser = Browser(app, worker_browser.name)
    other_browser.sign_in()
    worker_browser.post("/logout")
    assert is_signed_in(other_browser)


@pytest.mark.guard("sign-in-clears-session", "sign-in-ends-session")
def test_sign_in_replaces_previous_session(app: Flask, worker_browser: Browser) -> None:
    thief = copy_session(app, worker_browser)
    with worker_browser.client.session_transaction() as session:
        session["planted"] = "by somebody else"
        first = session["_user_id"]
    worker_browser.sign_in()
    with worker_browser.client.session_transaction() as session:
        assert session["_user_id"] != first
        assert "planted" not in session
    assert is_signed_in(worker_browser)
    assert not is_signed_in(thief)


def test_forged_session_id_is_refused(worker_browser: Browser) -> None:
    for forged_id in (
        f"made up:1:{worker_browser.name}",
        f"{worker_browser.name}:1",
        "",
        "::",
        f":1:{worker_browser.name}",
    ):
        with worker_browser.client.session_transaction() as session:
            session["_user_id"] = forged_id
        assert not is_signed_in(worker_browser), forged_id


@pytest.mark.guard("session-of-its-person")
def test_session_secret_is_refused_under_other_name(
    accounts: Accounts, worker_browser: Browser, sign_in_as: Callable[[str], Browser]
) -> None:
    """The secret of a session is checked together with the name."""
    other = sign_in_as("admin")
    with worker_browser.client.session_transaction() as session:
        secret, version, _ = session["_user_id"].split(":", 2)
    assert accounts.sessions.person(f"{secret}:{version}:{worker_browser.name}")
    assert accounts.sessions.person(f"{secret}:{version}:{other.name}") is None


def test_session_expires_two_weeks_after_last_use(
    server: Any, worker_browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last use is recorded once an hour."""
    with worker_browser.client.session_transaction() as session:
        key = model.session_key(digest(session["_user_id"].partition(":")[0]))
    server.redis.expire(key, 100)
    assert is_signed_in(worker_browser)
    assert server.redis.ttl(key) <= 100
    monkeypatch.setattr("leaseq.webapp.store.accounts.sessions.SEEN_SECONDS", 0)
    assert is_signed_in(worker_browser)
    assert SESSION_SECONDS - 60 < server.redis.ttl(key) <= SESSION_SECONDS


def test_the_cookie_is_sent_again_once_an_hour(worker_browser: Browser) -> None:
    """Otherwise it would expire while in use; signing it for each response would be expensive."""
    worker_browser.get("/account")
    assert "Set-Cookie" not in worker_browser.get("/account").headers
    with worker_browser.client.session_transaction() as session:
        session["sent_at"] -= 3_600
    assert "Set-Cookie" in worker_browser.get("/account").headers
    assert "Set-Cookie" not in worker_browser.get("/account").headers


def test_verified_cookie_is_refused_when_its_lifetime_is_over(app: Flask, worker_browser: Browser) -> None:
    """A signature is verified once, and its age is compared at each request."""
    assert is_signed_in(worker_browser)
    lifetime, app.permanent_session_lifetime = app.permanent_session_lifetime, timedelta(seconds=-1)
    try:
        assert not is_signed_in(worker_browser)
    finally:
        app.permanent_session_lifetime = lifetime
    assert is_signed_in(worker_browser)
