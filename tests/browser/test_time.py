"""The remaining time of a lease, and the active time."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

from playwright.sync_api import Page, expect

import leaseq
from leaseq.webapp.store.activity import Activity
from tests.browser.accessibility import check_accessibility
from tests.browser.work_page import YES_NO, begin, expect_item, fill_queue
from tests.support.waiting import eventually

LEASE_SECONDS = 600


def test_expiry_warning_appears_and_key_renews_lease(tab: Page, person: str, queue: leaseq.Queue) -> None:
    fill_queue(queue, YES_NO)
    tab.clock.install()
    begin(tab, person, queue)
    warning = tab.get_by_role("alert").filter(has_text="Your time ends soon.")
    tab.clock.fast_forward(LEASE_SECONDS * 790)
    expect(tab.locator("#time-left")).to_have_text("2:06")
    expect(warning).to_be_hidden()
    tab.clock.fast_forward(LEASE_SECONDS * 20)
    expect(warning).to_be_visible()
    expect(tab.locator(".time")).to_have_class("time warning")
    check_accessibility(tab)
    with tab.expect_response("**/renew"):
        tab.keyboard.press("k")
    expect(warning).to_be_hidden()
    expect(tab.locator(".time")).to_have_class("time")


def test_active_time_excludes_idle_time_beyond_thirty_seconds(
    tab: Page, person: str, queue: leaseq.Queue, server: Any
) -> None:
    fill_queue(queue, YES_NO)
    tab.clock.install()
    begin(tab, person, queue)
    tab.get_by_label("Note").press_sequentially("a")
    tab.clock.fast_forward(20_000)
    tab.get_by_label("Note").press_sequentially("b")
    tab.clock.fast_forward(200_000)  # the person is inactive
    tab.keyboard.press("Escape")
    tab.clock.fast_forward(5_000)
    with tab.expect_request("**/finish") as request_info:
        tab.keyboard.press("1")
    expect_item(tab, "message 2")
    (active_ms,) = parse_qs(request_info.value.post_data)["active_ms"]
    assert 55_000 <= int(active_ms) <= 80_000, "20 s, then at most 30 s of the absence, then 5 s"
    activity = Activity(server.client)
    eventually(lambda: activity.today(person, queue.name).finished == 1, "the finish is counted")
    figures = activity.today(person, queue.name)
    assert 0 < figures.active_ms <= figures.held_ms, "the lease's own time limits what the page reports"
