"""A session that ends while a form is filled: sign in in place, and go on."""

from __future__ import annotations

from playwright.sync_api import Page, expect

import leaseq
from leaseq.webapp.store.accounts import Accounts
from tests.browser.conftest import PASSWORD, judge
from tests.browser.working import TRIAGE, begin, filled, result_of, shows


def test_sign_in_again_in_place_and_the_answer_goes_on(
    tab: Page, person: str, queue: leaseq.Queue, accounts: Accounts
) -> None:
    filled(queue, TRIAGE)
    begin(tab, person, queue)
    accounts.end_sessions(person, by="test")
    tab.keyboard.press("1")
    tab.keyboard.press("q")
    tab.get_by_label("Note").fill("not lost")
    tab.keyboard.press("Control+Enter")
    dialog = tab.get_by_role("dialog", name="You are signed out")
    expect(dialog.get_by_label("Password")).to_be_focused()
    judge(tab)
    dialog.get_by_label("Password").fill("another one")
    tab.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_have_text("The name or the password is wrong.")
    dialog.get_by_role("button", name="Not now").click()
    expect(tab.get_by_label("Note")).to_have_value("not lost")
    tab.keyboard.press("Control+Enter")
    dialog.get_by_label("Password").fill(PASSWORD)
    tab.keyboard.press("Enter")
    shows(tab, "message 2")
    expect(dialog).to_be_hidden()
    assert result_of(queue, "m1") == {"about": "delivery", "urgent": "today", "note": "not lost"}


def test_somebody_else_who_signed_in_does_not_send_it(
    tab: Page, person: str, queue: leaseq.Queue, accounts: Accounts
) -> None:
    filled(queue, TRIAGE)
    begin(tab, person, queue)
    tab.keyboard.press("1")
    tab.keyboard.press("q")
    other = accounts.add(f"bob of {queue.name}", by="test", password=PASSWORD).name
    second = tab.context.new_page()
    second.goto("/account")
    second.context.clear_cookies()
    second.goto("/login")
    second.get_by_label("Name").fill(other)
    second.get_by_label("Password").fill(PASSWORD)
    second.keyboard.press("Enter")
    second.wait_for_url("**/")
    tab.keyboard.press("Control+Enter")
    dialog = tab.get_by_role("dialog", name="You are signed out")
    expect(dialog).to_be_visible()
    assert queue.get("m1").answers == ()
    assert queue.get("m1").late_answers == ()
