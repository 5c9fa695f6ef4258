"""*My day* shows what a person did, using only keys."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

import leaseq
from leaseq.webapp.store.activity import Activity
from tests.browser.work_page import TRIAGE, begin, expect_item, fill_queue
from tests.support.waiting import eventually


def test_my_day_lists_finished_reported_and_given_back_items(
    tab: Page, person: str, server: Any, queue: leaseq.Queue
) -> None:
    fill_queue(queue, TRIAGE, items=4)
    begin(tab, person, queue)
    for key in ("2", "w", "Control+Enter"):
        tab.keyboard.press(key)
    expect_item(tab, "message 2")
    tab.keyboard.press("b")
    tab.keyboard.type("torn")
    tab.keyboard.press("Control+Enter")
    expect_item(tab, "message 3")
    tab.keyboard.press("l")
    expect_item(tab, "message 4")
    activity = Activity(server.client)  # the app's other process may see it some milliseconds later
    eventually(lambda: activity.today(person, queue.name).abandoned == 1, "the last is counted")

    tab.locator("#person-menu > summary").press("Enter")
    tab.get_by_role("link", name="My day").press("Enter")
    expect(tab.get_by_role("heading", name="My day")).to_be_visible()
    expect(tab.locator(".lead")).to_contain_text("1 done today")
    (row,) = tab.locator("table.cards tbody tr").all()  # a single day with one queue
    for figure, count in (("Done", "1"), ("Given back", "1"), ("Reported", "1")):
        expect(row.locator(f'[data-label="{figure}"]')).to_have_text(count)
    entries = tab.get_by_role("listitem").filter(has_text=" · Triage · ")
    for entry, words in zip(entries.all(), ("given back", "reported", "done"), strict=True):
        expect(entry).to_contain_text(words)
    expect(entries.last).to_contain_text("message 1")
    tab.get_by_role("link", name="Continue with message 4 in Triage").press("Enter")
    expect_item(tab, "message 4")
