"""One item in two tabs: one of them works."""

from __future__ import annotations

from playwright.sync_api import Page, expect

import leaseq
from tests.browser.conftest import judge
from tests.browser.working import TRIAGE, begin, filled, result_of, shows

ELSEWHERE = "This item is open in another tab, too."


def test_the_second_tab_says_so_and_takes_over_what_was_typed(
    tab: Page, person: str, queue: leaseq.Queue
) -> None:
    filled(queue, TRIAGE)
    begin(tab, person, queue)
    second = tab.context.new_page()
    second.goto(f"/q/{queue.name}")
    expect(second.get_by_text(ELSEWHERE)).to_be_visible()
    expect(tab.get_by_text(ELSEWHERE)).to_be_hidden()
    judge(second)
    second.keyboard.press("1")
    tab.get_by_label("Note").fill("typed in the first")
    tab.keyboard.press("Escape")
    tab.keyboard.press("2")
    second.get_by_role("button", name="Work here instead").click()
    expect(second.get_by_label("Note")).to_have_value("typed in the first")
    expect(second.get_by_role("radio", name="refund")).to_be_checked()
    expect(second.get_by_text(ELSEWHERE)).to_be_hidden()
    expect(tab.get_by_text(ELSEWHERE)).to_be_visible()
    second.keyboard.press("q")
    second.keyboard.press("Control+Enter")
    shows(second, "message 2")
    assert result_of(queue, "m1") == {"about": "refund", "urgent": "today", "note": "typed in the first"}
    expect(tab.locator("#item")).to_contain_text("message 2")
    expect(tab.get_by_text(ELSEWHERE)).to_be_visible()
    second.get_by_label("Note").fill("and more")
    second.close()
    expect(tab.get_by_text(ELSEWHERE)).to_be_hidden()
    expect(tab.get_by_label("Note")).to_have_value("and more")
