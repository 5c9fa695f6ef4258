"""A person's whole session by keyboard only."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

import leaseq
from tests.browser.conftest import PASSWORD
from tests.browser.work_page import TRIAGE, expect_item, fill_queue, result_of


def test_whole_session_works_by_keyboard_only(tab: Page, person: str, queue: leaseq.Queue) -> None:
    fill_queue(queue, TRIAGE, items=6)
    tab.goto(f"/login?next=/q/{queue.name}")
    expect(tab.get_by_label("Name")).to_be_focused()
    tab.keyboard.type(person)
    tab.keyboard.press("Tab")
    tab.keyboard.type(PASSWORD)
    tab.keyboard.press("Enter")
    finish_and_undo(tab, queue)
    keep_working(tab)
    give_back(tab, queue)
    tab_to(tab, tab.locator("#person-menu > summary"), "Shift+Tab")
    tab.keyboard.press("Enter")
    tab_to(tab, tab.get_by_role("button", name="Sign out"), "Tab")
    tab.keyboard.press("Enter")
    expect(tab.get_by_label("Name")).to_be_focused()


def finish_and_undo(tab: Page, queue: leaseq.Queue) -> None:
    take_item(tab, "message 1")
    expect(item_region(tab)).to_be_focused()
    # No focus ring before a key is pressed.
    expect(item_region(tab)).to_have_css("outline-style", "none")
    for key in ("2", "w", "Control+Enter"):
        tab.keyboard.press(key)
    expect_item(tab, "message 2")
    assert result_of(queue, "m1") == {"about": "refund", "urgent": "later"}
    expect(item_region(tab)).to_be_focused()
    tab.keyboard.press("u")
    expect_item(tab, "message 1")
    assert queue.get("m1").state == "reserved"
    tab.keyboard.press("Control+Enter")
    expect_item(tab, "message 2")


def keep_working(tab: Page) -> None:
    """Renew the lease by its key, and return the focus to the item by Escape."""
    with tab.expect_response("**/renew"):
        tab.keyboard.press("k")
    expect(item_region(tab)).to_be_focused()
    tab.keyboard.press("Shift+Tab")
    expect(item_region(tab)).not_to_be_focused()
    tab.keyboard.press("Escape")
    expect(item_region(tab)).to_be_focused()
    expect(item_region(tab)).to_have_css("outline-style", "solid")


def give_back(tab: Page, queue: leaseq.Queue) -> None:
    tab.keyboard.press("l")
    for key, reason, id in (("n", "ask ann", "m3"), ("b", "torn", "m4"), ("g", "needs a lawyer", "m5")):
        expect_item(tab, f"message {id[1:]}")
        tab.keyboard.press(key)
        tab.keyboard.type(reason)
        tab.keyboard.press("Control+Enter")
        expect_item(tab, f"message {int(id[1:]) + 1}")
        assert queue.get(id).history[-1].reason == reason


def take_item(tab: Page, text: str) -> None:
    expect(tab.get_by_role("button", name="Next item")).to_be_focused()
    tab.keyboard.press("Enter")
    expect_item(tab, text)


def item_region(tab: Page) -> Locator:
    return tab.get_by_role("region", name="The item")


def tab_to(tab: Page, locator: Locator, key: str) -> None:
    for _ in range(30):
        if locator.evaluate("one => one === document.activeElement"):
            return
        tab.keyboard.press(key)
    raise AssertionError(f"pressing {key} 30 times does not reach {locator}")
