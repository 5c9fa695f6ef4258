"""The form builder by keyboard, and conditions and rankings on the work page."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

import leaseq
from leaseq.webapp.store.accounts import Accounts
from tests.browser.accessibility import check_accessibility, check_width
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


BUILT: dict[str, Any] = {
    "how_good": {"title": "How good?", "type": "integer", "minimum": 1, "maximum": 3, "x-widget": "rating"},
    "orders": {
        "title": "Orders",
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"article": {"title": "Article", "type": "string"}, "pieces": {"type": "integer"}},
            "required": ["pieces"],
        },
    },
    "marks": {
        "title": "Marks",
        "type": "array",
        "x-widget": "passages",
        "x-text": "text",
        "items": {
            "type": "object",
            "required": ["start", "end", "label"],
            "properties": {
                "start": {"type": "integer", "minimum": 0},
                "end": {"type": "integer", "minimum": 0},
                "text": {"type": "string"},
                "label": {"enum": ["good", "bad"]},
            },
        },
    },
    "kind": {
        "title": "Kind",
        "type": "string",
        "enum": ["Animals / Dogs", "Animals / Cats", "Plants"],
        "x-widget": "tree",
    },
    "papers": {
        "title": "Papers",
        "type": "array",
        "x-widget": "file",
        "minItems": 1,
        "maxItems": 3,
        "items": {
            "type": "object",
            "required": ["key", "name", "size", "type"],
            "properties": {
                "key": {"type": "string"},
                "name": {"type": "string"},
                "size": {"type": "integer", "minimum": 1, "maximum": 2_500_000},
                "type": {"type": "string", "enum": ["application/pdf"]},
            },
        },
    },
}


def question_row(tab: Page, number: int) -> Locator:
    return tab.locator("#questions > .builder-row").nth(number)


def control(row: Locator, name: str) -> Locator:
    return row.locator(f"[data-field={name}]")


def titles(tab: Page) -> list[str]:
    return tab.locator("#questions > .builder-row summary [data-name]").all_inner_texts()


def add_question(tab: Page, title: str, kind: str) -> Locator:
    tab.locator("[data-add=question]").press("Enter")
    tab.keyboard.type(title)  # the title of the new row is focused
    row = tab.locator("#questions > .builder-row").last
    control(row, "kind").select_option(kind)
    return row


def type_options(row: Locator, *options: str) -> None:
    """Type options from the first on; Enter adds the next one."""
    row.locator("[data-entry=text]").first.focus()
    for number, option in enumerate(options):
        if number:
            row.page.keyboard.press("Enter")
        row.page.keyboard.type(option)


def add_further_kinds(tab: Page) -> None:
    """A rating up to 3, a table of two columns, passages, a tree, and files."""
    rating = add_question(tab, "How good?", "rating")
    control(rating, "maximum").fill("3")
    columns = add_question(tab, "Orders", "rows").locator("[data-list=members] > li")
    columns.nth(0).locator("[data-entry=text]").fill("Article")
    columns.nth(0).locator("[data-entry=value]").fill("article")
    columns.nth(1).locator("[data-entry=text]").fill("pieces")
    columns.nth(1).locator("[data-entry=kind]").select_option("integer")
    columns.nth(1).locator("[data-entry=need]").select_option("required")
    marks = add_question(tab, "Marks", "passages")
    expect(marks.locator("[data-part=text] select")).to_have_value("text")
    type_options(marks, "good", "bad")
    tree = add_question(tab, "Kind", "tree")
    control(tree, "paths").fill("Animals / Dogs\nAnimals / Cats\n\nPlants")
    files = add_question(tab, "Papers", "file")
    control(files, "count").fill("3")
    control(files, "megabytes").fill("2.5")
    control(files, "pdf").press("Space")
    expect(tab.locator("#preview").get_by_label("Article 1")).to_be_visible()
    expect(tab.locator("#preview").get_by_label("Choose files: Papers")).to_be_disabled()


def save(tab: Page) -> None:
    tab.get_by_role("button", name="Save").last.press("Enter")
    expect(tab.get_by_text("Saved.", exact=True)).to_be_visible()


def check_on_phone(tab: Page) -> None:
    tab.set_viewport_size({"width": 320, "height": 800})
    tab.evaluate("scrollTo(0, 0)")  # the bar at the bottom covers no row in part
    check_accessibility(tab, only_look=True)
    check_width(tab)


def test_form_is_built_by_keyboard(tab: Page, manager: str, queue: leaseq.Queue) -> None:
    open_settings(tab, manager, queue)
    tab.locator("[data-add=column]").press("Enter")
    column = tab.locator("#columns > .builder-row")
    picker = column.locator(".column-picker select").first
    expect(picker).to_have_value("text")  # the first column of the newest items
    picker.select_option("Another column …")
    tab.keyboard.type("colour")
    expect(tab.get_by_text("None of the searched items has: colour.")).to_be_visible()
    picker.select_option("text")
    about = add_question(tab, "What is it about?", "choice")
    type_options(about, "delivery", "refund")
    expect(about.locator("[data-entry=key]").nth(1)).to_have_attribute("placeholder", "2")
    about.locator("[data-entry=key]").nth(1).press("r")
    control(about, "required").press("Space")
    why = add_question(tab, "Which reason?", "text")
    control(why, "required").press("Space")
    control(why, "name").fill("why")
    why.locator("[data-condition=question]").select_option("What is it about?")
    why.get_by_label("refund").press("Space")
    add_further_kinds(tab)
    order = add_question(tab, "What matters?", "ranking")
    type_options(order, "speed", "care", "price")
    order.locator("[data-entry=text]").nth(2).press("Alt+ArrowUp")
    expect(order.locator("[data-entry=text]").nth(1)).to_be_focused()
    preview = tab.locator("#preview")
    expect(preview.get_by_label("Place 3")).to_be_visible()
    expect(preview.get_by_label("Which reason?")).to_be_hidden()
    preview.get_by_role("radio", name="refund").check()
    expect(preview.get_by_label("Which reason?")).to_be_visible()
    check_accessibility(tab)
    check_on_phone(tab)
    save(tab)
    expected = {**FORM, "ask": json.loads(json.dumps(FORM["ask"]).replace('"about":', '"what_is_it_about":'))}
    expected["ask"]["properties"] |= BUILT
    expected["ask"]["properties"]["what_matters"] = expected["ask"]["properties"].pop("order")
    expected["ask"]["required"] = ["what_is_it_about", "why"]
    expected["when"] = {"why": {"what_is_it_about": ["refund"]}}
    assert queue.policy.form == {**expected, "keys": {"r": {"what_is_it_about": "refund"}}}


ABOUT, WHY, ORDER = "What is it about?", "Which reason?", "What matters?"


def move_questions(tab: Page) -> None:
    """Move the last question before the second one: by keys, by the grip's keys, by dragging."""
    question_row(tab, 2).locator("summary").press("Alt+ArrowUp")
    assert titles(tab) == [ABOUT, ORDER, WHY]
    expect(question_row(tab, 1).locator("summary")).to_be_focused()
    question_row(tab, 1).locator("> .grip").press("ArrowDown")
    assert titles(tab) == [ABOUT, WHY, ORDER]
    grip, target = question_row(tab, 2).locator("> .grip"), question_row(tab, 1)
    grip.hover()
    tab.mouse.down()
    target.hover(position={"x": 10, "y": 2})
    tab.mouse.up()
    assert titles(tab) == [ABOUT, ORDER, WHY]


def choose_template(tab: Page, answer: str) -> None:
    tab.get_by_text("Start from a template").press("Enter")
    with tab.expect_navigation():
        tab.get_by_role("button", name="Yes or no").press("Enter")
    expect(tab.get_by_role("button", name="Keep my form")).to_be_focused()
    with tab.expect_navigation():
        tab.get_by_role("button", name=answer).press("Enter")


def test_questions_are_moved_duplicated_removed_and_replaced_only_if_confirmed(
    tab: Page, manager: str, queue: leaseq.Queue
) -> None:
    queue.configure(form={**FORM, "keys": {"r": {"about": "refund"}}})
    open_settings(tab, manager, queue)
    move_questions(tab)
    question_row(tab, 0).locator("summary").press("Enter")
    question_row(tab, 0).locator("[data-duplicate]").press("Enter")
    expect(control(question_row(tab, 1), "title")).to_be_focused()
    assert titles(tab) == [ABOUT, ABOUT, ORDER, WHY]
    expect(question_row(tab, 1).locator("[data-entry=key]").nth(1)).to_have_value("")
    question_row(tab, 0).locator("[data-remove]").press("Enter")
    assert titles(tab) == [ABOUT, ORDER, WHY]
    expect(tab.locator("[data-undo]")).to_be_focused()
    tab.keyboard.press("Enter")
    assert titles(tab) == [ABOUT, ABOUT, ORDER, WHY]
    expect(question_row(tab, 0).locator("[data-entry=key]").nth(1)).to_have_value("r")
    question_row(tab, 3).locator("summary").press("Enter")
    question_row(tab, 3).locator("[data-remove]").press("Enter")
    control(question_row(tab, 1), "title").fill("Second")
    choose_template(tab, "Keep my form")
    assert titles(tab) == [ABOUT, "Second", ORDER]
    save(tab)
    form = queue.policy.form
    names = ["about", "what_is_it_about", "order"]  # a name stays once its title was left
    assert list(form["ask"]["properties"]) == names
    assert (form["keys"], form["ask"]["required"]) == ({"r": {"about": "refund"}}, names[:2])
    open_settings(tab, manager, queue)
    choose_template(tab, "Replace")
    assert titles(tab) == ["Is this message fine?"]


WHY_SCHEMA = FORM["ask"]["properties"]["why"]
PROPERTIES: dict[str, Any] = {
    "about": {
        "title": "About",
        "description": "Help",
        "oneOf": [{"const": "refund", "title": "Refund", "$comment": "x"}, {"const": 2, "title": "Two"}],
    },
    "late": {"title": "Is it late?", "type": "boolean"},
    "why": WHY_SCHEMA,
    "score": {"type": "integer", "minimum": 1, "maximum": 3, "$comment": "y"},
    "by_hand": {"anyOf": [{"type": "string"}, {"type": "null"}], "minLength": 2},
    "who": {"type": "object", "properties": {"right": {"type": "boolean"}}},
    "tags": {"type": "array", "items": {"enum": [1, "1", None]}, "maxItems": 2},
}
HAND_WRITTEN: dict[str, Any] = {
    "show": ["text", {"field": "guess", "kind": "table"}],
    "ask": {**FORM["ask"], "properties": PROPERTIES, "required": ["why"], "additionalProperties": False},
    "when": {"why": {"about": ["refund"], "late": [True]}},
    "keys": {"d": {"about": "refund"}, "w": {"who.right": True}, "y": {"late": True}},
    "prefill": {"about": "guess.about", "who.right": "guess.right"},
}


def written(tab: Page) -> Any:
    return json.loads(tab.locator("#form").input_value())


def test_rows_keep_what_they_do_not_show(tab: Page, manager: str, queue: leaseq.Queue) -> None:
    queue.configure(form=HAND_WRITTEN)
    open_settings(tab, manager, queue)
    edited = json.loads(json.dumps(HAND_WRITTEN))
    about, why = question_row(tab, 0), question_row(tab, 2)
    about.locator("summary").press("Enter")
    expect(about.get_by_label("Suggest from column")).to_have_value("guess.about")
    control(about, "name").fill("topic")
    edited = json.loads(json.dumps(edited).replace('"about":', '"topic":'))
    assert written(tab) == edited
    about.locator("[data-entry=text]").nth(1).fill("Deux")
    edited["ask"]["properties"]["topic"]["oneOf"][1]["title"] = "Deux"
    assert written(tab) == edited
    about.locator("[data-entry=value]").nth(0).fill("money")  # its condition and its key follow
    edited["ask"]["properties"]["topic"]["oneOf"][0]["const"] = "money"
    edited["when"]["why"]["topic"] = ["money"]
    edited["keys"]["d"] = {"topic": "money"}
    assert written(tab) == edited
    why.locator("summary").press("Enter")
    expect(why.locator(".condition")).to_have_count(2)
    second_condition = why.locator(".condition").nth(1)
    expect(second_condition.get_by_label("Yes")).to_be_checked()
    second_condition.locator("select").select_option("(always)")
    expect(why.locator(".condition")).to_have_count(1)
    why.get_by_role("button", name="Add a condition").press("Enter")
    expect(second_condition.locator("select")).to_be_focused()
    second_condition.locator("select").select_option("Is it late?")
    second_condition.get_by_label("No").press("Space")
    edited["when"]["why"]["late"] = [False]
    assert written(tab) == edited
    tab.set_viewport_size({"width": 1280, "height": 2400})  # no row is behind the bar with the buttons
    check_accessibility(tab)
    tab.get_by_role("tab", name="Questions").press("ArrowRight")
    edited["ask"]["properties"]["why"]["title"] = "Because?"
    tab.locator("#form").fill(json.dumps(edited))
    tab.get_by_role("tab", name="JSON").press("ArrowLeft")
    expect(control(question_row(tab, 2), "title")).to_have_value("Because?")
    save(tab)
    assert queue.policy.form == edited


PASTE = """(input, text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  input.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
}"""


def test_kinds_have_parts_of_their_own(tab: Page, manager: str, queue: leaseq.Queue) -> None:
    difference = {"field": "before", "kind": "diff", "with": "after"}
    queue.configure(form={**HAND_WRITTEN, "show": ["text", difference]})
    open_settings(tab, manager, queue)
    column = tab.locator("#columns > .builder-row").nth(1)
    column.locator("summary").press("Enter")
    expect(control(column, "with")).to_have_value("after")
    expect(control(column, "currency")).to_be_hidden()
    control(column, "kind").select_option("money")
    control(column, "currency").fill("CHF")
    assert written(tab)["show"] == ["text", {"field": "before", "kind": "money", "currency": "CHF"}]
    control(column, "kind").select_option("diff")
    assert written(tab)["show"] == ["text", difference], "nothing that was typed is lost"
    score = question_row(tab, 3)
    score.locator("summary").press("Enter")
    control(score, "keys").fill("a c")
    control(score, "maximum").fill("4")
    form = written(tab)
    assert form["keys"] == {**HAND_WRITTEN["keys"], "a": {"score": 1}, "c": {"score": 3}}
    assert form["ask"]["properties"]["score"] == {**PROPERTIES["score"], "maximum": 4}


def test_invalid_json_cannot_be_edited_as_questions(tab: Page, manager: str, queue: leaseq.Queue) -> None:
    open_settings(tab, manager, queue)
    tab.get_by_role("tab", name="JSON").click()
    tab.get_by_label("Form", exact=True).fill('{"ask": ')
    tab.get_by_role("tab", name="Questions").click()
    expect(tab.get_by_text("has an error, so it can't be shown as questions")).to_be_visible()
    expect(tab.get_by_role("button", name="Add a question")).to_be_hidden()
    tab.get_by_role("tab", name="JSON").click()
    expect(tab.get_by_label("Form", exact=True)).to_have_value('{"ask": ')


def test_conditional_question_keeps_text_and_ranking_its_order(
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
    ranking = ["price", "care", "speed"]
    for name in ranking:
        with tab.expect_response("**/draft"):
            tab.get_by_role("button", name=name).click()
    tab.reload()
    expect(reason).to_have_value("broken")
    tab.keyboard.press("Control+Enter")
    expect(tab.get_by_text("Another one.")).to_be_visible()
    expect(reason).to_be_hidden()  # also on the next item
    (answer,) = queue.get("a").answers
    assert answer.result == {"about": "refund", "why": "broken", "order": ranking}


def test_pasted_options_and_questions_of_date_and_time_are_built_and_answered(
    tab: Page, manager: str, person: str, queue: leaseq.Queue
) -> None:
    open_settings(tab, manager, queue)
    pasted = add_question(tab, "Which?", "choice")
    pasted.locator("[data-entry=text]").first.evaluate(PASTE, "One\t1\tx\nTwo\n")
    assert written(tab)["ask"]["properties"]["which"]["oneOf"] == [
        {"const": "1", "title": "One"},
        {"const": "Two", "title": "Two"},
    ]
    assert written(tab)["keys"] == {"x": {"which": "1"}}
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
