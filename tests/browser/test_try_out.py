"""Trying a queue out: adding an item and simulated people. The command menu."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

import leaseq
from tests.browser.accessibility import check_accessibility
from tests.browser.sessions import sign_in
from tests.support.leases import expire_leases


def test_an_item_is_added_and_simulated_people_work(tab: Page, manager: str, letters: leaseq.Queue) -> None:
    before = letters.stats().inbound
    sign_in(tab, manager)
    tab.goto(f"/manage/{letters.name}/try")
    tab.get_by_label("text").fill("Dear all, this one is new.")
    tab.get_by_role("button", name="Add item").click()
    expect(tab.get_by_text("Added: Dear all, this one is new.")).to_be_visible()
    assert letters.stats().inbound == before + 1
    tab.get_by_label("How many").fill("2")
    tab.get_by_label("Working time per item").fill("600")
    tab.get_by_role("button", name="Start").click()
    expect(tab.get_by_role("alert")).to_contain_text("Confirm that the simulated answers are kept")
    expect(tab.get_by_label("How many")).to_have_value("2")
    tab.get_by_label("I know that their answers are kept in this queue.").check()
    tab.get_by_role("button", name="Start").click()
    expect(tab.get_by_text("2 simulated people are working.")).to_be_visible()
    check_accessibility(tab)
    tab.goto(f"/manage/{letters.name}")
    expect(tab.get_by_role("cell", name="sim-1")).to_be_visible()
    tab.goto(f"/manage/{letters.name}/try")
    assert expire_leases(letters) == 2
    expect(tab.get_by_role("listitem").filter(has_text="ran out and returned")).to_contain_text("2")
    tab.get_by_role("button", name="Stop").click()
    expect(tab.get_by_text("The latest simulation is over.")).to_be_visible()


def test_command_menu_finds_and_opens_pages_by_keyboard(
    tab: Page, manager: str, letters: leaseq.Queue
) -> None:
    letters.configure(title="Letters to sort")
    sign_in(tab, manager)
    tab.goto("/day")
    tab.keyboard.press("Control+k")
    menu = tab.get_by_role("combobox", name="Go to …")
    expect(menu).to_be_focused()
    expect(tab.get_by_role("option", name="Your account")).to_be_visible()
    menu.fill("nothing of the kind")
    expect(tab.get_by_text("Nothing found.")).to_be_visible()
    menu.fill("sort SETT")
    expect(tab.get_by_role("option")).to_have_count(1)
    check_accessibility(tab)
    menu.fill("sort")
    expect(tab.get_by_role("option", name="Export")).to_be_visible()
    expect(tab.get_by_role("option").first).to_have_attribute("aria-selected", "true")
    menu.press("ArrowUp")
    menu.press("ArrowDown")
    menu.press("ArrowDown")
    menu.press("Enter")
    expect(tab).to_have_url(re.compile(rf"/manage/{re.escape(letters.name)}$"))
    tab.get_by_role("button", name="Go to …").click()
    menu.fill("nothing of the kind")
    expect(tab.get_by_role("option")).to_contain_text(["Search all items for “nothing of the kind”"])
    menu.press("Escape")
    expect(menu).to_be_hidden()
