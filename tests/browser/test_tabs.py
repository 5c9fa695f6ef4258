"""One item in two tabs: only one tab is active."""

from __future__ import annotations

from playwright.sync_api import Page, expect

import leaseq
from tests.browser.accessibility import check_accessibility
from tests.browser.work_page import TRIAGE, begin, expect_item, fill_queue, result_of

OTHER_TAB_NOTE = "This item is open in another tab, too."


def test_second_tab_of_item_warns_and_takes_over_typed_text(
    tab: Page, person: str, queue: leaseq.Queue
) -> None:
    fill_queue(queue, TRIAGE)
    begin(tab, person, queue)
    second_tab = tab.context.new_page()
    second_tab.goto(f"/q/{queue.name}")
    expect(second_tab.get_by_text(OTHER_TAB_NOTE)).to_be_visible()
    expect(tab.get_by_text(OTHER_TAB_NOTE)).to_be_hidden()
    check_accessibility(second_tab)
    second_tab.keyboard.press("1")
    tab.get_by_label("Note").fill("typed in the first")
    tab.keyboard.press("Escape")
    tab.keyboard.press("2")
    second_tab.get_by_role("button", name="Work here instead").click()
    expect(second_tab.get_by_label("Note")).to_have_value("typed in the first")
    expect(second_tab.get_by_role("radio", name="refund")).to_be_checked()
    expect(second_tab.get_by_text(OTHER_TAB_NOTE)).to_be_hidden()
    expect(tab.get_by_text(OTHER_TAB_NOTE)).to_be_visible()
    second_tab.keyboard.press("q")
    second_tab.keyboard.press("Control+Enter")
    expect_item(second_tab, "message 2")
    assert result_of(queue, "m1") == {"about": "refund", "urgent": "today", "note": "typed in the first"}
    expect(tab.locator("#item")).to_contain_text("message 2")
    expect(tab.get_by_text(OTHER_TAB_NOTE)).to_be_visible()
    second_tab.get_by_label("Note").fill("and more")
    second_tab.close()
    expect(tab.get_by_text(OTHER_TAB_NOTE)).to_be_hidden()
    expect(tab.get_by_label("Note")).to_have_value("and more")
