"""A choice in a tree of hundreds, by keyboard."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

import leaseq
from tests.browser.accessibility import check_accessibility
from tests.browser.work_page import begin, expect_item, fill_queue, result_of

PATHS = [
    f"{kind} / Group {number // 20} / {kind[:-1]} {number}"
    for kind in ("Animals", "Plants", "Müller's things")
    for number in range(200)
]
FORM: dict[str, Any] = {
    "show": ["text"],
    "ask": {
        "type": "object",
        "required": ["what"],
        "properties": {
            "what": {"title": "What is it?", "enum": PATHS, "x-widget": "tree"},
            "note": {"title": "Note", "type": "string"},
        },
    },
    "when": {"note": {"what": [PATHS[21]]}},
}


def test_choice_in_a_tree_by_keyboard_and_back_after_reload_and_undo(
    tab: Page, person: str, queue: leaseq.Queue
) -> None:
    fill_queue(queue, FORM)
    begin(tab, person, queue)
    keys, chosen = tab.keyboard, tab.locator(".tree-chosen [role=status]")
    search, tree = tab.get_by_role("searchbox"), tab.get_by_role("tree", name="What is it?")
    expect(tree.get_by_role("treeitem")).to_have_text(["Animals", "Plants", "Müller's things"])
    search.focus()
    for step in ("Down", "Right", "Right", "Down", "Right", "Right", "Down"):
        keys.press(f"Arrow{step}")
    keys.press("Enter")
    expect(chosen).to_have_text("Selected: Animals › Group 1 › Animal 21")
    expect(tree.get_by_role("treeitem", selected=True)).to_be_focused()
    expect(tab.get_by_label("Note")).to_be_visible()  # asked after this answer
    check_accessibility(tab)
    keys.press("ArrowLeft")
    keys.press("ArrowLeft")
    group = tree.get_by_role("treeitem", name="Group 1", exact=True)
    expect(group).to_have_attribute("aria-expanded", "false")
    keys.type("muller 199")  # goes to the search
    expect(search).to_be_focused()
    expect(tree.get_by_role("treeitem")).to_have_text(["Müller's things › Group 9 › Müller's thing 199"])
    keys.press("Enter")
    expect(chosen).to_have_text("Selected: Müller's things › Group 9 › Müller's thing 199")
    expect(tab.get_by_label("Note")).to_be_hidden()

    tab.reload()
    expect_item(tab, "message 1")
    expect(chosen).to_have_text("Selected: Müller's things › Group 9 › Müller's thing 199")
    keys.press("Control+Enter")
    expect_item(tab, "message 2")
    assert result_of(queue, "m1") == {"what": PATHS[-1]}
    expect(chosen).to_be_empty()
    keys.press("Escape")
    keys.press("u")
    expect_item(tab, "message 1")
    expect(chosen).to_have_text("Selected: Müller's things › Group 9 › Müller's thing 199")
    tab.get_by_role("button", name="Clear").press("Enter")
    expect(chosen).to_be_empty()
    keys.press("Control+Enter")
    expect(tab.get_by_role("alert")).to_contain_text("What is it?")
    expect(search).to_be_focused()
