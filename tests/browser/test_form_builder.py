"""The form builder by keyboard, and conditions and rankings on the work page."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

import leaseq
from leaseq.webapp.store.accounts import Accounts
from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import PASSWORD
from tests.browser.sessions import sign_in
from tests.browser.work_page import begin, sign_out

FORM: dict[str, Any] = {
    "show": [{"field": "text", "kind": "text"}],
    "ask": {
        "type": "object",
        "required": ["about", "why"],
        "properties": {
            "about": {"title": "What is it about?", "type": "string", "enum": ["delivery", "refund"]},
            "why": {"title": "Which reason?", "type": "string", "maxLength": 120},
            "order": {
                "title": "What matters?",
                "type": "array",
                "uniqueItems": True,
                "minItems": 3,
                "maxItems": 3,
                "items": {"enum": ["speed", "price", "care"]},
            },
        },
    },
    "when": {"why": {"about": ["refund"]}},
}


@pytest.fixture
def manager(accounts: Accounts, queue: leaseq.Queue) -> str:
    queue.enqueue({"text": "My parcel is not here.", "guess": {"about": "refund"}})
    return accounts.add(f"boss of {queue.name}", by="test", role="manager", password=PASSWORD).name


def open_settings(tab: Page, manager: str, queue: leaseq.Queue) -> Page:
    sign_in(tab, manager)
    tab.goto(f"/manage/{queue.name}/settings")
    return tab


def question_row(tab: Page, number: int) -> Locator:
    return tab.locator("#questions > .row").nth(number)


def add_question(tab: Page, title: str, kind: str) -> Locator:
    tab.get_by_role("button", name="Add a question").press("Enter")
    tab.keyboard.type(title)  # the title of the new row is focused
    row = tab.locator("#questions > .row").last
    row.get_by_label("Kind of answer").select_option(kind)
    return row


def save(tab: Page) -> None:
    tab.get_by_role("button", name="Save").last.press("Enter")
    expect(tab.get_by_text("Saved.", exact=True)).to_be_visible()


def test_form_is_built_by_keyboard(tab: Page, manager: str, queue: leaseq.Queue) -> None:
    open_settings(tab, manager, queue)
    tab.get_by_role("button", name="Add a field").press("Enter")
    tab.keyboard.type("colour")
    expect(tab.get_by_text("None of the searched items has: colour.")).to_be_visible()
    tab.keyboard.press("Control+a")
    tab.keyboard.type("text")
    about = add_question(tab, "What is it about?", "choice")
    about.get_by_label("Options, one per line").fill("delivery\nrefund")
    about.get_by_label("Must be answered").press("Space")
    why = add_question(tab, "Which reason?", "text")
    why.get_by_label("Must be answered").press("Space")
    why.locator("summary").press("Enter")
    why.get_by_label("Key in the answer").fill("why")
    why.get_by_label("Ask only after").select_option("What is it about?")
    why.get_by_label("refund").press("Space")
    order = add_question(tab, "What matters?", "ranking")
    order.get_by_label("Options, one per line").fill("speed\nprice\ncare")
    preview = tab.get_by_role("region", name="Preview")
    expect(preview.get_by_label("Place 3")).to_be_visible()
    expect(preview.get_by_label("Which reason?")).to_be_hidden()
    preview.get_by_role("radio", name="refund").check()
    expect(preview.get_by_label("Which reason?")).to_be_visible()
    check_accessibility(tab)
    tab.set_viewport_size({"width": 320, "height": 800})
    check_accessibility(tab)
    save(tab)
    expected = {**FORM, "ask": json.loads(json.dumps(FORM["ask"]).replace('"about":', '"what_is_it_about":'))}
    expected["ask"]["properties"]["what_matters"] = expected["ask"]["properties"].pop("order")
    expected["ask"]["required"] = ["what_is_it_about", "why"]
    expected["when"] = {"why": {"what_is_it_about": ["refund"]}}
    assert queue.policy.form == expected


def test_question_rows_and_json_edit_same_form(tab: Page, manager: str, queue: leaseq.Queue) -> None:
    questions = FORM["ask"]["properties"]
    late = {"title": "Is it late?", "type": "boolean"}
    properties = {
        "about": questions["about"],
        "late": late,
        "why": questions["why"],
        "order": questions["order"],
    }
    ask = {**FORM["ask"], "properties": properties, "additionalProperties": False}
    when = {"why": {"about": ["refund"], "late": [True]}}
    form = {
        **FORM,
        "ask": ask,
        "when": when,
        "keys": {"d": {"about": "delivery"}},
        "prefill": {"about": "guess.about"},
    }
    queue.configure(form=form)
    open_settings(tab, manager, queue)
    first_row = question_row(tab, 0)
    first_row.locator("summary").press("Enter")
    expect(first_row.get_by_label("Filled in from")).to_have_value("guess.about")
    first_row.get_by_label("Key in the answer").fill("topic")
    why = question_row(tab, 2)
    why.locator("summary").press("Enter")
    expect(why.locator(".condition")).to_have_count(2)
    second_condition = why.locator(".condition").nth(1)
    expect(second_condition.get_by_label("and after")).to_have_value("late")
    expect(second_condition.get_by_label("Yes")).to_be_checked()
    second_condition.get_by_label("and after").select_option("(always ask)")
    expect(why.locator(".condition")).to_have_count(1)
    why.get_by_role("button", name="Add a condition").press("Enter")
    expect(second_condition.get_by_label("and after")).to_be_focused()
    second_condition.get_by_label("and after").select_option("Is it late?")
    second_condition.get_by_label("No").press("Space")
    check_accessibility(tab)
    question_row(tab, 3).get_by_role("button", name="Move up").press("Enter")
    expect(question_row(tab, 2).get_by_label("Question", exact=True)).to_have_value("What matters?")
    tab.get_by_role("tab", name="Questions").press("ArrowRight")
    edited_form = json.loads(tab.get_by_label("Form", exact=True).input_value())
    assert list(edited_form["ask"]["properties"]) == ["topic", "late", "order", "why"]
    assert edited_form["ask"]["additionalProperties"] is False
    assert (edited_form["keys"], edited_form["prefill"]) == (
        {"d": {"topic": "delivery"}},
        {"topic": "guess.about"},
    )
    assert edited_form["when"] == {"why": {"topic": ["refund"], "late": [False]}}
    edited_form["ask"]["properties"]["why"]["title"] = "Because?"
    tab.get_by_label("Form", exact=True).fill(json.dumps(edited_form))
    tab.get_by_role("tab", name="JSON").press("ArrowLeft")
    expect(question_row(tab, 3).get_by_label("Question", exact=True)).to_have_value("Because?")
    question_row(tab, 2).get_by_role("button", name="Remove").press("Enter")
    save(tab)
    assert list(queue.policy.form["ask"]["properties"]) == ["topic", "late", "why"]


def test_invalid_json_cannot_be_edited_as_questions(tab: Page, manager: str, queue: leaseq.Queue) -> None:
    open_settings(tab, manager, queue)
    tab.get_by_role("tab", name="JSON").click()
    tab.get_by_label("Form", exact=True).fill('{"ask": ')
    tab.get_by_role("tab", name="Questions").click()
    expect(tab.get_by_text("has an error, so it can't be shown as questions")).to_be_visible()
    expect(tab.get_by_role("button", name="Add a question")).to_be_hidden()
    tab.get_by_role("tab", name="JSON").click()
    expect(tab.get_by_label("Form", exact=True)).to_have_value('{"ask": ')


def test_conditional_question_keeps_text_and_ranking_swaps_places(
    tab: Page, person: str, queue: leaseq.Queue
) -> None:
    queue.configure(form=FORM)
    queue.enqueue({"text": "My parcel is not here."}, id="a")
    queue.enqueue({"text": "Another one."}, id="b")
    sign_in(tab, person)
    tab.goto(f"/q/{queue.name}")
    tab.get_by_role("button", name="Next item").click()
    reason = tab.get_by_label("Which reason?")
    expect(reason).to_be_hidden()
    tab.get_by_role("radio", name="refund").check()
    reason.fill("broken")
    check_accessibility(tab)
    tab.get_by_role("radio", name="delivery").check()
    expect(reason).to_be_hidden()
    tab.get_by_role("radio", name="refund").check()
    expect(reason).to_have_value("broken")  # selecting another answer does not lose what was typed
    places = [tab.get_by_label(f"Place {n}") for n in (1, 2, 3)]
    for place, choice in zip(places, ("price", "speed", "care"), strict=True):
        place.select_option(choice)
    places[2].select_option("price")
    expect(places[0]).to_have_value("care")
    with tab.expect_response("**/draft"):
        places[1].press("End")
    tab.reload()
    expect(reason).to_have_value("broken")
    ranking = [place.input_value() for place in places]
    assert sorted(ranking) == ["care", "price", "speed"]
    tab.keyboard.press("Control+Enter")
    expect(tab.get_by_text("Another one.")).to_be_visible()
    expect(reason).to_be_hidden()  # also on the next item
    (answer,) = queue.get("a").answers
    assert answer.result == {"about": "refund", "why": "broken", "order": ranking}


def test_date_and_time_questions_are_built_and_answered(
    tab: Page, manager: str, person: str, queue: leaseq.Queue
) -> None:
    open_settings(tab, manager, queue)
    add_question(tab, "Which day?", "date")
    add_question(tab, "At what time?", "time")
    save(tab)
    begin(sign_out(tab), person, queue, "My parcel is not here.")
    tab.get_by_label("Which day?").fill("2026-11-24")
    tab.get_by_label("At what time?").fill("08:30")
    tab.keyboard.press("Control+Enter")
    expect(tab.locator("#undo-message")).to_be_visible()
    (answer,) = queue.answers()
    assert list(answer.result.values()) == ["2026-11-24", "08:30:00Z"]
