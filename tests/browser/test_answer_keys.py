"""Keys and suggestions of a long form: scales, rankings, and what the payload suggests."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, Route, expect

import leaseq
from tests.browser.work_page import begin, expect_item, fill_queue, result_of

REMEDIES = ["money", "machine", "voucher"]
FORM = {
    "show": ["text"],
    "ask": {
        "type": "object",
        "required": ["about", "angry"],
        "properties": {
            "about": {"title": "About", "enum": ["refund", "delivery"]},
            "angry": {"title": "How angry?", "type": "integer", "minimum": 1, "maximum": 5},
            "again": {"title": "Will they return?", "type": "integer", "minimum": 0, "maximum": 10},
            "remedies": {
                "title": "Best first",
                "type": "array",
                "items": {"enum": REMEDIES},
                "minItems": 3,
                "maxItems": 3,
                "uniqueItems": True,
            },
            "note": {"title": "Note", "type": "string", "maxLength": 100},
        },
    },
    "prefill": {"about": "guess.about", "note": "guess.note"},
}


def question(tab: Page, name: str) -> Locator:
    return tab.locator(f"#answer [data-name={name}]")


def places(tab: Page) -> list[str]:
    return question(tab, "remedies").locator(".place").all_inner_texts()


def test_focused_question_owns_the_digits(tab: Page, person: str, queue: leaseq.Queue) -> None:
    fill_queue(queue, FORM, items=2)
    begin(tab, person, queue)
    tab.keyboard.press("2")
    expect(question(tab, "about").get_by_label("delivery")).to_be_checked()
    tab.keyboard.press("4")  # no choice has this key: the first scale without an answer gets it
    expect(question(tab, "angry").get_by_label("4")).to_be_focused()
    tab.keyboard.press("2")
    expect(question(tab, "angry").get_by_label("2")).to_be_checked()
    question(tab, "again").get_by_label("0", exact=True).focus()
    for key in "1", "0":
        tab.keyboard.press(key)
    expect(question(tab, "again").get_by_label("10")).to_be_checked()
    question(tab, "remedies").get_by_role("button", name="money").focus()
    for key in "3", "1", "2":
        tab.keyboard.press(key)
    assert places(tab) == ["2", "3", "1"]
    tab.keyboard.press("1")  # again: without a place, and the others move up
    assert places(tab) == ["", "2", "1"]
    tab.keyboard.press("1")
    tab.keyboard.press("ArrowUp")  # the option that has the focus
    assert places(tab) == ["2", "3", "1"]
    tab.reload()  # the draft has all of it
    expect_item(tab, "message 1")
    assert places(tab) == ["2", "3", "1"]
    tab.keyboard.press("Control+Enter")
    expect_item(tab, "message 2")
    answer = result_of(queue, "m1")
    assert (answer["about"], answer["angry"], answer["again"]) == ("delivery", 2, 10)
    assert answer["remedies"] == ["voucher", "money", "machine"]
    tab.keyboard.press("u")
    expect_item(tab, "message 1")
    assert places(tab) == ["2", "3", "1"]


def test_suggestion_is_marked_until_it_is_changed_or_confirmed(
    tab: Page, person: str, queue: leaseq.Queue
) -> None:
    fill_queue(queue, FORM, items=0)
    for number in (1, 2):
        guess = {"about": "refund", "note": "loyal"}
        queue.enqueue({"text": f"message {number}", "guess": guess}, id=f"m{number}")
    begin(tab, person, queue)
    suggested = tab.locator("#answer [data-suggested]")
    expect(suggested).to_have_count(2)
    tab.keyboard.press("1")  # confirms what is chosen already
    expect(suggested).to_have_count(1)
    tab.get_by_label("Note").fill("very loyal")
    expect(suggested).to_have_count(0)
    question(tab, "angry").get_by_label("3").check()
    tab.keyboard.press("Control+Enter")
    expect_item(tab, "message 2")
    assert result_of(queue, "m1") == {"about": "refund", "angry": 3, "note": "very loyal"}
    assert queue.get("m1").answers[0].changed == ("note",)
    expect(suggested).to_have_count(2)
    tab.get_by_label("Note").fill("kept")  # a draft: what is as it was suggested is still marked
    expect(tab.locator("#draft-status")).to_have_text("Draft saved")
    tab.reload()
    expect_item(tab, "message 2")
    expect(suggested).to_have_count(1)


def test_slow_answer_shows_that_it_is_saved_and_refuses_keys_aloud(
    tab: Page, person: str, queue: leaseq.Queue
) -> None:
    fill_queue(queue, FORM, items=2)
    begin(tab, person, queue)
    tab.keyboard.press("1")
    question(tab, "angry").get_by_label("3").check()
    waiting: list[Route] = []

    def keep(route: Route) -> None:
        waiting.append(route)

    tab.route("**/finish", keep)
    button = tab.locator(".bar .primary")
    text = button.inner_text()
    tab.keyboard.press("Control+Enter")
    expect(button).to_have_class("primary saving")
    expect(button).not_to_have_text(text)
    assert tab.locator(".fields").evaluate("fields => Number(getComputedStyle(fields).opacity)") < 1
    tab.keyboard.press("2")
    expect(tab.locator("#key-refused")).not_to_be_empty()
    waiting[0].continue_()
    expect_item(tab, "message 2")
    assert result_of(queue, "m1")["about"] == "refund"
    expect(
        tab.locator("#key-refused")
    ).not_to_be_empty()  # it also stands on the next item, until the next key
    expect(question(tab, "about").locator(":checked")).to_have_count(0)
    tab.keyboard.press("2")
    expect(tab.locator("#key-refused")).to_be_empty()
    expect(question(tab, "about").get_by_label("delivery")).to_be_checked()
