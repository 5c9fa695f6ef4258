"""The pages of people and accounts in a real browser: they work by keyboard, and axe finds nothing."""

from __future__ import annotations

import re
import time
from typing import Any

import pyotp
import pytest
from playwright.sync_api import Page, expect

import leaseq
from tests.browser.conftest import PASSWORD, judge, sign_in
from webapp.accounts import Accounts
from webapp.days import Days


@pytest.fixture
def admin(accounts: Accounts, queue_name: str) -> str:
    return accounts.add(f"meg of {queue_name}", by="test", role="admin", password=PASSWORD).name


def judge_all(tab: Page) -> None:
    """In both schemes, narrow and wide."""
    for scheme, width in (("dark", 320), ("light", 1280)):
        tab.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        tab.set_viewport_size({"width": width, "height": 800})
        judge(tab)


def test_people_from_invitation_to_being_disabled(
    server: Any, queue: leaseq.Queue, admin: str, person: str, tab: Page
) -> None:
    queue.enqueue({"text": "hello"})
    queue.reserve(person)
    days = Days(server.client)
    for number in range(4):
        days.record(person, queue.name, "finished", id=f"i{number}", token=number, active_ms=41_000)
    sign_in(tab, admin)
    tab.goto("/people")
    judge_all(tab)
    tab.get_by_label("Role", exact=True).nth(1).select_option("manager")
    tab.get_by_role("button", name="Make a link").press("Enter")
    tab.get_by_role("heading", name="The invitation").wait_for()
    assert "/welcome?token=" in tab.locator(".secret").inner_text()
    judge(tab)
    tab.get_by_role("searchbox", name="Name or skill").fill(person)
    tab.keyboard.press("Enter")
    tab.get_by_role("link", name=person).click()
    judge_all(tab)
    tab.get_by_text("Day by day").click()
    tab.get_by_text(f"Make a token for {person}").click()
    tab.get_by_text(f"Disable {person}").click()
    judge_all(tab)
    tab.get_by_role("button", name="Disable", exact=True).click()
    tab.get_by_text("The 1 item that they held waits for others.").wait_for()
    assert queue.mine(person) == []
    tab.get_by_role("link", name="What was changed").click()
    tab.get_by_role("cell", name="disabled a person").wait_for()
    judge_all(tab)


def test_joining_by_an_invitation(accounts: Accounts, queue_name: str, tab: Page) -> None:
    tab.goto(f"/welcome?token={accounts.invite(by='meg', role='worker')}")
    expect(tab.get_by_label("Your name")).to_be_focused()
    judge_all(tab)
    tab.get_by_label("Your name").fill(f"new of {queue_name}")
    tab.get_by_label("New password").fill(PASSWORD)
    tab.get_by_label("The same again").fill(PASSWORD)
    tab.keyboard.press("Enter")
    tab.locator("#me").wait_for()
    assert accounts.get(f"new of {queue_name}").role == "worker"


def test_the_second_step_from_turning_it_on_to_signing_in_by_it(person: str, tab: Page) -> None:
    sign_in(tab, person)
    tab.goto("/account")
    judge_all(tab)
    tab.locator("#factor_password").fill(PASSWORD)
    tab.keyboard.press("Enter")
    secret = tab.locator(".secret").inner_text().replace(" ", "")
    assert re.fullmatch("[A-Z2-7]{32}", secret)
    tab.get_by_role("img", name="QR code").wait_for()
    judge_all(tab)
    totp = pyotp.TOTP(secret)
    tab.get_by_label("The six digits").fill(totp.now())  # good for half a minute more
    tab.keyboard.press("Enter")
    tab.get_by_role("heading", name="Your recovery codes").wait_for()
    assert tab.locator(".recovery li").count() == 10
    judge_all(tab)
    tab.get_by_role("link", name="I have kept them").click()
    tab.context.clear_cookies()
    tab.goto("/login?next=/account")
    judge_all(tab)
    tab.get_by_label("Name").fill(person)
    tab.get_by_label("Password").fill(PASSWORD)
    tab.keyboard.press("Enter")
    tab.get_by_role("heading", name="Your code").wait_for()
    judge_all(tab)
    tab.keyboard.type(totp.at(int(time.time()) + 30))
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/account")
