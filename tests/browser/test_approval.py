"""Approving what a program is about to do: a key that was meant for the item before does nothing."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

import leaseq
from leaseq.form import approval
from tests.browser.work_page import YES_NO, begin, expect_item, fill_queue, result_of

ARGUMENTS = {"amount": 80}


def test_key_of_the_item_before_approves_nothing(tab: Page, person: str, queue: leaseq.Queue) -> None:
    fill_queue(queue, YES_NO, items=1)
    with pytest.raises(leaseq.StillWaiting):
        queue.ask(
            {"action": "refund", "arguments": ARGUMENTS}, id="q", form=approval("refund", ARGUMENTS), wait=0
        )
    begin(tab, person, queue)
    # The key that finishes the first item is pressed again as soon as the question is there.
    tab.evaluate(
        """() => new MutationObserver((_, watch) => {
          const item = document.getElementById("item");
          if (!item.textContent.includes("refund")) return;
          watch.disconnect();
          item.dispatchEvent(new KeyboardEvent("keydown", { key: "1", code: "Digit1", bubbles: true }));
          window.wasEarly = true;
        }).observe(document.querySelector("main"), { childList: true })"""
    )
    tab.keyboard.press("1")
    expect_item(tab, "refund")
    assert tab.evaluate("window.wasEarly")
    expect(tab.locator("#key-refused")).not_to_be_empty()
    choice = tab.locator("[name='answer.decision'][value=approve]")
    expect(choice).not_to_be_checked()
    expect(tab.locator("[name='answer.reason']")).to_be_hidden()
    expect(tab.locator("fieldset.group")).to_be_hidden()  # a heading without a question
    tab.keyboard.press("3")  # early or not: once half a second is over, it selects
    while not tab.locator("[name='answer.decision'][value=reject]").is_checked():
        tab.keyboard.press("3")
    expect(tab.locator("[name='answer.reason']")).to_be_visible()
    tab.keyboard.press("2")
    expect(tab.locator("fieldset.group")).to_be_visible()
    tab.keyboard.press("3")
    tab.locator("[name='answer.reason']").fill("Not before Monday")
    tab.keyboard.press("Control+Enter")
    expect(tab.locator("#item-view")).to_have_count(0)
    assert result_of(queue, "q") == {"decision": "reject", "reason": "Not before Monday"}
