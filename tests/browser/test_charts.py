"""A queue's charts: their values by pointer, by keys and as a table."""

from __future__ import annotations

import time
from typing import Any

from playwright.sync_api import Page, expect

import leaseq
from leaseq.webapp.store.samples import Samples
from tests.browser.accessibility import check_accessibility
from tests.browser.sessions import sign_in
from tests.support.leases import not_none

QUARTER = 900.0  # seconds of one part of the day's chart


def test_chart_values_are_shown_by_keys_by_pointer_and_as_table(
    tab: Page, manager: str, server: Any, queue: leaseq.Queue
) -> None:
    queue.configure(title="Letters")
    now = time.time() // QUARTER * QUARTER + 1
    for age in (2, 1, 0):
        queue.enqueue_many(leaseq.NewItem({}) for _ in range(3))
        queue.finish(not_none(queue.reserve("ann")), {})
        Samples(server.client, clock=lambda at=now - age * QUARTER: at).record({queue.name: queue.stats()})  # type: ignore[misc]
    sign_in(tab, manager)
    tab.goto(f"/manage/{queue.name}")
    tab.get_by_role("link", name="1 day").click()
    expect(tab.get_by_role("link", name="1 day")).to_have_attribute("aria-current", "true")
    tab.wait_for_load_state()  # until its script is loaded

    caption = tab.locator("#chart-values")
    tab.get_by_role("group", name="Throughput").focus()
    tab.keyboard.press("End")
    expect(caption).to_contain_text(": 3 In, 1 Done, 6 Waiting")
    tab.keyboard.press("ArrowLeft")
    expect(caption).to_contain_text(": 3 In, 1 Done, 4 Waiting")
    tab.keyboard.press("ArrowLeft")
    expect(caption).to_contain_text(": – In, – Done, 2 Waiting")
    tab.keyboard.press("Escape")
    expect(caption).to_contain_text("Point at a chart")

    tab.locator('[data-bucket="95"]').first.hover()
    expect(caption).to_contain_text(": 3 In, 1 Done, 6 Waiting")

    tab.get_by_text("As a table").click()
    expect(tab.locator("#charts tbody tr").last).to_contain_text("316")
    check_accessibility(tab)
    for name in ("7 days", "30 days", "1 hour"):
        tab.get_by_role("link", name=name).press("Enter")
        expect(tab.get_by_role("link", name=name)).to_have_attribute("aria-current", "true")
