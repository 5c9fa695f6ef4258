"""The command menu and the guides, by keys alone."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

import leaseq
from tests.browser.sessions import sign_in


def test_manager_acts_and_finds_by_keys(tab: Page, manager: str, person: str, queue: leaseq.Queue) -> None:
    queue.configure(title=f"Letters of {queue.name}")
    queue.enqueue({"text": "My parcel is not here"}, id=f"id-{queue.name}")
    sign_in(tab, manager)
    tab.goto("/")

    def run(words: str) -> None:
        """Type and press Enter at once, as one does who knows the words."""
        expect(tab.get_by_role("button", name="Go to …")).to_be_visible()  # the page's script runs
        tab.keyboard.press("Control+k")
        tab.keyboard.type(words)
        tab.keyboard.press("Enter")

    run(f"pause {queue.policy.title}")
    expect(tab).to_have_url(re.compile(rf"/manage/{re.escape(queue.name)}$"))
    assert queue.stats().paused is not None
    run(person)
    expect(tab.get_by_role("heading", level=1)).to_have_text(person)
    run(f"id-{queue.name}")
    expect(tab).to_have_url(re.compile(rf"/items/id-{re.escape(queue.name)}$"))
    run("help")
    expect(tab.get_by_label("Search the guides")).to_be_focused()
    tab.keyboard.type("import items")
    tab.keyboard.press("Enter")
    result = tab.locator(".help-results a").first
    expect(result).to_be_visible()
    result.focus()
    tab.keyboard.press("Enter")
    expect(tab).to_have_url(re.compile("/help/manager#import-items$"))
    expect(tab.locator("#import-items")).to_be_in_viewport()
