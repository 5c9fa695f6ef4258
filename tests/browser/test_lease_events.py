"""The work page shows changes that others make to its item, and keeps the typed text."""

from __future__ import annotations

import time
from typing import Any

from playwright.sync_api import Page, expect

import leaseq
from leaseq.webapp.store.queue_access import FRESH_SECONDS, Access, Group, QueueAccess
from tests.browser.accessibility import check_accessibility
from tests.browser.sessions import sign_in
from tests.support.leases import take
from tests.support.waiting import eventually

WORDS = "half of an answer"


def take_and_type(tab: Page, person: str, queue: leaseq.Queue) -> None:
    """Take an item and type text, after the page has opened its event stream."""
    sign_in(tab, person)
    tab.goto(f"/q/{queue.name}")
    with tab.expect_response("**/live?token=*"):
        tab.get_by_role("button", name="Next item").click()
    with tab.expect_response("**/draft"):
        tab.get_by_label("Your answer").press_sequentially(WORDS)


def test_release_by_manager_is_shown_and_answer_is_kept(
    tab: Page, person: str, letters: leaseq.Queue
) -> None:
    take_and_type(tab, person, letters)
    letters.release("l1", by="a manager")
    expect(tab.get_by_text("A manager released it")).to_be_visible()
    expect(tab.locator(".time")).to_be_hidden()
    expect(tab.get_by_label("Your answer")).to_have_value(WORDS)
    check_accessibility(tab)
    tab.get_by_role("button", name="Finish and stop").click()
    expect(tab.get_by_text("Your answer is kept for the manager.")).to_be_visible()
    (answer,) = letters.get("l1").late_answers
    assert answer.result == {"answer": WORDS}


def test_cancel_is_shown_with_the_next_item_and_text_is_kept(
    tab: Page, person: str, letters: leaseq.Queue
) -> None:
    form = {"ask": {"type": "object", "properties": {"why": {"type": "string", "title": "Your answer"}}}}
    letters.enqueue({"text": "own"}, id="own", form=form, priority=0)
    take_and_type(tab, person, letters)
    letters.cancel("own", "withdrawn", by="a manager")
    expect(tab.get_by_text("Nobody needs this any more.")).to_be_visible()
    expect(tab.get_by_label("Your answer")).to_have_value(WORDS)
    check_accessibility(tab)
    tab.locator("#lease-outcome").get_by_role("button", name="Next item").press("Enter")
    expect(tab.get_by_text("letter 1")).to_be_visible()
    assert letters.get("own").died_of == "cancelled"


def test_removal_of_item_is_shown_and_text_is_kept(tab: Page, person: str, letters: leaseq.Queue) -> None:
    take_and_type(tab, person, letters)
    letters.remove("l1", by="a manager")
    expect(tab.get_by_text("This item no longer exists.")).to_be_visible()
    expect(tab.get_by_label("Your answer")).to_have_value(WORDS)


def test_loss_of_queue_access_is_shown_and_text_is_kept(
    tab: Page, person: str, letters: leaseq.Queue, server: Any
) -> None:
    take_and_type(tab, person, letters)
    QueueAccess(server.client).set(letters.name, Access(Group(people=("eva",))))
    refresh_time = time.monotonic() + FRESH_SECONDS  # by then each web process has read the access again
    eventually(lambda: time.monotonic() > refresh_time)
    tab.get_by_label("Your answer").press_sequentially(", and more")
    message = f"There is no queue '{letters.name}', or you have no access to it."
    expect(tab.locator("#lease-outcome")).to_have_text(message)
    tab.get_by_role("button", name="Finish and stop").click()
    expect(tab.locator("#submit-error")).to_contain_text(message)
    expect(tab.get_by_label("Your answer")).to_have_value(f"{WORDS}, and more")


def test_pause_and_resume_are_shown_on_work_page(tab: Page, person: str, letters: leaseq.Queue) -> None:
    take_and_type(tab, person, letters)
    note = tab.get_by_role("status").filter(has_text="This queue is paused")
    expect(note).to_have_count(0)
    letters.pause("lunch until one", by="a manager")
    expect(note).to_contain_text("paused: lunch until one. You can finish this item")
    check_accessibility(tab)
    letters.resume(by="a manager")
    expect(note).to_have_count(0)
    letters.pause(by="a manager")
    expect(note).to_contain_text("This queue is paused. You can finish this item")
    expect(tab.get_by_label("Your answer")).to_have_value(WORDS)
    tab.get_by_role("button", name="Finish and next").click()
    expect(tab.get_by_text("Nobody gets new items.")).to_be_visible()
    assert letters.stats().finished == 1


def test_release_of_next_item_on_same_page_is_shown(tab: Page, person: str, letters: leaseq.Queue) -> None:
    take_and_type(tab, person, letters)
    tab.get_by_role("button", name="Finish and next").click()
    expect(tab.get_by_text("letter 2")).to_be_visible()
    letters.release("l2", by="a manager")
    expect(tab.get_by_text("A manager released it")).to_be_visible()


def test_release_missed_offline_is_shown_after_reconnection(
    tab: Page, person: str, letters: leaseq.Queue
) -> None:
    """The stream was closed while the tab was offline, and events were missed."""
    take_and_type(tab, person, letters)
    tab.context.set_offline(True)
    tab.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    letters.release("l1", by="a manager")
    tab.context.set_offline(False)
    expect(tab.get_by_text("A manager released it")).to_be_visible(timeout=15_000)


def test_typing_refreshes_outdated_lease_outcome(tab: Page, person: str, letters: leaseq.Queue) -> None:
    take_and_type(tab, person, letters)
    letters.release("l1", by="a manager")
    expect(tab.get_by_text("The next person gets it.")).to_be_visible()
    tab.get_by_role("button", name="Finish and stop").click()
    expect(tab.get_by_text("Your answer is kept for the manager.")).to_be_visible()
    assert take(letters, "somebody else").id == "l1"
    tab.clock.install()
    tab.clock.fast_forward(3_000)
    tab.get_by_label("Your answer").press("Control+End")
    tab.get_by_label("Your answer").press_sequentially(", and more")
    expect(tab.get_by_text("Somebody else is on it now.")).to_be_visible()
    expect(tab.get_by_text("Your answer is kept for the manager.")).to_be_visible()
    expect(tab.get_by_label("Your answer")).to_have_value(f"{WORDS}, and more")
