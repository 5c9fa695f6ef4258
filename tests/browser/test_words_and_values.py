"""What people type and choose is what is stored: numbers, options, line breaks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

import leaseq
from tests.browser.accessibility import check_accessibility, check_width
from tests.browser.conftest import TIMEOUT_MS
from tests.browser.sessions import sign_in
from tests.browser.work_page import begin, expect_item, fill_queue, result_of


def form_of(*, required: bool = True, **properties: Any) -> dict[str, Any]:
    names = list(properties) if required else []
    return {"show": ["text"], "ask": {"type": "object", "required": names, "properties": properties}}


@pytest.fixture
def german_tab(chromium: Browser, address: str) -> Iterator[Page]:
    with chromium.new_context(base_url=address, locale="de-DE") as context:
        context.set_default_timeout(TIMEOUT_MS)
        yield context.new_page()


WEIGHT = form_of(weight={"title": "Weight", "type": "number", "minimum": 0, "maximum": 2500.5})


def begin_german(tab: Page, person: str, queue: leaseq.Queue) -> None:
    sign_in(tab, person)
    tab.goto(f"/q/{queue.name}")
    tab.get_by_role("button", name="Nächste Aufgabe").click()
    expect(tab.locator("#item")).to_contain_text("message 1")
    expect(tab.get_by_role("button", name="Tasten")).to_be_visible()  # the page's script has run


def test_german_numbers_are_typed_and_stepped_with_a_comma(
    german_tab: Page, person: str, queue: leaseq.Queue
) -> None:
    fill_queue(queue, WEIGHT)
    begin_german(german_tab, person, queue)
    box = german_tab.get_by_label("Weight")
    expect(box).to_have_attribute("inputmode", "decimal")
    expect(german_tab.locator(".fields")).to_contain_text("2.500,5")
    box.fill("1.234")
    box.press("Control+Enter")
    expect(german_tab.locator("#errors")).to_contain_text("1234")
    expect(german_tab.locator("#errors")).to_contain_text("1,234")
    expect(box).to_have_value("1.234")
    box.fill("3,5")
    box.press("ArrowUp")
    expect(box).to_have_value("4,5")
    expect(german_tab.get_by_text("Entwurf gespeichert")).to_be_visible()
    german_tab.reload()
    expect(german_tab.get_by_role("button", name="Tasten")).to_be_visible()
    expect(german_tab.get_by_label("Weight")).to_have_value("4,5")
    german_tab.get_by_label("Weight").press("Control+Enter")
    expect(german_tab.locator("#item")).to_contain_text("message 2")
    assert result_of(queue, "m1") == {"weight": 4.5}


def test_number_is_stored_as_it_was_meant_and_stays_as_typed_in_the_draft(
    tab: Page, person: str, queue: leaseq.Queue
) -> None:
    numbers = {".5": 0.5, "05": 5, "３．５": 3.5, "٣٫٥": 3.5, "३": 3, "3,5": 3.5}
    fill_queue(queue, WEIGHT, items=len(numbers) + 1)
    begin(tab, person, queue)
    for item, (text, number) in enumerate(numbers.items(), 1):
        tab.get_by_label("Weight").fill(text)
        expect(tab.get_by_text("Draft saved")).to_be_visible()
        tab.reload()
        expect_item(tab, f"message {item}")
        expect(tab.locator("#local-copy")).to_be_hidden()
        expect(tab.get_by_label("Weight")).to_have_value(text)
        tab.get_by_label("Weight").press("Control+Enter")
        expect_item(tab, f"message {item + 1}")
        assert result_of(queue, f"m{item}") == {"weight": number}


def test_strange_options_are_chosen_and_stored_exactly(tab: Page, person: str, queue: leaseq.Queue) -> None:
    grade = {"title": "Grade", "enum": ["", "good"]}
    label = {"title": "Label", "type": "array", "items": {"enum": ["two\r\nlines", "one line"]}}
    fill_queue(queue, form_of(grade=grade, label=label))
    begin(tab, person, queue)
    tab.get_by_role("checkbox", name="two lines").check()
    tab.keyboard.press("Control+Enter")
    expect(tab.get_by_role("alert").filter(has_text="Please answer this.")).to_be_visible()
    tab.get_by_role("radio", name="(empty)").check()
    expect(tab.get_by_text("Draft saved")).to_be_visible()
    tab.reload()
    expect_item(tab, "message 1")
    expect(tab.get_by_role("radio", name="(empty)")).to_be_checked()
    tab.keyboard.press("Control+Enter")
    expect_item(tab, "message 2")
    assert result_of(queue, "m1") == {"grade": "", "label": ["two\r\nlines"]}


def test_options_with_one_title_are_told_apart_among_suggestions(
    tab: Page, person: str, queue: leaseq.Queue
) -> None:
    senses = [{"const": f"s{n}", "title": f"Sense {n}"} for n in range(15)]
    banks = [{"const": "bank-river", "title": "Bank"}, {"const": "bank-money", "title": "Bank"}]
    fill_queue(queue, form_of(w={"title": "Sense", "oneOf": banks + senses}))
    begin(tab, person, queue)
    box = tab.get_by_label("Sense")
    box.fill("bank")
    box.press("Control+Enter")
    expect(tab.locator("#errors")).to_contain_text("Bank (bank-money)")
    box.fill("Bank (bank-money)")
    box.press("Control+Enter")
    expect_item(tab, "message 2")
    assert result_of(queue, "m1") == {"w": "bank-money"}


def test_prefilled_line_breaks_of_a_short_text_stay(tab: Page, person: str, queue: leaseq.Queue) -> None:
    form = form_of(name={"title": "Name", "type": "string", "maxLength": 50})
    queue.enqueue({"text": "message 0", "guess": "two\nlines"}, id="m0")
    fill_queue(queue, {**form, "prefill": {"name": "guess"}}, items=1)
    begin(tab, person, queue, "message 0")
    expect(tab.get_by_role("textbox", name="Name")).to_have_value("two\nlines")
    tab.get_by_role("textbox", name="Name").press("Control+Enter")
    expect_item(tab, "message 1")
    assert result_of(queue, "m0") == {"name": "two\nlines"}


@pytest.mark.parametrize("width", [1280, 320])
def test_option_is_found_among_many_boxes(tab: Page, person: str, queue: leaseq.Queue, width: int) -> None:
    tab.set_viewport_size({"width": width, "height": 800})
    options = [*(f"label {n}" for n in range(200)), "Café"]
    tags = {"title": "Tags", "type": "array", "items": {"enum": options}}
    fill_queue(queue, form_of(tags=tags))
    begin(tab, person, queue)
    check_accessibility(tab)
    boxes = tab.get_by_role("group", name="Tags").locator(".choices")
    assert boxes.evaluate("one => one.clientHeight") <= 400, "half of the window: the next question is near"
    tab.get_by_role("checkbox", name="label 199").focus()
    expect(tab.get_by_role("checkbox", name="label 199")).to_be_in_viewport()
    search = tab.get_by_label("Find an option")
    search.press_sequentially("cafe")
    expect(tab.get_by_role("checkbox")).to_have_count(1)
    expect(tab.get_by_text("1 of 201 shown, 0 selected")).to_be_visible()
    search.press("Enter")
    expect(search).to_have_value("")
    expect(tab.get_by_role("checkbox")).to_have_count(201)
    expect(tab.get_by_role("checkbox", name="Café")).to_be_checked()
    search.press_sequentially("17 LABEL")
    tab.get_by_role("checkbox", name="label 117").check()
    expect(tab.get_by_text("12 of 201 shown, 2 selected")).to_be_visible()
    expect(tab.get_by_text("Draft saved")).to_be_visible()
    check_width(tab)
    tab.reload()
    expect_item(tab, "message 1")
    search.press("Control+Enter")
    expect_item(tab, "message 2")
    assert result_of(queue, "m1") == {"tags": ["label 117", "Café"]}
