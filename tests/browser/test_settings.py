"""A queue's settings in a browser: preview, errors with their lines, and typed text that is kept."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Dialog, Page, expect

import leaseq
from leaseq.webapp.store.accounts import Accounts
from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import PASSWORD
from tests.browser.sessions import sign_in
from tests.support.leases import finish_items
from tests.support.waiting import eventually

# Whether something else covers the middle of the message.
IS_COVERED = """() => {
  const said = document.querySelector("#save-problems p:not([hidden])");
  const { x, y, width, height } = said.getBoundingClientRect();
  const seen = document.elementFromPoint(x + width / 2, y + height / 2);
  return !(seen && said.contains(seen));
}"""
# Whether the focused element is visible.
FOCUS_IS_SEEN = """() => {
  const { x, y, width, height } = document.activeElement.getBoundingClientRect();
  return document.elementFromPoint(x + width / 2, y + height / 2) === document.activeElement;
}"""


@pytest.fixture
def settings_page(tab: Page, accounts: Accounts, queue: leaseq.Queue) -> Page:
    queue.configure(title="Triage")
    queue.enqueue({"text": "the item that waits"})
    manager = accounts.add(f"boss of {queue.name}", by="test", role="manager", password=PASSWORD).name
    sign_in(tab, manager)
    tab.goto(f"/manage/{queue.name}/settings")
    return tab


def test_preview_updates_while_form_is_typed(settings_page: Page, queue: leaseq.Queue) -> None:
    tab, preview = settings_page, settings_page.get_by_role("region", name="Preview")
    expect(preview).to_contain_text("the item that waits")
    form = {"show": ["text"], "ask": {"type": "object", "properties": {"mood": {"enum": ["glad", "sad"]}}}}
    text = json.dumps(form, indent=2)
    tab.get_by_role("tab", name="JSON").click()
    tab.get_by_label("Form", exact=True).fill(text)
    expect(preview.get_by_label("sad")).to_be_visible()
    tab.get_by_label("Form", exact=True).fill(text.replace('"enum": [', '"enum": [,'))
    error_button = preview.get_by_role("button", name="Line")
    expect(error_button).to_be_visible()
    expect(preview.get_by_label("sad")).to_be_visible()  # the last valid form stays
    error_button.click()
    expect(tab.get_by_label("Form", exact=True)).to_be_focused()
    tab.get_by_label("Form", exact=True).fill(text)
    expect(error_button).to_have_count(0)
    tab.get_by_role("button", name="Save").click()
    expect(tab.get_by_text("Saved.", exact=True)).to_be_visible()
    assert queue.policy.form == form


def test_each_form_template_is_previewed_without_saving(settings_page: Page, queue: leaseq.Queue) -> None:
    tab = settings_page
    tab.get_by_label("Title").fill("My own title")
    for name, text in (
        ("Yes or no", "Is this message fine?"),
        ("Transcribe", "What does it say?"),
        ("Check a record", "City"),
    ):
        if not tab.get_by_role("button", name=name).is_visible():
            tab.get_by_text("Start from a template").click()
        tab.get_by_role("button", name=name).click()
        if name != "Yes or no":
            tab.get_by_role("button", name="Replace").click()  # the form of the template before
        expect(tab.locator("#preview").get_by_text(text, exact=True).first).to_be_visible()
        expect(tab.get_by_label("Title")).to_have_value("My own title")
    check_accessibility(tab)
    tab.set_viewport_size({"width": 320, "height": 800})
    check_accessibility(tab, only_look=True)
    assert queue.policy.form is None


def test_settings_typed_before_session_end_are_saved_after_sign_in(
    tab: Page, accounts: Accounts, queue: leaseq.Queue
) -> None:
    manager = accounts.add(f"boss of {queue.name}", by="test", role="manager", password=PASSWORD).name
    queue.configure(title="Before")
    sign_in(tab, manager)
    tab.goto(f"/manage/{queue.name}/settings")
    tab.get_by_label("Instructions").fill("Typed for an hour")
    tab.context.clear_cookies()
    save_button = tab.locator(".save-bar").get_by_role("button", name="Save")
    save_button.click()
    expect(tab.get_by_text("You are signed out, and nothing is saved yet.")).to_be_visible()
    assert tab.evaluate(IS_COVERED) is False, "it is behind the bar with the buttons"
    other_tab = tab.context.new_page()
    sign_in(other_tab, manager)
    other_tab.close()
    save_button.click()
    expect(tab.get_by_text("Saved.", exact=True)).to_be_visible()
    assert queue.policy.instructions == "Typed for an hour"


def test_sections_are_edited_by_keys(settings_page: Page, queue: leaseq.Queue) -> None:
    tab = settings_page
    sections = tab.get_by_role("navigation", name="Sections")
    finish_items(queue, 20)
    tab.get_by_label("Title").focus()
    for _ in range(7):  # up to the button
        tab.keyboard.press("Tab")
        assert tab.evaluate(FOCUS_IS_SEEN), "it is behind the bar with the buttons"
    tab.get_by_label("Title").fill("Letters")
    sections.get_by_role("link", name="Time").press("Enter")
    expect(sections.get_by_role("link", name="Work (not saved)")).to_be_visible()
    tab.get_by_role("button", name="Use 2 min and save").press("Enter")
    expect(tab.get_by_text("Saved.", exact=True)).to_be_visible()
    assert (queue.policy.lease_seconds, queue.policy.title) == (120, "Triage")
    sections.get_by_role("link", name="Advanced").press("Enter")
    rules = tab.get_by_role("group", name="Alert rules")
    rules.get_by_label("What").select_option("Items that wait")
    rules.get_by_role("button", name="Add a rule").press("Enter")
    expect(rules.get_by_label("Items that wait")).to_be_focused()
    tab.keyboard.type("500")
    check_accessibility(tab)
    tab.keyboard.press("Enter")
    expect(tab.get_by_text("Saved.", exact=True)).to_be_visible()
    assert queue.policy.alerts == ("waiting>500",)
    rules.get_by_role("button", name="Remove").press("Enter")
    expect(rules.get_by_label("Items that wait")).to_be_hidden()
    tab.get_by_role("button", name="Discard changes").press("Enter")
    expect(rules.get_by_label("Items that wait")).to_have_value("500")
    sections.get_by_role("link", name="Work (not saved)").press("Enter")
    expect(tab.get_by_label("Title")).to_have_value("Letters")
    expect(tab.locator("#preview")).to_contain_text("Letters")
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    tab.once("dialog", stay)
    tab.get_by_role("link", name="People", exact=True).first.press("Enter")
    eventually(lambda: asked == ["beforeunload"], "the browser asks before it leaves")
    tab.get_by_label("Title").press("Enter")
    expect(tab.get_by_text("Saved.", exact=True)).to_be_visible()
    expect(sections.locator(".unsaved:visible")).to_have_count(0)
    assert queue.policy.title == "Letters"


def test_queue_access_is_limited_by_keys(
    settings_page: Page, accounts: Accounts, queue: leaseq.Queue, person: str
) -> None:
    tab, boss = settings_page, f"boss of {queue.name}"
    for number in range(9):  # so many that the list has a search
        accounts.add(f"other {number} of {queue.name}", by="test")
    tab.get_by_role("navigation", name="Sections").get_by_role("link", name="Access").press("Enter")
    group = tab.get_by_role("group", name="Who may work on this queue")
    people = tab.locator("[id='work.people']")
    expect(people).to_be_hidden()
    group.get_by_label("Everybody", exact=True).press("ArrowRight")
    people.get_by_label("Search").fill(f"other 3 of {queue.name}")
    people.get_by_label("Search").press("Enter")
    expect(group.get_by_text("Matches 1 person.")).to_be_visible()
    expect(group.get_by_text("lose access")).to_be_visible()
    people.get_by_label("Search").fill(boss)
    expect(people.get_by_label(boss)).to_be_visible()
    people.get_by_label(boss).press(" ")
    expect(group.get_by_text("Matches 2 people.")).to_be_visible()
    check_accessibility(tab)
    tab.get_by_role("button", name="Save").press("Enter")
    expect(tab.get_by_text("Saved.", exact=True)).to_be_visible()
    tab.context.clear_cookies()
    sign_in(tab, person)

    def is_gone() -> bool:  # each web process may need a second to see it
        tab.goto("/")
        count = tab.locator(f"main a[href$='/{queue.name}']").count()  # other queues are also called Letters
        tab.goto(f"/q/{queue.name}")
        return not count and tab.get_by_role("heading", name="There is nothing here").count() == 1

    eventually(is_gone, "the queue is gone")
