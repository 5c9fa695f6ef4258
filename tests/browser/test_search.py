"""A manager's search for items: words, form questions, sort order and saved searches."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

import leaseq
from tests.browser.sessions import sign_in
from tests.support.leases import take

FORM = {
    "show": ["text"],
    "ask": {
        "type": "object",
        "properties": {"rating": {"title": "Rating", "type": "integer"}, "note": {"type": "string"}},
    },
}


def test_items_are_found_by_words_by_answer_and_by_saved_search(
    tab: Page, manager: str, letters: leaseq.Queue
) -> None:
    letters.configure(form=FORM)
    for rating, note in ((1, "broken glass"), (5, "fine"), (2, "late")):
        letters.finish(take(letters, "ann"), {"rating": rating, "note": note})
    letters.enqueue({"text": "a glass of water"}, id="l4")
    titles = tab.locator("table.items a.title")
    sign_in(tab, manager)
    tab.goto(f"/manage/{letters.name}/items?state=finished")
    tab.get_by_role("searchbox", name="Find in items and answers").fill("glass")
    tab.keyboard.press("Enter")
    expect(titles).to_have_text(["letter 1"])  # the search stays in the list
    tab.get_by_role("checkbox", name="in all states").check()
    tab.get_by_role("searchbox", name="Find in items and answers").press("Enter")
    expect(titles).to_have_count(2)
    expect(titles.filter(has_text="a glass of water")).to_be_visible()  # by its payload, in another state
    expect(titles.filter(has_text="letter 1")).to_be_visible()  # by its answer
    expect(tab.locator("#found")).to_have_text("2 found")

    tab.get_by_role("link", name="Clear").press("Enter")
    tab.goto(f"/manage/{letters.name}/items?state=finished")
    tab.locator("summary", has_text="Filters").press("Enter")
    tab.get_by_role("textbox", name="Rating").fill("<= 2")
    tab.keyboard.press("Control+k")
    tab.keyboard.press("Escape")  # returns into the filters
    expect(tab.get_by_role("textbox", name="Rating")).to_be_focused()
    tab.get_by_role("textbox", name="Rating").press("Enter")
    expect(tab.locator(".chip")).to_have_text([re.compile("Rating ≤ 2")])
    expect(titles).to_have_text(["letter 3", "letter 1"])
    heading = tab.locator("th[aria-sort]")
    expect(heading).to_have_attribute("aria-sort", "descending")
    heading.get_by_role("link").press("Enter")
    expect(heading).to_have_attribute("aria-sort", "ascending")
    expect(titles).to_have_text(["letter 1", "letter 3"])

    tab.locator("summary", has_text="Save search").press("Enter")
    tab.get_by_role("textbox", name="Name").fill("Unhappy")
    tab.keyboard.press("Enter")
    view = tab.get_by_role("link", name="Unhappy")
    expect(view).to_have_attribute("aria-current", "page")
    tab.locator("summary", has_text="Save search").press("Enter")
    tab.get_by_label("Saved searches").select_option("Unhappy")
    tab.get_by_role("button", name="Remove", exact=True).press("Enter")
    expect(tab.get_by_text("The search is removed.")).to_be_visible()
    expect(view).to_have_count(0)
