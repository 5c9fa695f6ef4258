"""Times are formatted in the language of the page, not of the browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, expect

import leaseq
from leaseq.webapp.store.accounts import Accounts
from tests.browser.conftest import PASSWORD
from tests.browser.sessions import sign_in


@pytest.mark.parametrize(
    ("browser_language", "page_language", "pattern"),
    [
        ("de-DE", "en", r"[A-Z][a-z]{2} \d{1,2}, \d{4}, \d\d:\d\d:\d\d"),
        ("en-US", "de", r"\d{1,2}\. \S+ \d{4}, \d\d:\d\d:\d\d"),
    ],
)
def test_times_use_page_language_not_browser_language(
    chromium: Browser,
    address: str,
    accounts: Accounts,
    queue: leaseq.Queue,
    browser_language: str,
    page_language: str,
    pattern: str,
) -> None:
    manager = accounts.add(f"meg of {queue.name}", by="test", role="manager", password=PASSWORD).name
    queue.enqueue({"text": "hello"}, id="one")
    with chromium.new_context(base_url=address, locale=browser_language) as context:
        tab = context.new_page()
        context.add_cookies([{"name": "leaseq-language", "value": "en", "url": address}])
        sign_in(tab, manager)
        context.add_cookies([{"name": "leaseq-language", "value": page_language, "url": address}])
        tab.clock.set_fixed_time("2031-01-01T00:00:00Z")  # times of today have no date
        tab.goto(f"/manage/{queue.name}/items/one")
        expect(tab.locator("time[data-local]").first).to_have_text(re.compile(f"^{pattern}$"))
