"""Passages of a text, marked by keyboard alone, by mouse, and after a reload, an undo and new questions."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

import leaseq
from tests.browser.accessibility import check_accessibility
from tests.browser.work_page import begin, expect_item, result_of
from tests.support.passages import passages_of

TEXT = "Ann 👩‍👩‍👧 is nai\u0308ve.\r\n\U0001f600 $& She left."
MARKS = passages_of("text")
FORM: dict[str, Any] = {
    "show": ["text"],
    "ask": {
        "type": "object",
        "properties": {"fine": {"title": "Is it fine?", "type": "boolean"}, "marks": MARKS},
    },
    "keys": {"n": {"marks": "name"}, "m": {"marks": "mood"}, "y": {"fine": True}},
}


def fill_queue(queue: leaseq.Queue) -> None:
    queue.configure(title="Letters", form=FORM, lease_seconds=600)
    for number in (1, 2):
        queue.enqueue({"text": f"{TEXT} {number}"}, id=f"m{number}")


def words(tab: Page) -> list[str]:
    return tab.locator(".passages tbody tr:not([hidden]) td.words:not(:has(button))").all_inner_texts()


def mark(start: int, end: int, label: str) -> dict[str, Any]:
    return {"start": start, "end": end, "label": label, "text": TEXT[start:end]}


def select_by_keys(tab: Page, skipped: int, selected: int) -> None:
    """From the start of the text, in steps of the caret."""
    tab.keyboard.press("Control+Home")
    for _ in range(skipped):
        tab.keyboard.press("ArrowRight")
    for _ in range(selected):
        tab.keyboard.press("Shift+ArrowRight")


def test_passages_are_marked_by_keyboard_and_back_after_reload_and_undo(
    tab: Page, person: str, queue: leaseq.Queue
) -> None:
    fill_queue(queue)
    begin(tab, person, queue, "She left. 1")
    expect(tab.locator(".markable")).to_be_visible()
    keys = tab.keyboard
    keys.press("Tab")
    expect(tab.locator(".markable")).to_be_focused()
    for text in ("x", "Enter", "Backspace", "Delete"):
        keys.press(text)  # the text can't be changed
    select_by_keys(tab, 4, 1)  # a family is one step, and five code points
    keys.press("m")
    select_by_keys(tab, 0, 3)
    keys.press("n")
    keys.press("Control+Shift+End")  # the rest, over the line's end
    keys.press("m")
    assert words(tab) == ["Ann", "👩‍👩‍👧", f"{TEXT[4:]} 1"]
    expect(tab.locator(".table-actions [role=status]")).to_have_text(f"Marked: {TEXT[4:]} 1")
    select_by_keys(tab, 0, 3)
    keys.press("n")
    expect(tab.get_by_text("This is marked already.")).to_be_visible()
    keys.press("y")  # other keys work beside the text
    expect(tab.get_by_role("radio", name="Yes")).to_be_checked()
    check_accessibility(tab)

    tab.get_by_role("button", name="Remove 3").press("Enter")
    expect(tab.get_by_text("Row 3 removed.")).to_be_visible()
    tab.get_by_label("Label 2").select_option("name")
    tab.reload()
    expect_item(tab, "She left. 1")
    expect(tab.locator(".markable")).to_be_visible()
    assert words(tab) == ["Ann", "👩‍👩‍👧"]
    tab.get_by_label("Label 2").select_option("mood")
    keys.press("Control+Enter")
    expect_item(tab, "She left. 2")
    marks = [mark(0, 3, "name"), mark(4, 9, "mood")]
    assert result_of(queue, "m1") == {"fine": True, "marks": marks}
    keys.press("u")
    expect_item(tab, "She left. 1")
    expect(tab.locator(".markable")).to_be_visible()
    assert words(tab) == ["Ann", "👩‍👩‍👧"]


def test_passages_are_marked_by_mouse_also_beyond_the_basic_plane(
    tab: Page, person: str, queue: leaseq.Queue
) -> None:
    fill_queue(queue)
    begin(tab, person, queue, "She left. 1")
    text = tab.locator(".markable")
    expect(text).to_be_visible()
    tab.get_by_role("button", name="mood").click()
    expect(tab.get_by_text("Select words in the text first.")).to_be_visible()
    tab.get_by_role("button", name="Keys").click()
    expect(tab.get_by_role("dialog", name="Keys")).to_contain_text("What matters? · mood")
    tab.keyboard.press("Escape")
    for start, end in ((15, 23), (24, 26)):  # UTF-16: with a space, and half of the smiley
        text.evaluate(
            """(text, [start, end]) =>
                getSelection().setBaseAndExtent(text.firstChild, start, text.firstChild, end)""",
            [start, end],
        )
        tab.get_by_role("button", name="mood").click()
    assert tab.evaluate("[...CSS.highlights.get('mark-1')].map(String)") == words(tab)
    tab.keyboard.press("Control+Enter")
    expect_item(tab, "She left. 2")
    results = [(answer["start"], answer["end"], answer["text"]) for answer in result_of(queue, "m1")["marks"]]
    assert all(text == TEXT[start:end] for start, end, text in results)
    assert [text for _start, _end, text in results] == ["nai\u0308ve.", "\U0001f600"]
