"""The slip that everybody makes: the last answer back, for ten seconds."""

from __future__ import annotations

from playwright.sync_api import Page, expect

import leaseq
from tests.browser.conftest import judge
from tests.browser.working import TRIAGE, YES_NO, begin, filled, result_of, shows


def test_the_answer_comes_back_and_the_next_item_waits_behind_it(
    tab: Page, person: str, queue: leaseq.Queue
) -> None:
    filled(queue, TRIAGE)
    begin(tab, person, queue)
    tab.keyboard.press("2")
    tab.keyboard.press("q")
    tab.get_by_label("Note").fill("so")
    tab.keyboard.press("Control+Enter")
    shows(tab, "message 2")
    judge(tab)
    tab.get_by_label("Note").fill("half a thought")
    tab.keyboard.press("Escape")
    tab.keyboard.press("u")
    shows(tab, "message 1")
    expect(tab.get_by_role("radio", name="refund")).to_be_checked()
    expect(tab.get_by_label("Note")).to_have_value("so")
    assert queue.get("m1").answers == ()
    assert {lease.id for lease in queue.mine(person)} == {"m1", "m2"}
    judge(tab)
    tab.reload()
    shows(tab, "message 1")
    tab.keyboard.press("1")
    tab.keyboard.press("Control+Enter")
    shows(tab, "message 2")
    expect(tab.get_by_label("Note")).to_have_value("half a thought")
    assert result_of(queue, "m1") == {"about": "delivery", "urgent": "today", "note": "so"}


def test_after_ten_seconds_it_is_offered_no_more(tab: Page, person: str, queue: leaseq.Queue) -> None:
    filled(queue, YES_NO)
    tab.clock.install()
    begin(tab, person, queue)
    tab.keyboard.press("1")
    shows(tab, "message 2")
    undo = tab.get_by_role("button", name="Undo")
    expect(undo).to_contain_text("(10 s)")
    tab.clock.fast_forward(4_000)
    expect(undo).to_contain_text("(6 s)")
    tab.clock.fast_forward(7_000)
    expect(undo).to_be_hidden()
    tab.keyboard.press("u")
    shows(tab, "message 2")
    assert result_of(queue, "m1") == {"ok": True}


def test_the_last_of_all_can_be_undone_too(tab: Page, person: str, queue: leaseq.Queue) -> None:
    filled(queue, YES_NO, items=1)
    begin(tab, person, queue)
    tab.keyboard.press("1")
    expect(tab.get_by_text("All done.")).to_be_visible()
    judge(tab)
    tab.keyboard.press("u")
    shows(tab, "message 1")
    expect(tab.get_by_role("radio", name="Yes")).to_be_checked()


def test_what_was_moved_on_stands_and_the_item_on_the_page_stays(
    tab: Page, person: str, queue: leaseq.Queue
) -> None:
    filled(queue, YES_NO)
    begin(tab, person, queue)
    tab.keyboard.press("1")
    shows(tab, "message 2")
    queue.remove("m1")
    tab.keyboard.press("u")
    expect(tab.get_by_role("alert").filter(has_text="That can't be undone any more")).to_be_visible()
    shows(tab, "message 2")
