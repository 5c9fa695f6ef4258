"""A table with rows, and a rating, by keyboard."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

import leaseq
from tests.browser.accessibility import check_accessibility
from tests.browser.work_page import begin, expect_item, fill_queue, result_of

ORDERS: dict[str, Any] = {
    "title": "What was ordered?",
    "type": "array",
    "maxItems": 200,
    "items": {
        "type": "object",
        "properties": {
            "article": {"title": "Article", "type": "string"},
            "pieces": {"title": "Pieces", "type": "integer", "minimum": 1},
            "size": {"title": "Size", "enum": ["small", "large"]},
        },
        "required": ["article"],
    },
}
FORM: dict[str, Any] = {
    "show": ["text"],
    "ask": {
        "type": "object",
        "properties": {
            "angry": {
                "title": "How angry?",
                "type": "integer",
                "minimum": 1,
                "maximum": 5,
                "x-widget": "rating",
            },
            "orders": ORDERS,
        },
    },
}
RESULT = {
    "angry": 4,
    "orders": [
        {"article": "Coffee machine", "pieces": 1, "size": "large"},
        {"article": "Mug", "pieces": 2},
        {"article": "Mug", "pieces": 2},
    ],
}


def cells(tab: Page, column: str) -> list[str]:
    return [box.input_value() for box in tab.get_by_label(column).all()]


def fill_in_by_keys(tab: Page) -> None:
    keys = tab.keyboard
    keys.press("4")
    expect(tab.get_by_role("radio", name="4")).to_be_checked()
    keys.press("Tab")
    expect(tab.get_by_label("Article 1")).to_be_focused()
    for text, key in (
        ("Coffee machine", "Tab"),
        ("1", "Tab"),
        ("l", "Enter"),
        ("Mug", "Tab"),
        ("2", "ArrowDown"),
    ):
        keys.type(text)
        keys.press(key)
    expect(tab.get_by_label("Pieces 3")).to_be_focused()
    keys.press("ArrowUp")
    keys.press("Control+d")
    expect(tab.get_by_label("Pieces 3")).to_be_focused()
    assert cells(tab, "Article") == ["Coffee machine", "Mug", "Mug", ""]
    keys.press("Enter")
    keys.press("Enter")  # at the last row: a new one
    expect(tab.get_by_label("Article 5")).to_be_focused()
    keys.press("Control+Shift+D")
    keys.press("ArrowUp")
    keys.press("ArrowUp")
    keys.press("ArrowUp")
    keys.press("Control+Shift+D")
    expect(tab.get_by_text("Row 1 removed.")).to_be_visible()
    assert cells(tab, "Article") == ["Mug", "Mug", ""]
    tab.get_by_role("button", name="Put it back").press("Enter")
    assert cells(tab, "Article") == ["Coffee machine", "Mug", "Mug", ""]


def test_table_and_rating_by_keyboard_and_back_after_reload_and_undo(
    tab: Page, person: str, queue: leaseq.Queue
) -> None:
    fill_queue(queue, FORM)
    begin(tab, person, queue)
    expect(tab.get_by_role("button", name="Add a row")).to_be_visible()
    fill_in_by_keys(tab)
    keys = tab.keyboard
    check_accessibility(tab)

    keys.press("End")
    keys.type(" XL")  # only this browser has it when the page is left
    tab.reload()
    expect_item(tab, "message 1")
    assert cells(tab, "Article") == ["Coffee machine XL", "Mug", "Mug", ""]
    assert cells(tab, "Pieces") == ["1", "2", "2", ""]
    tab.get_by_label("Article 1").fill("Coffee machine")
    expect(tab.get_by_text("Draft saved")).to_be_visible()
    keys.press("Control+Enter")
    expect_item(tab, "message 2")
    assert result_of(queue, "m1") == RESULT
    keys.press("u")
    expect_item(tab, "message 1")
    assert cells(tab, "Article")[:3] == ["Coffee machine", "Mug", "Mug"]
    expect(tab.get_by_role("radio", name="4")).to_be_checked()
    keys.press("Control+Enter")
    expect_item(tab, "message 2")
    assert result_of(queue, "m1") == RESULT


def test_two_hundred_rows_pasted_from_a_sheet_are_kept_and_one_more_is_refused(
    tab: Page, person: str, queue: leaseq.Queue
) -> None:
    fill_queue(queue, FORM)
    begin(tab, person, queue)
    expect(tab.get_by_role("button", name="Add a row")).to_be_visible()
    lines = "\r\n".join(f"article {n}\t{n}\tSmall" for n in range(1, 202))
    rows = tab.evaluate(
        """([selector, text]) => {
            const data = new DataTransfer();
            data.setData("text", text);
            document.querySelector(selector).dispatchEvent(
                new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
            return document.querySelectorAll(".rows tbody tr").length;
        }""",
        ['[name="answer.orders.0.article"]', lines],
    )
    assert rows == 200
    expect(tab.get_by_text("At most 200 rows.")).to_be_visible()
    expect(tab.get_by_text("Draft saved")).to_be_visible()
    tab.reload()
    expect_item(tab, "message 1")
    expect(tab.get_by_label("Pieces 200", exact=True)).to_have_value("200")
    tab.keyboard.press("Control+Enter")
    expect_item(tab, "message 2")
    assert len(result_of(queue, "m1")["orders"]) == 200
