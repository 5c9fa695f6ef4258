"""A manager puts an answer right on the item's page."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

import leaseq
from leaseq.webapp.store.accounts import Accounts
from tests.browser.conftest import PASSWORD, judge, sign_in
from tests.support.taking import take as taken


@pytest.fixture
def boss(accounts: Accounts, queue_name: str) -> str:
    return accounts.add(f"boss of {queue_name}", by="test", role="manager", password=PASSWORD).name


def test_an_answer_is_corrected_and_its_item_reopened(tab: Page, boss: str, letters: leaseq.Queue) -> None:
    letters.finish(taken(letters, "ann"), {"answer": "frist"})
    sign_in(tab, boss)
    tab.goto(f"/manage/{letters.name}/items/l1")
    tab.get_by_role("link", name="Correct").click()
    expect(tab.get_by_label("Your answer")).to_have_value("frist")
    judge(tab)
    tab.get_by_label("Your answer").fill("first")
    tab.get_by_role("button", name="Save the correction").click()
    expect(tab.get_by_role("cell", name="first", exact=True)).to_be_visible()
    expect(tab.get_by_text("earlier answer", exact=True)).to_be_visible()
    judge(tab)
    tab.locator("summary", has_text="Reopen").click()
    tab.get_by_label("What should be done differently?").fill("all of it")
    judge(tab)
    tab.get_by_role("button", name="Reopen").click()
    expect(tab.get_by_text("It is waiting again.")).to_be_visible()
    item = letters.get("l1")
    assert (item.state, len(item.late_answers)) == ("inbound", 2)
