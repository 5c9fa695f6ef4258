"""A manager's actions on the page of all reports."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Locator, Page, expect

import leaseq
from leaseq.webapp.store.threads import Threads
from tests.browser.sessions import sign_in
from tests.support.leases import fail


def test_reports_are_opened_fixed_handed_out_removed_or_settled(
    tab: Page, manager: str, queue: leaseq.Queue, server: Any
) -> None:
    queue.configure(title="Letters", max_attempts=2, retry_seconds=3600)
    fail(queue, "torn", "half of it is missing", times=2)
    fail(queue, "spam", "no letter at all", times=2)
    fail(queue, "odd", "the scan server was away")
    Threads(server.client).ask(queue.name, "odd", "bob", "Is this one ours?", message="1")

    def row(words: str) -> Locator:
        return tab.get_by_role("row").filter(has_text=words)

    def expect_reports_page() -> None:
        expect(tab).to_have_url(re.compile("/reports$"))

    sign_in(tab, manager)
    tab.goto(f"/manage/{queue.name}")
    tab.get_by_role("link", name="3 reports and notes").click()
    row("half of it").get_by_role("link", name="letter torn", exact=True).click()
    expect(tab.get_by_role("heading", name="letter torn")).to_be_visible()
    tab.go_back()
    row("away").get_by_role("button", name="Hand out now").click()
    expect(tab.get_by_text("It is waiting again, now and not later.")).to_be_visible()
    expect_reports_page()
    row("no letter").get_by_role("checkbox").check()
    tab.get_by_role("button", name="Remove …").click()
    tab.get_by_role("button", name="Remove 1 item").click()
    expect(tab.get_by_text("Removed 1 item.")).to_be_visible()
    tab.get_by_role("link", name="Back to the list").click()
    expect_reports_page()
    row("Is this one ours?").get_by_role("button", name="No answer needed").click()
    expect(row("Is this one ours?")).to_have_count(0)
    expect_reports_page()
    row("half of it").get_by_role("link", name="letter torn").click()
    tab.locator("main summary", has_text="Change").click()
    tab.get_by_label("Content, as JSON").fill('{"text": "all of it"}')
    tab.get_by_role("button", name="Save and hand out again").click()
    expect(tab.get_by_text("It is waiting again, with all its attempts.")).to_be_visible()
    assert (queue.get("torn").state, queue.get("torn").payload) == ("inbound", {"text": "all of it"})
    assert queue.get("odd").state == "inbound"
