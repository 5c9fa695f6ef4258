"""Error messages for unanswered questions on the work page of a phone."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

import leaseq
from tests.browser.accessibility import check_accessibility
from tests.browser.work_page import begin, expect_item, fill_queue, result_of

FORM: dict[str, Any] = {
    "show": ["text"],
    "ask": {
        "type": "object",
        "required": ["about", "urgent", "kind"],
        "properties": {
            "about": {"title": "About", "enum": ["delivery", "refund", "other"]},
            "urgent": {"title": "How urgent", "enum": ["today", "later"]},
            "kind": {"title": "Kind", "enum": ["letter", "call", "visit"]},
            "note": {"title": "Note", "type": "string"},
        },
    },
}
NO_ANSWER = "Please answer this."


@pytest.fixture
def phone(tab: Page) -> Page:
    tab.set_viewport_size({"width": 320, "height": 640})
    return tab


def overlap(first: Locator, second: Locator) -> float:
    """How many pixels of two elements' heights overlap."""
    box, other_box = first.bounding_box(), second.bounding_box()
    assert box is not None
    assert other_box is not None
    end = min(box["y"] + box["height"], other_box["y"] + other_box["height"])
    return max(0.0, end - max(box["y"], other_box["y"]))


@pytest.mark.parametrize("words", [1, 150])
def test_error_message_covers_neither_question_nor_button(
    phone: Page, person: str, queue: leaseq.Queue, words: int
) -> None:
    queue.enqueue({"text": "message " * words}, id="m1")
    begin(phone, person, fill_queue(queue, FORM, items=0), "message")
    button = phone.get_by_role("button", name="Finish and next")
    errors = phone.locator("#errors")
    phone.get_by_role("radio", name="refund").check(force=True)
    phone.get_by_role("radio", name="letter").check(force=True)
    question = phone.get_by_role("group", name="How urgent")
    question.evaluate(
        "group => scrollTo(0, scrollY + group.getBoundingClientRect().bottom - innerHeight + 130)"
    )
    phone.keyboard.press("Control+Enter")
    expect(errors).to_contain_text("How urgent")
    expect(question.get_by_role("radio").first).to_be_focused()
    expect(question).to_be_in_viewport(ratio=1)
    assert overlap(question, errors) == 0
    for top in range(0, phone.evaluate("document.documentElement.scrollHeight"), 40):
        phone.evaluate(f"scrollTo(0, {top})")
        assert overlap(button, errors) == 0, f"after scrolling by {top}"
    last_action = phone.get_by_text("Return with a note")
    assert overlap(last_action, errors) == 0, "at the end of the page, all of the form is above the message"
    check_accessibility(phone)


def test_an_answer_removes_its_error(phone: Page, person: str, queue: leaseq.Queue) -> None:
    begin(phone, person, fill_queue(queue, FORM, items=2))
    button = phone.get_by_role("button", name="Finish and next")
    errors = phone.locator("#errors")
    phone.get_by_role("radio", name="refund").check(force=True)
    button.click()
    lines = errors.get_by_role("listitem")
    expect(lines).to_have_text([f"How urgent: {NO_ANSWER}", f"Kind: {NO_ANSWER}"])
    question = phone.get_by_role("group", name="How urgent")
    expect(question).to_have_accessible_description(NO_ANSWER)
    phone.get_by_label("Note").fill("changes no error")
    expect(question.get_by_text(NO_ANSWER)).to_be_visible()
    question.get_by_role("radio", name="later").check(force=True)
    expect(question.get_by_text(NO_ANSWER)).to_have_count(0)
    expect(question).to_have_accessible_description("")
    expect(lines).to_have_text([f"Kind: {NO_ANSWER}"])
    phone.get_by_role("radio", name="call").check(force=True)
    expect(errors).to_have_count(0)
    expect(phone.get_by_text(NO_ANSWER)).to_have_count(0)
    button.click()
    expect_item(phone, "message 2")
    assert result_of(queue, "m1")["urgent"] == "later"


def test_a_report_removes_its_error(phone: Page, person: str, queue: leaseq.Queue) -> None:
    begin(phone, person, fill_queue(queue, FORM))
    phone.get_by_text("Report a problem").click()
    phone.get_by_role("button", name="Report", exact=True).click()
    box = phone.get_by_label("What is wrong with it?")
    expect(box).to_be_focused()
    expect(box).to_have_attribute("aria-invalid", "true")
    assert overlap(box, phone.locator("#errors")) == 0
    box.fill("cut off")
    expect(phone.locator("#errors")).to_have_count(0)
    expect(box).not_to_have_attribute("aria-invalid", "true")
