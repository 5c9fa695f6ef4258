"""Undo of the last answer, for ten seconds."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

import leaseq
from tests.browser.accessibility import check_accessibility
from tests.browser.sessions import sign_in
from tests.browser.work_page import TRIAGE, YES_NO, begin, expect_item, fill_queue, result_of
from tests.support.leases import not_none


def test_undo_reopens_answer_and_keeps_next_item_with_its_draft(
    tab: Page, person: str, queue: leaseq.Queue
) -> None:
    fill_queue(queue, TRIAGE)
    begin(tab, person, queue)
    tab.keyboard.press("2")
    tab.keyboard.press("q")
    tab.get_by_label("Note").fill("so")
    tab.keyboard.press("Control+Enter")
    expect_item(tab, "message 2")
    check_accessibility(tab)
    tab.get_by_label("Note").fill("half a thought")
    tab.keyboard.press("Escape")
    tab.keyboard.press("u")
    expect_item(tab, "message 1")
    expect(tab.get_by_role("radio", name="refund")).to_be_checked()
    expect(tab.get_by_label("Note")).to_have_value("so")
    assert queue.get("m1").answers == ()
    assert {lease.id for lease in queue.mine(person)} == {"m1", "m2"}
    check_accessibility(tab)
    tab.reload()
    expect_item(tab, "message 1")
    tab.keyboard.press("1")
    tab.keyboard.press("Control+Enter")
    expect_item(tab, "message 2")
    expect(tab.get_by_label("Note")).to_have_value("half a thought")
    assert result_of(queue, "m1") == {"about": "delivery", "urgent": "today", "note": "so"}


def test_undo_disappears_after_ten_seconds(tab: Page, person: str, queue: leaseq.Queue) -> None:
    fill_queue(queue, YES_NO)
    tab.clock.install()
    begin(tab, person, queue)
    tab.keyboard.press("1")
    expect_item(tab, "message 2")
    undo = tab.get_by_role("button", name="Undo")
    expect(undo).to_contain_text("(10 s)")
    tab.clock.fast_forward(4_000)
    expect(undo).to_contain_text("(6 s)")
    tab.clock.fast_forward(7_000)
    expect(undo).to_be_hidden()
    tab.keyboard.press("u")
    expect_item(tab, "message 2")
    assert result_of(queue, "m1") == {"ok": True}


def test_answer_to_last_item_can_be_undone(tab: Page, person: str, queue: leaseq.Queue) -> None:
    fill_queue(queue, YES_NO, items=1)
    begin(tab, person, queue)
    tab.keyboard.press("1")
    expect(tab.get_by_text("All done.")).to_be_visible()
    check_accessibility(tab)
    tab.keyboard.press("u")
    expect_item(tab, "message 1")
    expect(tab.get_by_role("radio", name="Yes")).to_be_checked()


def test_undo_of_removed_item_is_refused_and_current_item_stays(
    tab: Page, person: str, queue: leaseq.Queue
) -> None:
    fill_queue(queue, YES_NO)
    begin(tab, person, queue)
    tab.keyboard.press("1")
    expect_item(tab, "message 2")
    queue.remove("m1")
    tab.keyboard.press("u")
    expect(tab.get_by_role("alert").filter(has_text="That can no longer be undone")).to_be_visible()
    expect_item(tab, "message 2")


ACTIONS = {  # by the action's key: the label of its text box, and the message after it
    "l": (None, "You gave it back. You see it again when nothing else waits for you."),
    "n": ("Reason (optional)", "You gave it back, and won't see it again."),
    "b": ("What is wrong with it?", "Reported. Your manager sees it, and others get it later."),
    "g": ("What should others know about it?", "You gave it back. You see it again"),
}


@pytest.mark.parametrize("key", ACTIONS)
def test_giving_back_or_reporting_shows_next_item_and_can_be_undone(
    tab: Page, person: str, queue: leaseq.Queue, key: str
) -> None:
    box, message = ACTIONS[key]
    fill_queue(queue, TRIAGE)
    begin(tab, person, queue)
    before = tab.locator("#item").bounding_box()
    tab.get_by_label("Note").fill("half a thought")
    tab.keyboard.press("Escape")
    tab.keyboard.press(key)
    if box:
        expect(tab.get_by_label(box)).to_be_focused()
        tab.keyboard.type("written by me")
        tab.keyboard.press("Control+Enter")
    expect_item(tab, "message 2")
    expect(tab.locator("#undo-message")).to_contain_text(message)
    expect(tab.locator("#announcements")).to_contain_text(message)  # for screen readers
    assert tab.locator("#item").bounding_box() == before, "the item is where the one before was"
    check_accessibility(tab)
    tab.keyboard.press("Escape")
    tab.keyboard.press("u")
    expect_item(tab, "message 1")
    expect(tab.get_by_label("Note")).to_have_value("half a thought")
    if box:
        expect(tab.get_by_label(box)).to_have_value("written by me")
    expect(tab.get_by_text("Undone. You have the item again.").first).to_be_visible()
    assert {lease.id for lease in queue.mine(person)} == {"m1", "m2"}
    check_accessibility(tab)


def test_item_does_not_move_when_undo_disappears(tab: Page, person: str, queue: leaseq.Queue) -> None:
    fill_queue(queue, YES_NO)
    tab.clock.install()
    begin(tab, person, queue)
    for width, height in ((1280, 800), (320, 640)):
        tab.set_viewport_size({"width": width, "height": height})
        tab.get_by_role("button", name="Later").click()
        undo = tab.get_by_role("button", name="Undo")
        expect(undo).to_be_visible()
        before = tab.locator("#item").bounding_box()
        tab.clock.fast_forward(11_000)
        expect(undo).to_be_hidden()
        assert tab.locator("#item").bounding_box() == before


# The top of the item while each notice with its longest text is shown, added one after the other.
ITEM_TOPS = """() => {
  const top = () => document.getElementById("item").getBoundingClientRect().top + scrollY;
  const tops = [top()];
  for (const notice of document.querySelector(".notices").children) {
    notice.hidden = false;
    const element = notice.querySelector("p span, p") ?? notice;
    const values = Object.values({ ...element.dataset, ...notice.dataset });
    const texts = values.filter((text) => text.includes(" "));
    if (texts.length) element.textContent = texts.sort((a, b) => b.length - a.length)[0];
    else if (!notice.textContent) notice.textContent = "It could not be sent. ".repeat(6);
    tops.push(top());
  }
  return tops;
}"""


@pytest.mark.parametrize("language", ["en", "de"])
def test_notices_do_not_move_item(
    chromium: Browser, address: str, person: str, queue: leaseq.Queue, language: str
) -> None:
    fill_queue(queue, YES_NO)
    lease = not_none(queue.reserve(person))
    with chromium.new_context(base_url=address, locale=language) as context:
        tab = context.new_page()
        sign_in(tab, person)
        for width, height in ((320, 640), (390, 844), (640, 800), (1280, 800), (1280, 500), (1920, 1080)):
            tab.set_viewport_size({"width": width, "height": height})
            tab.goto(f"/q/{queue.name}?item={lease.id}")
            tops = tab.evaluate(ITEM_TOPS)
            assert len(tops) > 8
            assert set(tops) == {tops[0]}, f"{width} x {height}"


def test_postponed_item_returns_with_explanation_if_nothing_else_waits(
    tab: Page, person: str, queue: leaseq.Queue
) -> None:
    fill_queue(queue, YES_NO, items=1)
    begin(tab, person, queue)
    tab.keyboard.press("l")
    message = tab.locator("#item-view [data-flashed]")
    expect(message).to_have_text("Nothing else waits for you: here it is again.")
    expect_item(tab, "message 1")
    assert queue.mine(person)[0].attempt == 2
