"""Sign-ins in the audit log, and the notices that a person gets at the next sign-in."""

from __future__ import annotations

import json
import re
import secrets
import time
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

import pyotp
import pytest
from flask import Flask

from leaseq.webapp.store.accounts import Accounts, log, model, sessions
from leaseq.webapp.store.accounts.log import LogEntry
from leaseq.webapp.store.accounts.sessions import PER_ADDRESS, PER_NAME
from tests.web.auth.oidc_provider import Provider, sign_in
from tests.web.conftest import PASSWORD, Browser
from tests.web.elements import text_of


@pytest.fixture(autouse=True)
def own_log(server: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """The test's own streams, because other tests write into the log of the shared server."""
    mark = secrets.token_hex(4)
    streams = {one: f"{getattr(model, one)}:{mark}" for one in ("LOG", "SIGN_INS")}
    for one, stream in streams.items():
        monkeypatch.setattr(model, one, stream)
    yield streams
    server.redis.delete(*streams.values())


def logged_sign_ins(accounts: Accounts, name: str) -> list[LogEntry]:
    """The sign-ins of a name in the log, the oldest first."""
    actions = {"sign-in.done", "sign-in.failed", "sign-in.limited"}
    entries = [one for one in accounts.log.page(person=name).entries if one.what in actions]
    return entries[::-1]


def notice(browser: Browser, language: str = "en") -> str:
    """The one notice at the top of the page."""
    page = browser.get("/account", headers={"Accept-Language": language}).text
    match = re.search(r'class="flashes">(.*?)</div>', page, re.DOTALL)
    assert match
    return match[1]


def turn_on(accounts: Accounts, name: str) -> pyotp.TOTP:
    """Turn two-factor sign-in on, with a code of 30 seconds ago."""
    totp = pyotp.TOTP(accounts.factors.offer(name))
    accounts.turn_on_factor(name, totp.at(time.time() - 30))
    return totp


@pytest.mark.guard("failed-in-log", "limited-in-log")
def test_successful_failed_and_limited_sign_ins_are_logged(
    app: Flask, accounts: Accounts, worker_browser: Browser, sign_in_as: Callable[[str], Browser]
) -> None:
    options: dict[str, Any] = {"environ_overrides": {"REMOTE_ADDR": "192.0.2.31"}}
    stranger = Browser(app, worker_browser.name)
    fields = {"name": worker_browser.name, "password": "not that one"}
    for _ in range(PER_NAME + 3):
        stranger.post("/login", fields, page="/login", **options)
    entries = logged_sign_ins(accounts, worker_browser.name)
    assert [one.what for one in entries] == [
        "sign-in.done",
        *["sign-in.failed"] * PER_NAME,
        "sign-in.limited",  # once, however many attempts follow
    ]
    assert (entries[0].by, entries[0].detail) == (worker_browser.name, "method: password, address: 127.0.0.1")
    assert {(one.by, one.about, one.detail) for one in entries[1:]} == {
        ("", worker_browser.name, "method: password, address: 192.0.2.31")
    }
    page = text_of(sign_in_as("admin").get(f"/audit-log?person={worker_browser.name}&kind=sign-in").text)
    for text in (
        "signed in",
        f"A sign-in as {worker_browser.name} failed",
        "was refused after too many attempts",
    ):
        assert text in page


def sign_in_with_code(app: Flask, accounts: Accounts, name: str) -> Browser:
    """Sign in with the second factor; the second code tried is right."""
    totp = turn_on(accounts, name)
    browser = Browser(app, name)
    browser.sign_in()
    for code in ("000000", totp.now()):
        browser.post("/login/code", {"code": code}, page="/login/code")
    return browser


def test_sign_ins_by_code_and_provider_are_logged(
    app: Flask,
    accounts: Accounts,
    worker_browser: Browser,
    make_app: Callable[..., Flask],
    provider: Provider,
) -> None:
    sign_in_with_code(app, accounts, worker_browser.name)
    name = accounts.add(provider.claims["preferred_username"], by="test").name
    sign_in(make_app())
    provider.claims["sub"] = "another person"
    sign_in(make_app())
    assert [(one.what, one.values["method"]) for one in logged_sign_ins(accounts, name)] == [
        ("sign-in.done", "identity provider"),
        ("sign-in.failed", "identity provider"),
    ]
    entries = logged_sign_ins(accounts, worker_browser.name)
    assert [(one.what, one.values["method"]) for one in entries][1:] == [
        ("sign-in.failed", "code"),
        ("sign-in.done", "password, code"),
    ]


@pytest.mark.guard("failed-name-shortened", "limited-name-shortened")
def test_password_typed_as_name_is_not_stored(
    server: Any, app: Flask, accounts: Accounts, own_log: dict[str, str]
) -> None:
    password = "my secret horse battery"
    options: dict[str, Any] = {"environ_overrides": {"REMOTE_ADDR": "192.0.2.32"}}
    stranger = Browser(app, "")
    for _ in range(PER_NAME + 1):
        stranger.post("/login", {"name": password, "password": "x"}, page="/login", **options)
    fields = {"name": "\r\u202e" + password, "password": "x"}
    stranger.post("/login", fields, page="/login", **options)
    subjects = [one.about for one in accounts.log.page(kind="sign-in").entries]
    assert "my… (no account)" in subjects
    assert {"sign-in.failed", "sign-in.limited"} <= {
        one.what for one in accounts.log.page(kind="sign-in").entries if one.about == "my… (no account)"
    }
    stored_entries = repr([server.redis.xrange(stream) for stream in own_log.values()])
    assert "secret horse" not in stored_entries
    assert "\u202e" not in "".join(subjects)


@pytest.mark.guard("sign-ins-apart")
def test_failed_sign_ins_do_not_evict_log_of_changes(
    accounts: Accounts, new_name: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "LOG_LENGTH", 200)
    name = accounts.add(new_name("known"), by="test").name
    for _ in range(600):
        accounts.log.write("", "sign-in.failed", name, "password, 192.0.2.33")
    actions = [one.what for one in accounts.log.page(person=name, limit=1_000).entries]
    assert actions[-1] == "person.added"
    assert len(actions) < 600


def test_log_pages_skip_and_repeat_nothing(
    server: Any, accounts: Accounts, own_log: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both streams may have an entry with the same millisecond."""
    monkeypatch.setattr(log, "_BATCH", 3)
    for number in range(12):
        entry = {"by": "ann", "about": "", "detail": json.dumps({"text": str(number)})}
        for stream, what in (("LOG", "queue.set"), ("SIGN_INS", "sign-in.done")):
            id = f"{1_800_000_000_000 + number // 2}-{number % 2}"
            server.redis.xadd(own_log[stream], {**entry, "what": what}, id=id)
    entries: list[tuple[str, str]] = []
    after = None
    while len(entries) < 24:
        page = accounts.log.page(limit=5, after=after)
        entries += [(one.detail, one.what) for one in page.entries]
        after = page.after
        if after is None:
            break
    assert after is None
    assert entries == [(str(n), what) for n in reversed(range(12)) for what in ("sign-in.done", "queue.set")]


@pytest.mark.guard("told-at-sign-in")
def test_notice_of_events_since_last_sign_in_is_shown_once(
    app: Flask, accounts: Accounts, worker_browser: Browser
) -> None:
    thief = Browser(app, worker_browser.name)
    for _ in range(3):
        thief.sign_in("not that one")
    accounts.create_token(worker_browser.name, "deploy", by="somebody", scope="read")
    assert worker_browser.sign_in().status_code == 303
    news = notice(worker_browser)
    assert "3 sign-ins with your name failed since you last signed in" in news
    assert "somebody created an API token that acts as you (deploy, read)" in news
    worker_browser.sign_in()
    assert "failed" not in notice(worker_browser)
    worker_browser.sign_in("not that one")
    worker_browser.sign_in()
    assert "1 sign-in with your name failed" in notice(worker_browser)


def test_long_token_names_do_not_suppress_notices(app: Flask, accounts: Accounts) -> None:
    """A token can create others with any names; the notice about all of them fits into the cookie."""
    name = accounts.add("李" * 50 + secrets.token_hex(4), by="test", password=PASSWORD).name
    for _ in range(10):
        accounts.create_token(
            name, "".join(chr(0x4E00 + secrets.randbelow(20_000)) for _ in range(100)), by=name
        )
    browser = Browser(app, name)
    response = browser.sign_in()
    assert response.status_code == 303
    assert all(len(one) < 4_093 for one in response.headers.getlist("Set-Cookie"))
    assert notice(browser).count("created an API token that acts as you") == 10


def test_notice_is_in_language_of_page(accounts: Accounts, worker_browser: Browser) -> None:
    """The language may have been changed since they signed in."""
    worker_browser.sign_in("not that one")
    accounts.create_token(worker_browser.name, "deploy", by="somebody", scope="read")
    worker_browser.sign_in()
    news = notice(worker_browser, "de")
    assert "1 Anmeldung unter Ihrem Namen ist seit Ihrer letzten Anmeldung gescheitert" in news
    assert "somebody hat ein API-Token erstellt" in news


def test_notice_reports_failed_sign_in_by_decomposed_name(
    app: Flask, accounts: Accounts, new_name: Callable[[str], str]
) -> None:
    """An é typed as two characters opens the same account."""
    name = accounts.add(new_name("Jos\u00e9"), by="test", password=PASSWORD).name
    Browser(app, unicodedata.normalize("NFD", name)).sign_in("not that one")
    owner = Browser(app, name)
    owner.sign_in()
    assert "1 sign-in with your name failed" in notice(owner)
    assert [one.what for one in logged_sign_ins(accounts, name)] == ["sign-in.failed", "sign-in.done"]


def test_notice_reports_new_second_factor(app: Flask, accounts: Accounts, worker_browser: Browser) -> None:
    browser = sign_in_with_code(app, accounts, worker_browser.name)
    news = notice(browser)
    assert f"{worker_browser.name} turned on your two-factor sign-in" in news
    assert "1 sign-in with your name failed" in news


def test_notice_reports_password_changed_in_session(app: Flask, worker_browser: Browser) -> None:
    """The person who changed it may not be its owner."""
    new_password = "another long one"
    worker_browser.post(
        "/account/password", {"password": PASSWORD, "new_password": new_password, "again": new_password}
    )
    assert "set your password" not in notice(worker_browser)
    browser = Browser(app, worker_browser.name)
    browser.sign_in(new_password)
    assert f"{worker_browser.name} set your password" in notice(browser)


def test_stored_notices_and_failures_are_bounded(
    server: Any, accounts: Accounts, new_name: Callable[[str], str]
) -> None:
    bot = accounts.add(new_name("bot"), by="test").name
    for number in range(sessions.MAX_NOTICES + 5):
        accounts.set_password(bot, f"another long one {number}", by="test")
    assert server.redis.llen(f"leaseq:{{@accounts}}:news:{bot}") == sessions.MAX_NOTICES
    for number in range(PER_ADDRESS):
        accounts.sign_ins.log_failure(f"nobody {number}", "password", "192.0.2.34")
    assert not any(name.startswith(b"nobody") for name in server.redis.hkeys("leaseq:{@accounts}:failed"))
