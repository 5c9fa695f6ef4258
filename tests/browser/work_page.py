"""Helpers for tests of the work page."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

import leaseq
from tests.browser.sessions import sign_in

YES_NO = {
    "show": ["text"],
    "ask": {
        "type": "object",
        "required": ["ok"],
        "properties": {"ok": {"title": "Is it fine?", "type": "boolean"}, "note": {"type": "string"}},
    },
}
TRIAGE = {
    "show": ["text"],
    "ask": {
        "type": "object",
        "required": ["about", "urgent"],
        "properties": {
            "about": {"title": "About", "enum": ["delivery", "refund", "other"]},
            "urgent": {"title": "How urgent", "enum": ["today", "later"]},
            "note": {"title": "Note", "type": "string", "maxLength": 100},
        },
    },
}


def sign_out(tab: Page) -> Page:
    """Sign the tab out. Leave its page first, so that no running request sets the cookie again."""
    tab.goto("about:blank")
    tab.context.clear_cookies()
    return tab


def fill_queue(queue: leaseq.Queue, form: dict[str, Any], items: int = 3, **policy: Any) -> leaseq.Queue:
    # Reported items don't come back during the test.
    queue.configure(title="Triage", form=form, **{"lease_seconds": 600, "retry_seconds": 600, **policy})
    for number in range(1, items + 1):
        queue.enqueue({"text": f"message {number}"}, id=f"m{number}")
    return queue


def begin(tab: Page, person: str, queue: leaseq.Queue, text: str = "message 1") -> None:
    sign_in(tab, person)
    tab.goto(f"/q/{queue.name}")
    tab.get_by_role("button", name="Next item").click()
    expect_item(tab, text)


def expect_item(tab: Page, text: str) -> None:
    """Expect that the item is shown, and that the page's script has set it up."""
    expect(tab.locator("#item")).to_contain_text(text)
    expect(tab.get_by_role("button", name="Keys")).to_be_visible()


def result_of(queue: leaseq.Queue, id: str) -> Any:
    (answer,) = queue.get(id).answers
    return answer.result
