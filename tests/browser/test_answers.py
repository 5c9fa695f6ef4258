"""A manager reads the answers, finds items by them, and corrects an answer on the item's page."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

import leaseq
from tests.browser.accessibility import check_accessibility
from tests.browser.sessions import sign_in
from tests.browser.work_page import begin, sign_out
from tests.support.leases import take


def test_an_answer_is_corrected_and_its_item_reopened(
    tab: Page, manager: str, person: str, letters: leaseq.Queue
) -> None:
    letters.finish(take(letters, "ann"), {"answer": "frist"})
    sign_in(tab, manager)
    tab.goto(f"/manage/{letters.name}/items/l1")
    tab.get_by_role("link", name="Correct").click()
    expect(tab.get_by_label("Your answer")).to_have_value("frist")
    check_accessibility(tab)
    tab.get_by_label("Your answer").fill("first")
    tab.get_by_role("button", name="Save the correction").click()
    expect(tab.get_by_role("cell", name="first", exact=True)).to_be_visible()
    expect(tab.get_by_text("earlier answer", exact=True)).to_be_visible()
    check_accessibility(tab)
    tab.locator("summary", has_text="Reopen").click()
    tab.get_by_label("What should be done differently?").fill("all of it")
    check_accessibility(tab)
    tab.get_by_role("button", name="Reopen").click()
    expect(tab.get_by_text("It is waiting again.")).to_be_visible()
    item = letters.get("l1")
    assert (item.state, len(item.late_answers)) == ("inbound", 2)
    begin(sign_out(tab), person, letters, "letter 1")
    expect(tab.get_by_role("region", name="Why it was reopened")).to_contain_text("all of it")


def test_answer_share_links_to_list_that_can_be_filtered_and_saved(
    tab: Page, manager: str, letters: leaseq.Queue
) -> None:
    letters.configure(
        form={
            "show": [{"field": "text", "label": "Letter"}],
            "ask": {
                "type": "object",
                "properties": {"about": {"title": "About", "enum": ["refund", "other"]}},
            },
        }
    )
    for about, person in (("refund", "ann"), ("other", "ann"), ("refund", "bob")):
        letters.finish(take(letters, person), {"about": about})
    sign_in(tab, manager)
    tab.goto(f"/manage/{letters.name}/answers")
    row = tab.get_by_role("region", name="About").get_by_role("row", name="refund")
    expect(row).to_contain_text("67 %")
    row.get_by_role("link", name="refund").press("Enter")
    titles, chips = tab.locator("table.items a.title"), tab.locator(".chip")
    expect(chips).to_have_text([re.compile("About: refund")])
    expect(titles).to_have_text(["letter 3", "letter 1"])
    filters = tab.locator("summary", has_text="Filters")
    filters.press("Enter")
    tab.get_by_role("combobox", name="Person").fill("bob")
    tab.keyboard.press("Enter")
    expect(titles).to_have_text(["letter 3"])
    tab.get_by_role("link", name=re.compile("Remove the filter.*bob")).press("Enter")
    expect(titles).to_have_text(["letter 3", "letter 1"])
    tab.locator("summary", has_text="Columns").press("Enter")
    tab.get_by_role("checkbox", name="Letter").press("Space")
    tab.get_by_role("button", name="Save columns").press("Enter")
    expect(tab.get_by_role("columnheader", name="Letter")).to_be_visible()
    expect(tab.locator("td.excerpt", has_text="letter 3")).to_be_visible()
    tab.locator("summary", has_text="Save search").press("Enter")
    tab.get_by_role("textbox", name="Name").fill("Refunds")
    tab.keyboard.press("Enter")
    view = tab.get_by_role("link", name="Refunds")
    expect(view).to_have_attribute("aria-current", "page")
    check_accessibility(tab)
    tab.get_by_role("link", name="Clear").press("Enter")
    expect(titles).to_have_count(3)
    view.press("Enter")
    expect(view).to_have_attribute("aria-current", "page")
    expect(titles).to_have_text(["letter 3", "letter 1"])


def test_numeric_answers_are_shown_as_histogram_by_person_and_day(
    tab: Page, manager: str, letters: leaseq.Queue
) -> None:
    ask = {"type": "object", "properties": {"rating": {"title": "Rating", "type": "integer"}}}
    letters.configure(form={"show": ["text"], "ask": ask})
    for rating, person in ((1, "ann"), (5, "ann"), (5, "bob")):
        letters.finish(take(letters, person), {"rating": rating})
    sign_in(tab, manager)
    tab.goto(f"/manage/{letters.name}/answers")
    bars = tab.get_by_role("region", name="Rating", exact=True)
    expect(bars.get_by_role("row", name=re.compile("^5"))).to_contain_text("67 %")
    for grouping, name, count, share in (("Person", "ann", 2, "50 %"), ("Day", None, 3, "67 %")):
        tab.get_by_label("Compare by").select_option(grouping)
        tab.get_by_role("button", name="Show").press("Enter")
        row = tab.locator(".groups tbody tr", has_text=name) if name else tab.locator(".groups tbody tr")
        expect(row.get_by_role("cell").last).to_have_text(share)  # share of those who gave a 5
        row.get_by_role("link", name=str(count), exact=True).press("Enter")
        expect(tab.locator("table.items a.title")).to_have_count(count)
        tab.go_back()
