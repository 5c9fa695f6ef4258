"""The API's documentation page by keyboard: links to calls, and copying of commands."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.sessions import sign_in


def test_link_opens_call_and_refusal(tab: Page) -> None:
    tab.goto("/api/v1/docs#finish")
    expect(tab.get_by_role("heading", name="POST /api/v1/queues/{q}/items/{id}/finish")).to_be_in_viewport()
    expect(tab.locator("#finish > summary")).to_be_focused()
    link = tab.locator("#finish").get_by_role("link", name="409 lease-lost")
    link.press("Enter")
    expect(tab.locator("#refusal-409 pre").first).to_contain_text('"code": "lease-lost"')
    expect(tab.locator("#refusal-409 > summary")).to_be_focused()
    tab.go_back()
    expect(tab.locator("#finish > summary")).to_be_focused()


def test_call_is_opened_and_its_command_copied_by_keyboard(tab: Page) -> None:
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.goto("/api/v1/docs")
    tab.locator("#reserve > summary").press("Enter")
    expect(tab.locator("#reserve")).to_have_attribute("open", "")
    expect(tab).to_have_url(re.compile("#reserve$"))
    button = tab.locator("#reserve").get_by_role("button", name="Copy").first
    for _ in range(5):
        tab.keyboard.press("Tab")
        if button.evaluate("one => one === document.activeElement"):
            break
    tab.keyboard.press("Enter")
    expect(tab.locator("#announcements")).to_have_text("Copied")
    command = tab.evaluate("navigator.clipboard.readText()")
    assert command == tab.locator("#reserve .command pre").first.text_content()
    assert command.startswith('curl -s -X POST "$LEASEQ/queues/reviews/reserve"')


def test_command_is_selected_if_clipboard_is_unavailable(tab: Page) -> None:
    tab.add_init_script("delete Navigator.prototype.clipboard")
    tab.goto("/api/v1/docs#mine")
    tab.locator("#mine").get_by_role("button", name="Copy").press("Enter")
    expect(tab.locator("#announcements")).to_have_text("Selected")
    assert tab.evaluate("String(getSelection())").startswith("curl -s")


def test_docs_page_shows_signed_in_person(tab: Page, person: str) -> None:
    sign_in(tab, person)
    tab.goto("/api/v1/docs")
    expect(tab.locator("#person-menu")).to_contain_text(person)
