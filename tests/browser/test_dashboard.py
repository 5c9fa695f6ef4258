"""Actions of a manager on a queue's dashboard."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

import leaseq
from tests.browser.accessibility import check_accessibility, check_width
from tests.browser.sessions import sign_in
from tests.browser.work_page import YES_NO
from tests.support.leases import take


def test_a_queue_is_paused_resumed_and_deleted_by_keys(
    tab: Page, manager: str, letters: leaseq.Queue
) -> None:
    sign_in(tab, manager)
    tab.goto(f"/manage/{letters.name}")
    tab.locator("main summary", has_text="Pause").press("Enter")
    tab.get_by_label("Reason").fill("lunch")
    tab.keyboard.press("Enter")
    expect(tab.get_by_text("Paused: lunch")).to_be_visible()
    assert letters.stats().paused == "lunch"
    tab.get_by_role("button", name="Resume").press("Enter")
    expect(tab.get_by_text("The queue is resumed.")).to_be_visible()
    assert letters.stats().paused is None
    tab.locator("summary", has_text="Return expired leases now").press("Enter")
    tab.get_by_role("button", name="Return expired leases now").press("Enter")
    expect(tab.get_by_text(re.compile(r"\d returned, \d released, \d failed\."))).to_be_visible()
    tab.get_by_role("link", name="Settings").press("Enter")
    tab.get_by_role("link", name="Advanced").press("Enter")
    tab.get_by_role("link", name="Delete this queue").press("Enter")
    name_field = tab.get_by_label(re.compile("Type the queue's title"))
    name_field.fill("letters")
    name_field.press("Enter")
    expect(tab.get_by_role("alert")).to_be_visible()
    title = letters.policy.title or letters.name
    name_field.fill(title)
    name_field.press("Enter")
    expect(tab.get_by_text(f"The queue {title} is deleted.")).to_be_visible()
    assert letters.find_policy() is None


def test_announcement_reaches_an_open_work_page_and_is_dismissed(
    tab: Page, manager: str, person: str, letters: leaseq.Queue, chromium: Browser, address: str
) -> None:
    sign_in(tab, manager)
    tab.goto(f"/manage/{letters.name}")
    with chromium.new_context(base_url=address) as context:
        work_tab = context.new_page()
        sign_in(work_tab, person)
        work_tab.goto(f"/q/{letters.name}")
        work_tab.get_by_role("button", name="Next item").click()
        line = work_tab.locator(".announcement")
        tab.get_by_role("link", name="Announce", exact=True).press("Enter")
        tab.get_by_label("One line").fill("Stamps are scarce")
        tab.keyboard.press("Enter")
        expect(line).to_contain_text("Stamps are scarce")
        check_accessibility(work_tab)
        expect(tab.locator(".announced").first).to_contain_text("seen by 1 of")
        line.get_by_role("button", name="Dismiss").press("Enter")
        expect(line).to_be_hidden()
        work_tab.reload()
        expect(work_tab.locator("#item")).to_be_visible()
        expect(line).to_be_hidden()
        tab.get_by_role("link", name="Announced").press("Enter")
        check_accessibility(tab)
        letters.release("l1")
        letters.pause()
        work_tab.goto(f"/q/{letters.name}")  # without an item
        tab.get_by_label("One line").fill("Stamps are back")
        tab.keyboard.press("Enter")
        expect(line).to_contain_text("Stamps are back")


@pytest.mark.parametrize("width", [320, 600, 1000])
def test_counts_of_many_items_are_not_cut_off(
    tab: Page, manager: str, letters: leaseq.Queue, width: int
) -> None:
    letters.enqueue_many({"n": n} for n in range(1_908))
    sign_in(tab, manager)
    tab.set_viewport_size({"width": width, "height": 800})
    tab.goto(f"/manage/{letters.name}")
    expect(tab.locator(".live-counts b").first).to_have_text("1,911")
    check_width(tab)
    counts = tab.locator(".live-counts")
    assert counts.evaluate("list => list.scrollWidth - list.clientWidth") <= 0
    for tile in counts.locator("a").all():
        assert tile.evaluate("one => one.scrollWidth - one.clientWidth") <= 0


def test_disagreement_link_leads_to_item_whose_answers_differ(
    tab: Page, manager: str, letters: leaseq.Queue
) -> None:
    letters.configure(form=YES_NO, answers=2)
    for person in ("ann", "bob"):
        for _ in range(3):
            lease = take(letters, person)
            letters.finish(lease, {"ok": (person, lease.id) != ("bob", "l2")})
    sign_in(tab, manager)
    tab.goto(f"/manage/{letters.name}")
    tab.get_by_role("link", name="1 disagreement").press("Enter")
    disagreements = tab.get_by_role("region", name="Items whose answers differ")
    expect(tab.get_by_role("region", name="Agreement")).to_contain_text("67 %")
    disagreements.get_by_role("link", name="letter 2").press("Enter")
    expect(tab.get_by_role("row", name="differs")).to_contain_text("Is it fine?")
