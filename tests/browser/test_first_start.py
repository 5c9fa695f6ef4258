"""The first start by keyboard, from the link that `leaseq up` prints to the first answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

import leaseq
from leaseq.webapp.store.accounts import Accounts
from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import PASSWORD
from tests.browser.sessions import sign_in
from tests.browser.work_page import expect_item

LETTERS = [
    {"text": f"My parcel {n} is late.", "guess": {"about": ("refund", "other")[n % 2]}} for n in range(30)
]


@pytest.fixture
def setup_link(server: Any, accounts: Accounts) -> str:
    """The set-up link of a new installation."""
    server.redis.flushall()
    return f"/setup?token={accounts.setup_token()}"


def test_first_admin_can_create_empty_queue_and_demo_queue(
    tab: Page, server: Any, accounts: Accounts
) -> None:
    server.redis.flushall()
    sign_in(tab, accounts.add("ann", by="test", role="admin", password=PASSWORD).name)
    tab.goto("/manage")
    tab.get_by_role("link", name="Invite people").press("Enter")
    expect(tab.get_by_role("heading", name="Invite people")).to_be_visible()
    tab.go_back()
    tab.locator("summary", has_text="An empty queue").press("Enter")
    tab.get_by_label("Name", exact=True).fill("letters")
    tab.keyboard.press("Enter")
    expect(tab.get_by_text("The queue letters is created.")).to_be_visible()
    leaseq.Queue(server.client, "letters").delete()
    tab.goto("/manage")
    tab.get_by_role("button", name="Add the demo queue").press("Enter")
    expect(tab.get_by_text("The demo queue is there.")).to_be_visible()
    tab.get_by_role("link", name="leaseq").press("Enter")
    tab.get_by_role("button", name="Begin").press("Enter")
    expect(tab.locator("#item")).to_be_visible()


def test_setup_link_leads_to_import_and_first_answer(
    tab: Page, server: Any, setup_link: str, tmp_path: Path
) -> None:
    file = tmp_path / "Letters.jsonl"
    file.write_text("\n".join(json.dumps(letter) for letter in LETTERS))
    tab.goto(setup_link)
    expect(tab.get_by_label("Your name")).to_be_focused()
    for text in ("ann", PASSWORD):
        tab.keyboard.type(text)
        tab.keyboard.press("Tab")
    tab.keyboard.type(PASSWORD)
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("heading", level=3)).to_have_text(
        ["Try it", "A queue from a file", "Invite people"]
    )
    expect(tab.get_by_role("link", name="Create from file")).to_be_focused()
    check_accessibility(tab)
    tab.keyboard.press("Enter")
    expect(tab.get_by_label("Title")).to_be_focused()
    tab.get_by_label("File", exact=True).set_input_files(file)
    tab.get_by_role("button", name="Create queue and import 30 rows").press("Enter")
    expect(tab.get_by_text("30 added, 0 duplicates, 0 skipped.")).to_be_visible()
    leaseq.Queue(server.client, "a").configure(title="Nothing waits here")
    tab.get_by_role("link", name="leaseq").press("Enter")
    expect(tab.get_by_role("button", name="Begin")).to_be_focused()
    check_accessibility(tab)
    tab.keyboard.press("Enter")
    expect_item(tab, "My parcel 0 is late.")
    expect(tab.get_by_role("radio", name="refund")).to_be_checked()  # the payload's guess
    tab.keyboard.press("1")
    tab.keyboard.press("Control+Enter")
    expect_item(tab, "My parcel 1 is late.")
    (item,) = leaseq.Queue(server.client, "letters").items("finished")
    assert item.answers[0].result == {"about": "other"}
