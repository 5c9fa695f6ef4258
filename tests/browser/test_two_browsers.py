"""One item in two browsers: the form shows the last saved draft, and offers the other text."""

from __future__ import annotations

from playwright.sync_api import Browser, Page, expect

import leaseq
from tests.browser.accessibility import check_accessibility
from tests.browser.sessions import sign_in
from tests.browser.work_page import TRIAGE, begin, expect_item, fill_queue


def write(tab: Page, text: str) -> None:
    tab.get_by_label("Note").fill(text)
    expect(tab.get_by_text("Draft saved")).to_be_visible()


def test_draft_overwritten_by_another_browser_is_offered_for_restore(
    tab: Page, person: str, queue: leaseq.Queue, chromium: Browser, address: str
) -> None:
    fill_queue(queue, TRIAGE)
    begin(tab, person, queue)
    write(tab, "typed on the laptop")
    with chromium.new_context(base_url=address) as other_context:
        phone = other_context.new_page()
        sign_in(phone, person)
        phone.goto(f"/q/{queue.name}")
        expect_item(phone, "message 1")
        expect(phone.get_by_label("Note")).to_have_value("typed on the laptop")
        expect(phone.locator("#local-copy")).to_be_hidden()
        write(phone, "typed on the phone")
    tab.reload()
    expect_item(tab, "message 1")
    expect(tab.get_by_label("Note")).to_have_value("typed on the phone")
    expect(tab.get_by_text("Another window has saved this version since.")).to_be_visible()
    check_accessibility(tab)
    tab.get_by_role("button", name="Use it").click()
    expect(tab.get_by_label("Note")).to_have_value("typed on the laptop")
    expect(tab.get_by_text("Draft saved")).to_be_visible()
    assert queue.mine(person)[0].draft == {"note": "typed on the laptop"}
    tab.reload()
    expect_item(tab, "message 1")
    expect(tab.get_by_label("Note")).to_have_value("typed on the laptop")
    tab.get_by_role("button", name="Use it").click()
    expect(tab.get_by_label("Note")).to_have_value("typed on the phone")
