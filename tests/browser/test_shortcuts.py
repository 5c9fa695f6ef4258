"""Keyboard shortcuts of the work page."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

import leaseq
from leaseq.webapp.store.accounts import Accounts
from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import PASSWORD
from tests.browser.work_page import TRIAGE, YES_NO, begin, expect_item, fill_queue, result_of, sign_out


def test_one_key_answers_yes_no_and_shows_next_item_without_reload(
    tab: Page, person: str, queue: leaseq.Queue
) -> None:
    fill_queue(queue, YES_NO)
    begin(tab, person, queue)
    question = tab.get_by_role("group", name="Is it fine?")
    expect(question).to_have_accessible_description("A key selects and submits. Add a note first.")
    history_length = tab.evaluate("window.same = true, history.length")
    tab.keyboard.press("2")
    expect_item(tab, "message 2")
    assert result_of(queue, "m1") == {"ok": False}
    expect(tab.locator("#announcements")).to_contain_text("Saved.")
    expect(tab.get_by_role("region", name="The item")).to_be_focused()
    expect(tab.get_by_text("1 today")).to_be_visible()
    tab.get_by_label("Note").press_sequentially("1 of 2")  # keys in a text box only type characters
    assert queue.get("m2").state == "reserved"
    tab.keyboard.press("Escape")
    tab.keyboard.press("1")
    expect_item(tab, "message 3")
    assert result_of(queue, "m2") == {"ok": True, "note": "1 of 2"}
    assert tab.evaluate("window.same")
    tab.keyboard.press("1")
    expect(tab.get_by_text("All done.")).to_be_visible()
    expect(tab.get_by_role("button", name="Undo")).to_be_visible()
    assert tab.evaluate("history.length") == history_length, "back returns to the previous page"


def test_each_choice_field_has_key_row_and_missing_answer_is_shown(
    tab: Page, person: str, queue: leaseq.Queue
) -> None:
    fill_queue(queue, TRIAGE)
    begin(tab, person, queue)
    tab.keyboard.press("3")
    expect(tab.get_by_role("radio", name="other")).to_be_checked()
    tab.keyboard.press("Control+Enter")
    expect(tab.get_by_role("alert").filter(has_text="Please answer this.")).to_be_visible()
    expect(tab.get_by_role("radio", name="other")).to_be_checked()
    check_accessibility(tab)
    tab.keyboard.press("W")
    expect(tab.get_by_role("radio", name="later")).to_be_checked()
    tab.get_by_label("Note").fill("kind words")
    tab.keyboard.press("Control+Enter")
    expect_item(tab, "message 2")
    assert result_of(queue, "m1") == {"about": "other", "urgent": "later", "note": "kind words"}


def test_keys_dialog_lists_keys_and_can_turn_single_keys_off(
    tab: Page, person: str, queue: leaseq.Queue
) -> None:
    fill_queue(queue, TRIAGE, instructions="Read **all** of it.")
    begin(tab, person, queue)
    how_to = tab.get_by_role("dialog", name="How to")  # open at the first item
    expect(how_to).to_contain_text("Read all of it.")
    expect(how_to).to_be_focused()
    check_accessibility(tab)
    tab.keyboard.press("h")
    expect(tab.get_by_role("region", name="The item")).to_be_focused()
    tab.reload()
    expect_item(tab, "message 1")
    expect(how_to).to_be_hidden()
    tab.keyboard.press("h")
    expect(how_to).to_be_focused()
    tab.locator("#item").focus()  # which the panel covers
    expect(how_to).to_be_hidden()
    queue.configure(instructions="Read it **twice**.")
    tab.reload()
    expect(how_to).to_contain_text("Read it twice.")
    tab.keyboard.press("Escape")
    tab.keyboard.press("?")
    keys = tab.get_by_role("dialog", name="Keys")
    expect(keys).to_contain_text("About · refund")
    expect(keys).to_contain_text("Later")
    check_accessibility(tab)
    tab.keyboard.press("1")
    expect(tab.get_by_role("radio", name="delivery")).not_to_be_checked()
    keys.get_by_label("Use single keys").uncheck()
    tab.keyboard.press("Escape")
    tab.reload()
    expect_item(tab, "message 1")
    tab.keyboard.press("1")
    tab.keyboard.press("l")
    tab.keyboard.press("Control+Enter")
    expect(tab.get_by_role("alert").filter(has_text="Please answer this.")).to_be_visible()
    expect(tab.get_by_role("radio", name="delivery")).not_to_be_checked()
    tab.get_by_role("button", name="Keys").click()
    keys.get_by_label("Use single keys").check()
    tab.keyboard.press("Escape")
    tab.keyboard.press("1")
    expect(tab.get_by_role("radio", name="delivery")).to_be_checked()


def test_account_page_can_turn_single_keys_off_and_on(tab: Page, person: str, queue: leaseq.Queue) -> None:
    fill_queue(queue, TRIAGE)
    begin(tab, person, queue)
    tab.goto("/account")
    tab.get_by_label("Use single keys").uncheck()
    tab.goto(f"/q/{queue.name}")
    expect_item(tab, "message 1")
    tab.keyboard.press("1")
    expect(tab.get_by_role("radio", name="delivery")).not_to_be_checked()
    tab.goto("/account")
    tab.get_by_label("Use single keys").check()
    tab.goto(f"/q/{queue.name}")
    expect_item(tab, "message 1")
    tab.keyboard.press("1")
    expect(tab.get_by_role("radio", name="delivery")).to_be_checked()


def test_item_is_given_back_with_note_and_escape_closes_report_box(
    tab: Page, person: str, queue: leaseq.Queue, accounts: Accounts
) -> None:
    fill_queue(queue, TRIAGE)
    begin(tab, person, queue)
    tab.keyboard.press("b")
    expect(tab.get_by_label("What is wrong with it?")).to_be_focused()
    tab.keyboard.press("Escape")
    expect(tab.get_by_label("What is wrong with it?")).to_be_hidden()
    tab.keyboard.press("g")
    expect(tab.get_by_label("What should others know about it?")).to_be_focused()
    check_accessibility(tab)
    tab.keyboard.type("needs a lawyer")
    tab.keyboard.press("Control+Enter")
    expect_item(tab, "message 2")
    expect(tab.locator("#undo")).to_contain_text("You see it again when nothing else waits for you.")
    assert queue.get("m1").history[-1].reason == "needs a lawyer"
    other_person = accounts.add(f"eva of {queue.name}", by="test", password=PASSWORD).name
    begin(sign_out(tab), other_person, queue)
    note = tab.get_by_role("region", name=f"Note by {person}")
    expect(note).to_contain_text("needs a lawyer")


def test_small_window_scrolls_to_top_for_next_item(tab: Page, person: str, queue: leaseq.Queue) -> None:
    queue.enqueue({"text": "a long story " * 150}, id="m0")
    queue.enqueue({"text": "the next " * 150}, id="m1")
    fill_queue(queue, YES_NO, items=0)
    tab.set_viewport_size({"width": 320, "height": 600})
    begin(tab, person, queue, "a long story")
    tab.mouse.wheel(0, 1_000)
    tab.keyboard.press("1")
    expect_item(tab, "the next")
    expect(tab.locator("#item .text")).to_be_in_viewport()
    assert tab.evaluate("scrollY") == 0
    group = tab.get_by_role("group", name="Is it fine?")
    group.evaluate("group => scrollTo(0, scrollY + group.getBoundingClientRect().bottom - innerHeight + 80)")
    expect(tab.get_by_label("Note")).not_to_be_in_viewport(ratio=1)
    expect(tab.get_by_role("button", name="Finish and next")).to_be_in_viewport(ratio=1)
    check_accessibility(tab)


@pytest.mark.parametrize(
    ("layout", "key", "code", "option"),
    [
        ("AZERTY", "&", "Digit1", "delivery"),
        ("AZERTY", "é", "Digit2", "refund"),
        ("Russian", "й", "KeyQ", "today"),
        ("Arabic", "ص", "KeyW", "later"),
        ("Arabic", "٣", "Digit3", "other"),
        ("Czech", "š", "Digit3", "other"),
        ("AZERTY", "q", "KeyA", "today"),
        ("numbers", "2", "Numpad2", "refund"),
    ],
)
def test_keys_work_by_place_where_layout_has_no_such_character(
    tab: Page, person: str, queue: leaseq.Queue, layout: str, key: str, code: str, option: str
) -> None:
    fill_queue(queue, TRIAGE)
    begin(tab, person, queue)
    press(tab, key, code)
    expect(tab.get_by_role("radio", name=option)).to_be_checked()
    expect(tab.get_by_role("radio", checked=True)).to_have_count(1)


def test_keys_of_other_places_and_pages_keep_their_meaning(
    tab: Page, person: str, queue: leaseq.Queue
) -> None:
    fill_queue(queue, {**TRIAGE, "keys": {"д": "delivery", "q": {"urgent": "today"}}})
    begin(tab, person, queue)
    for key, code, shift in (("o", "KeyQ", False), ("!", "Digit1", True), ("Dead", "KeyQ", False)):
        press(tab, key, code, shift=shift)
    expect(tab.get_by_role("radio", checked=True)).to_have_count(0)
    press(tab, "д", "KeyQ")
    expect(tab.get_by_role("radio", name="delivery")).to_be_checked()
    press(tab, "л", "KeyK", control=True)
    expect(tab.locator("#commands")).to_be_visible()
    tab.keyboard.press("Escape")
    press(tab, "д", "KeyL")  # the form's own key, not "Later"
    expect_item(tab, "message 1")
    press(tab, "т", "KeyN")
    expect(tab.get_by_label("Reason (optional)")).to_be_focused()


def press(tab: Page, key: str, code: str, *, shift: bool = False, control: bool = False) -> None:
    """Press a key as a keyboard layout reports it."""
    event = {
        "key": key,
        "code": code,
        "shiftKey": shift,
        "ctrlKey": control,
        "bubbles": True,
        "cancelable": True,
    }
    tab.evaluate("event => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', event))", event)
