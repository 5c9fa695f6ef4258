"""The lease on the work page: its renewal while the person is active, and the page after it ended."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

import leaseq
from tests.browser.accessibility import check_accessibility
from tests.browser.sessions import sign_in
from tests.support.leases import expire_leases

# Of `letters`. The tests move the page's clock; the server's lease stays valid.
LEASE_SECONDS = 600


def take_item(tab: Page, person: str, queue: leaseq.Queue) -> list[str]:
    """Take an item under a controlled page clock; return the list of the page's renewals."""
    renew_urls: list[str] = []
    tab.on(
        "request", lambda request: renew_urls.append(request.url) if request.url.endswith("/renew") else None
    )
    tab.clock.install()
    sign_in(tab, person)
    tab.goto(f"/q/{queue.name}")
    tab.get_by_role("button", name="Next item").click()
    expect(tab.get_by_label("Your answer")).to_be_visible()
    tab.wait_for_load_state("domcontentloaded")
    return renew_urls


def count_renewals(queue: leaseq.Queue) -> int:
    (item,) = queue.items("reserved")
    return item.leases[0].renewals


def test_activity_renews_lease_after_a_third_of_its_time(
    tab: Page, person: str, letters: leaseq.Queue
) -> None:
    renew_urls = take_item(tab, person, letters)
    tab.get_by_label("Your answer").press_sequentially("too early for more")
    tab.mouse.move(100, 100)
    tab.mouse.move(200, 120)
    assert renew_urls == []
    tab.clock.fast_forward(LEASE_SECONDS * 1000 // 3 + 2000)
    expect(tab.locator("#time-left")).to_have_text(re.compile("6:[0-3][0-9]"))
    tab.evaluate("document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'x', bubbles: true}))")
    assert renew_urls == [], "nobody did anything"
    with tab.expect_response("**/renew"):
        tab.mouse.move(220, 140)
    expect(tab.locator("#time-left")).to_have_text(re.compile("10:00|9:[0-5][0-9]"))
    tab.get_by_label("Your answer").press_sequentially("and again")
    tab.mouse.wheel(0, 10)
    assert len(renew_urls) == 1
    assert count_renewals(letters) == 1
    tab.clock.fast_forward(LEASE_SECONDS * 1000 // 3 + 2000)
    with tab.expect_response("**/renew"):
        tab.keyboard.press("x")
    assert count_renewals(letters) == 2


def test_limited_renewals_are_used_late_and_last_renewal_is_announced(
    tab: Page, person: str, letters: leaseq.Queue
) -> None:
    letters.configure(renewals=1)
    renew_urls = take_item(tab, person, letters)
    tab.clock.fast_forward(LEASE_SECONDS * 1000 // 2)
    tab.get_by_label("Your answer").press_sequentially("half of the time is left")
    assert renew_urls == []
    expect(tab.get_by_text("can't be extended again")).to_be_hidden()
    tab.clock.fast_forward(LEASE_SECONDS * 1000 // 4)
    with tab.expect_response("**/renew"):
        tab.keyboard.press("x")
    expect(tab.get_by_text("can't be extended again")).to_be_visible()
    expect(tab.get_by_role("button", name="Keep working")).to_be_hidden()
    tab.clock.fast_forward(LEASE_SECONDS * 1000 // 4 * 3)
    tab.get_by_label("Your answer").press_sequentially("working on")
    assert len(renew_urls) == 1
    tab.reload()
    expect(tab.get_by_text("can't be extended again")).to_be_visible()


def test_renew_key_renews_lease_without_leaving_page(tab: Page, person: str, letters: leaseq.Queue) -> None:
    take_item(tab, person, letters)
    tab.get_by_label("Your answer").fill("so far")
    tab.keyboard.press("Escape")
    with tab.expect_response("**/renew"):
        tab.keyboard.press("k")
    expect(tab.get_by_label("Your answer")).to_have_value("so far")
    assert count_renewals(letters) == 1


def test_item_with_expired_lease_can_be_taken_back(tab: Page, person: str, letters: leaseq.Queue) -> None:
    take_item(tab, person, letters)
    tab.get_by_label("Your answer").fill("so far")
    assert expire_leases(letters) == 1
    tab.clock.fast_forward(LEASE_SECONDS * 1000 + 2000)
    note = tab.get_by_role("status").filter(has_text="Your time ran out at")
    expect(note).to_contain_text("Nobody has taken it yet.")
    check_accessibility(tab)
    expect(tab.get_by_label("Your answer")).to_have_value("so far")
    tab.keyboard.press("Escape")
    tab.keyboard.press("t")
    expect(tab.locator("[data-flashed]").get_by_text("You have the item again.")).to_be_visible()
    expect(tab.get_by_label("Your answer")).to_have_value("so far")
    assert count_renewals(letters) == 1


def test_answer_after_another_person_reserved_item_is_late_answer(
    tab: Page, person: str, letters: leaseq.Queue
) -> None:
    take_item(tab, person, letters)
    tab.get_by_label("Your answer").fill("mine")
    assert expire_leases(letters) == 1
    tab.clock.fast_forward(LEASE_SECONDS * 1000 + 2000)
    expect(tab.get_by_text("Nobody has taken it yet.")).to_be_visible()
    other_lease = letters.reserve("somebody else")
    assert other_lease
    assert other_lease.id == "l1"
    tab.clock.fast_forward(16_000)
    expect(tab.get_by_text("Somebody else is on it now.")).to_be_visible()
    tab.get_by_role("button", name="Finish and stop").click()
    expect(tab.get_by_text("Your answer is kept for the manager.")).to_be_visible()
    expect(tab.get_by_label("Your answer")).to_have_value("mine")
    (answer,) = letters.get("l1").late_answers
    assert answer.result == {"answer": "mine"}


def test_released_lease_is_shown_after_further_typing(tab: Page, person: str, letters: leaseq.Queue) -> None:
    tab.set_viewport_size({"width": 320, "height": 480})
    letters.enqueue({"text": "A long letter. " * 100}, id="long", priority=0)
    take_item(tab, person, letters)
    tab.get_by_label("Your answer").press_sequentially("mi")
    letters.release("long", by="a manager")
    tab.get_by_label("Your answer").press_sequentially("ne")
    tab.clock.run_for(2_000)
    expect(tab.get_by_text("A manager released it")).to_be_in_viewport()
    expect(tab.locator(".time")).to_be_hidden()
    expect(tab.get_by_label("Your answer")).to_have_value("mine")
    check_accessibility(tab)
    tab.get_by_role("button", name="Finish and stop").click()
    expect(tab.get_by_text("Your answer is kept for the manager.")).to_be_visible()
    (answer,) = letters.get("long").late_answers
    assert answer.result == {"answer": "mine"}


def test_removed_item_is_shown_after_further_typing(tab: Page, person: str, letters: leaseq.Queue) -> None:
    take_item(tab, person, letters)
    letters.remove("l1")
    tab.get_by_label("Your answer").press_sequentially("mine")
    tab.clock.run_for(2_000)
    expect(tab.get_by_text("This item no longer exists.")).to_be_visible()
    expect(tab.get_by_label("Your answer")).to_have_value("mine")


def test_later_not_for_me_and_report_work_by_their_keys(
    tab: Page, person: str, letters: leaseq.Queue
) -> None:
    take_item(tab, person, letters)
    tab.keyboard.press("Escape")  # leaves the only text box, which is focused at first
    tab.keyboard.press("l")
    expect(tab.get_by_text("letter 2")).to_be_visible()
    expect(tab.locator("#undo")).to_contain_text("You see it again when nothing else waits for you.")
    tab.keyboard.press("Escape")
    tab.keyboard.press("n")
    expect(tab.get_by_label("Reason (optional)")).to_be_focused()
    tab.keyboard.type("not a lawyer")
    tab.keyboard.press("Control+Enter")
    expect(tab.get_by_text("letter 3")).to_be_visible()
    expect(tab.locator("#undo")).to_contain_text("You gave it back, and won't see it again.")
    assert letters.get("l2").history[-1].reason == "not a lawyer"
    tab.keyboard.press("Escape")
    tab.keyboard.press("b")
    tab.keyboard.type("blank page")
    tab.keyboard.press("Control+Enter")
    expect(tab.locator("#undo")).to_contain_text("Reported.")
    assert letters.get("l3").last_error == "blank page"
    assert letters.stats().finished == 0


def test_form_key_takes_precedence_over_page_key(tab: Page, person: str, letters: leaseq.Queue) -> None:
    ask = {"type": "object", "properties": {"kind": {"title": "Kind", "enum": ["letter", "bill"]}}}
    letters.configure(form={"ask": ask, "keys": {"l": "letter", "b": "bill"}})
    sign_in(tab, person)
    tab.goto(f"/q/{letters.name}")
    tab.get_by_role("button", name="Next item").click()
    expect(tab.get_by_text("letter 1")).to_be_visible()
    tab.wait_for_load_state("domcontentloaded")
    tab.keyboard.press("b")
    expect(tab.get_by_role("radio", name="bill")).to_be_checked()
    tab.keyboard.press("l")
    expect(tab.get_by_role("radio", name="letter")).to_be_checked()
    expect(tab.locator("[data-page-key=l], [data-page-key=b]")).to_have_count(0)
    expect(tab.locator("[data-page-key=n]")).to_have_count(1)
