"""A session ends while a form is filled in: the person signs in on the same page and continues."""

from __future__ import annotations

from playwright.sync_api import Page, expect

import leaseq
from leaseq.webapp.store.accounts import Accounts
from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import PASSWORD
from tests.browser.work_page import TRIAGE, begin, expect_item, fill_queue, result_of
from tests.support.waiting import eventually


def test_answer_is_sent_after_signing_in_again_on_same_page(
    tab: Page, person: str, queue: leaseq.Queue, accounts: Accounts
) -> None:
    fill_queue(queue, TRIAGE)
    begin(tab, person, queue)
    accounts.end_sessions(person, by="test")
    tab.keyboard.press("1")
    tab.keyboard.press("q")
    tab.get_by_label("Note").fill("not lost")
    tab.keyboard.press("Control+Enter")
    dialog = tab.get_by_role("dialog", name="You are signed out")
    expect(dialog.get_by_label("Password")).to_be_focused()
    check_accessibility(tab)
    dialog.get_by_label("Password").fill("another one")
    tab.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_have_text("The name or the password is wrong.")
    dialog.get_by_role("button", name="Not now").click()
    expect(tab.get_by_label("Note")).to_have_value("not lost")
    tab.keyboard.press("Control+Enter")
    dialog.get_by_label("Password").fill(PASSWORD)
    tab.keyboard.press("Enter")
    expect_item(tab, "message 2")
    expect(dialog).to_be_hidden()
    assert result_of(queue, "m1") == {"about": "delivery", "urgent": "today", "note": "not lost"}


def test_answer_is_not_sent_as_another_person_who_signed_in(
    tab: Page, person: str, queue: leaseq.Queue, accounts: Accounts
) -> None:
    fill_queue(queue, TRIAGE)
    begin(tab, person, queue)
    tab.keyboard.press("1")
    tab.keyboard.press("q")
    other_person = accounts.add(f"bob of {queue.name}", by="test", password=PASSWORD).name
    second_tab = tab.context.new_page()
    second_tab.goto("/account")
    second_tab.context.clear_cookies()
    second_tab.goto("/login")
    second_tab.get_by_label("Name").fill(other_person)
    second_tab.get_by_label("Password").fill(PASSWORD)
    second_tab.keyboard.press("Enter")
    second_tab.wait_for_url(lambda url: "/login" not in url)  # home, or their only queue
    tab.keyboard.press("Control+Enter")
    dialog = tab.get_by_role("dialog", name="You are signed out")
    expect(dialog).to_be_visible()
    assert queue.get("m1").answers == ()
    assert queue.get("m1").late_answers == ()


def test_disabled_person_is_told_so_and_keeps_what_they_typed(
    tab: Page, person: str, queue: leaseq.Queue, accounts: Accounts
) -> None:
    """Signing in again would not help, so they are not asked to."""
    fill_queue(queue, TRIAGE)
    begin(tab, person, queue)
    tab.keyboard.press("1")
    tab.keyboard.press("q")
    tab.get_by_label("Note").fill("not lost")
    accounts.change(person, by="test", disabled=True)
    tab.keyboard.press("Control+Enter")
    expect(tab.locator("#submit-error")).to_contain_text("Your account is disabled.")
    expect(tab.get_by_role("dialog", name="You are signed out")).to_be_hidden()
    expect(tab.get_by_label("Note")).to_have_value("not lost")
    assert queue.get("m1").answers == ()
    accounts.change(person, by="test", disabled=False)
    tab.keyboard.press("Control+Enter")
    dialog = tab.get_by_role("dialog", name="You are signed out")
    dialog.get_by_label("Password").fill(PASSWORD)
    tab.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    eventually(lambda: queue.get("m1").late_answers)
    assert queue.get("m1").late_answers[0].result["note"] == "not lost"
