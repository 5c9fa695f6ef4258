"""The second factor: required, each code valid once, attempts limited, and impossible to bypass."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable
from typing import Any

import pyotp
import pytest
from flask import Flask

from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.accounts.factors import Factors
from leaseq.webapp.store.accounts.sessions import CODES_ANYWHERE, CODES_HERE
from tests.support.leases import not_none
from tests.support.refused import refused
from tests.web.conftest import PASSWORD, Browser

NOW = 1_800_000_015


@pytest.fixture(autouse=True)
def fixed_time(accounts: Accounts, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the clock, so that no half-minute ends while a test runs."""
    monkeypatch.setattr(accounts.factors, "_clock", lambda: float(NOW))


class Device:
    """A person's phone, which shows a different code at each call."""

    def __init__(self, secret: str) -> None:
        self.totp = pyotp.TOTP(secret)
        self.steps = iter((-30, 0, 30))

    def code(self) -> str:
        return self.totp.at(NOW + next(self.steps))


def turn_on_factor(browser: Browser) -> tuple[Device, list[str]]:
    browser.post("/account/factor/begin", {"password": PASSWORD})
    page = browser.get("/account/factor").text
    assert "<svg " in page
    device = Device(not_none(re.search(r'secret">([A-Z2-7 ]+)<', page))[1].replace(" ", ""))
    response = browser.post("/account/factor", {"code": device.code()}, page="/account/factor")
    assert response.status_code == 200
    return device, re.findall(r"<code>([a-z2-7-]+)</code>", response.text)


def browser_before_code(app: Flask, name: str, **fields: str) -> Browser:
    """The browser of a person who has given name and password, and is asked for the code."""
    browser = Browser(app, name)
    assert browser.sign_in(**fields).location == "/login/code"
    return browser


def enter_code(browser: Browser, code: str) -> Any:
    return browser.post("/login/code", {"code": code}, page="/login/code")


@pytest.mark.guard("factor-asked")
def test_sign_in_requires_code_and_redirects_to_next(app: Flask, worker_browser: Browser) -> None:
    device, _ = turn_on_factor(worker_browser)
    assert worker_browser.get("/account").status_code == 200, "the browser that turned it on stays signed in"
    browser = browser_before_code(app, worker_browser.name, next="/q/reviews")
    assert browser.get("/account").status_code == 303, "the password alone opens nothing"
    assert enter_code(browser, "000 000").status_code == 401
    assert enter_code(browser, device.code()).location == "/q/reviews"
    response = browser.get("/account")
    assert (response.status_code, "You have 10 recovery codes left" in response.text) == (200, False)


@pytest.mark.guard("next-after-factor")
def test_sign_in_by_code_ignores_foreign_next_url(app: Flask, worker_browser: Browser) -> None:
    device, _ = turn_on_factor(worker_browser)
    assert (
        enter_code(
            browser_before_code(app, worker_browser.name, next="https://evil.example/"), device.code()
        ).location
        == "/"
    )


def test_too_long_next_path_redirects_home(app: Flask, worker_browser: Browser) -> None:
    """A browser would drop the cookie, and with it the state of the sign-in."""
    device, _ = turn_on_factor(worker_browser)
    long_path = f"/manage/reviews/items?find={secrets.token_hex(4_000)}"
    assert (
        enter_code(browser_before_code(app, worker_browser.name, next=long_path), device.code()).location
        == "/"
    )


@pytest.mark.guard("code-once")
def test_two_factor_code_is_accepted_once(app: Flask, worker_browser: Browser) -> None:
    device, _ = turn_on_factor(worker_browser)
    code = device.code()
    assert enter_code(browser_before_code(app, worker_browser.name), code).status_code == 303
    assert enter_code(browser_before_code(app, worker_browser.name), code).status_code == 401
    assert enter_code(browser_before_code(app, worker_browser.name), device.code()).status_code == 303


def test_confirmation_code_does_not_sign_in(server: Any, new_name: Callable[[str], str]) -> None:
    factors, name = Factors(server.client, clock=lambda: 1_800_000_000.0), new_name("p")
    code = pyotp.TOTP(factors.offer(name)).at(1_800_000_000)
    assert len(factors.confirm(name, code)) == 10
    assert not factors.accepts(name, code)


@pytest.mark.parametrize(
    ("seconds", "is_accepted"), [(-60, False), (-30, True), (0, True), (30, True), (60, False)]
)
@pytest.mark.guard("code-drift")
def test_code_of_clock_off_by_30_seconds_is_accepted(
    server: Any, new_name: Callable[[str], str], seconds: int, is_accepted: bool
) -> None:
    now = [1_800_000_000.0]
    factors, name = Factors(server.client, clock=lambda: now[0]), new_name("p")
    totp = pyotp.TOTP(factors.offer(name))
    factors.confirm(name, totp.at(int(now[0])))
    now[0] += 600
    assert factors.accepts(name, totp.at(int(now[0]) + seconds)) is is_accepted


@pytest.mark.guard("recovery-hashed", "recovery-once")
def test_recovery_code_is_accepted_once_and_stored_hashed(
    server: Any, app: Flask, worker_browser: Browser
) -> None:
    _, codes = turn_on_factor(worker_browser)
    assert len(set(codes)) == 10
    stored_hashes = b" ".join(server.redis.hkeys(f"leaseq:{{@accounts}}:recovery:{worker_browser.name}"))
    assert not any(
        code.replace("-", "").encode() in stored_hashes or code.encode() in stored_hashes for code in codes
    )
    retyped_code = codes[3].upper().replace("-", " ")
    assert enter_code(browser_before_code(app, worker_browser.name), retyped_code).status_code == 303
    assert enter_code(browser_before_code(app, worker_browser.name), codes[3]).status_code == 401
    browser = browser_before_code(app, worker_browser.name)
    assert enter_code(browser, codes[4]).status_code == 303
    assert "You have 8 recovery codes left" in browser.get("/account").text


def try_code(browser: Browser, code: str, address: str) -> tuple[int, int]:
    """Return the answer's status, and for how many seconds it says to wait."""
    data, environ = {"csrf_token": browser.csrf("/login/code"), "code": code}, {"REMOTE_ADDR": address}
    response = browser.client.post("/login/code", data=data, environ_overrides=environ)
    return response.status_code, int(response.headers.get("Retry-After", 0))


@pytest.mark.guard("code-slow")
def test_wrong_codes_from_same_address_are_rate_limited(
    app: Flask, accounts: Accounts, worker_browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each wait is twice the previous wait, up to 15 minutes; other addresses are not delayed."""
    device, codes = turn_on_factor(worker_browser)
    browser, now = browser_before_code(app, worker_browser.name), [float(NOW)]
    monkeypatch.setattr(accounts.attempts, "_clock", lambda: now[0])
    for _ in range(CODES_HERE):
        assert try_code(browser, "000000", "192.0.2.1") == (401, 0)
    waits: list[int] = []
    for _ in range(9):
        status, wait = try_code(browser, device.code() if not waits else "000000", "192.0.2.1")
        assert status == 429, "the right code must wait as well"
        waits.append(wait)
        now[0] += wait
        assert try_code(browser, "000000", "192.0.2.1") == (401, 0)
    assert waits == [10, 20, 40, 80, 160, 320, 640, 900, 900]
    assert try_code(browser, codes[0], "192.0.2.2")[0] == 303
    second_browser = browser_before_code(app, worker_browser.name)
    assert (
        try_code(second_browser, "000000", "192.0.2.2")
        == try_code(second_browser, "000000", "192.0.2.2")
        == (401, 0)
    )


@pytest.mark.guard("code-slow-anywhere")
def test_wrong_codes_from_many_addresses_are_rate_limited(
    app: Flask, accounts: Accounts, worker_browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, codes = turn_on_factor(worker_browser)
    monkeypatch.setattr(accounts.attempts, "_clock", lambda: float(NOW))
    browser = browser_before_code(app, worker_browser.name)
    results = [try_code(browser, "000000", f"192.0.2.{n}") for n in range(CODES_ANYWHERE + 1)]
    assert results == [(401, 0)] * CODES_ANYWHERE + [(429, 10)]
    assert try_code(browser, codes[0], "192.0.2.99") == (429, 10), "a right code must wait as well"


def test_code_without_password_is_refused(app: Flask, worker_browser: Browser) -> None:
    device, _ = turn_on_factor(worker_browser)
    stranger = Browser(app, worker_browser.name)
    token = stranger.csrf()
    response = stranger.client.post("/login/code", data={"csrf_token": token, "code": device.code()})
    assert response.location == "/login"
    assert stranger.get("/account").status_code == 303


@pytest.mark.guard("half-way-time", "half-way-version")
def test_pending_sign_in_expires_and_ends_at_password_change(
    app: Flask, accounts: Accounts, worker_browser: Browser
) -> None:
    turn_on_factor(worker_browser)
    browser, late_browser = (
        browser_before_code(app, worker_browser.name),
        browser_before_code(app, worker_browser.name),
    )
    with late_browser.client.session_transaction() as session:
        session["half-way"] = {**session["half-way"], "at": time.time() - 601}
    assert late_browser.get("/login/code").location == "/login"
    accounts.set_password(worker_browser.name, "another long one", by="test")
    assert browser.get("/login/code").location == "/login"


@pytest.mark.guard("factor-after-link")
def test_password_link_does_not_replace_code(app: Flask, accounts: Accounts, worker_browser: Browser) -> None:
    turn_on_factor(worker_browser)
    token = accounts.password_link(worker_browser.name, by="test")
    browser = Browser(app, worker_browser.name)
    fields = {"token": token, "new_password": "another long one", "again": "another long one"}
    assert browser.post("/welcome", fields, page=f"/welcome?token={token}").location == "/login"
    assert browser.get("/account").status_code == 303
    assert browser.sign_in("another long one").location == "/login/code"


@pytest.mark.parametrize("path", ["begin", "off"])
@pytest.mark.guard("factor-needs-password")
def test_turning_factor_on_or_off_requires_password(
    worker_browser: Browser, accounts: Accounts, path: str
) -> None:
    if path == "off":
        turn_on_factor(worker_browser)
    before = accounts.factors.find(worker_browser.name)
    response = worker_browser.post(f"/account/factor/{path}", {"password": "not that one"})
    assert (response.status_code, "not your current password" in response.text) == (400, True)
    assert 'action="/account/factor/' in response.text, "on the page where it was typed"
    assert accounts.factors.find(worker_browser.name) == before
    assert accounts.factors.offered_secret(worker_browser.name) is None


@pytest.mark.guard("factor-confirmed")
def test_unconfirmed_factor_is_not_required(app: Flask, accounts: Accounts, worker_browser: Browser) -> None:
    worker_browser.post("/account/factor/begin", {"password": PASSWORD})
    response = worker_browser.post("/account/factor", {"code": "000000"}, page="/account/factor")
    assert (response.status_code, "not the current code" in response.text) == (400, True)
    assert Browser(app, worker_browser.name).sign_in().location == "/"
    with refused("sign_in", what="late_code"):
        accounts.factors.confirm("nobody at all", "000000")


def test_codes_are_refused_after_factor_is_turned_off(app: Flask, worker_browser: Browser) -> None:
    """A person who is asked for the code signs in again, with only the password."""
    device, codes = turn_on_factor(worker_browser)
    browser = browser_before_code(app, worker_browser.name)
    assert worker_browser.post("/account/factor/off", {"password": PASSWORD}).status_code == 303
    assert [enter_code(browser, code).status_code for code in (device.code(), codes[0])] == [401, 401]
    assert browser.sign_in().location == "/"


@pytest.mark.guard("factor-ends-sessions")
def test_turning_factor_on_ends_other_sessions(app: Flask, worker_browser: Browser) -> None:
    other_browser = Browser(app, worker_browser.name)
    other_browser.sign_in()
    turn_on_factor(worker_browser)
    assert other_browser.get("/account").status_code == 303


def test_factor_is_turned_off_by_owner_or_admin(
    app: Flask, accounts: Accounts, sign_in_as: Callable[[str], Browser]
) -> None:
    one, other, admin_browser = sign_in_as("worker"), sign_in_as("worker"), sign_in_as("admin")
    turn_on_factor(one)
    turn_on_factor(other)
    assert one.post("/account/factor/off", {"password": PASSWORD}).status_code == 303
    assert admin_browser.post(f"/people/{other.name}/factor").status_code == 303
    for browser in (one, other):
        assert Browser(app, browser.name).sign_in().location == "/"
        assert accounts.factors.find(browser.name) is None
    assert other.get("/account").status_code == 303, "its sessions ended"
    latest = accounts.log.page(person=other.name).entries
    assert (admin_browser.name, "sign-in.factor-off") in {(entry.by, entry.what) for entry in latest}
