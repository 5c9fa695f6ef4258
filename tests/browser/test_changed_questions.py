"""The form changes while a person has typed something: nothing of it is lost in the browser."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

import leaseq
from tests.browser.accessibility import check_accessibility
from tests.browser.work_page import begin, expect_item, fill_queue, result_of


def form_of(**properties: Any) -> dict[str, Any]:
    return {"show": ["text"], "ask": {"type": "object", "properties": properties}}


OLD = form_of(
    about={"title": "About", "enum": ["delivery", "refund"]},
    note={"title": "Note", "type": "string", "maxLength": 500},
)
NEW = form_of(
    about={"title": "Topic", "enum": ["delivery", "money"]},
    comment={"title": "Comment", "type": "string", "maxLength": 500},
)


@pytest.mark.parametrize("width", [1280, 320])
def test_typed_words_are_shown_with_the_new_questions_until_the_person_finishes(
    tab: Page, person: str, queue: leaseq.Queue, width: int
) -> None:
    tab.set_viewport_size({"width": width, "height": 800})
    fill_queue(queue, OLD)
    begin(tab, person, queue)
    tab.get_by_role("radio", name="refund").check()
    tab.get_by_label("Note").fill("half a\nthought")
    expect(tab.get_by_text("Draft saved")).to_be_visible()
    queue.configure(form=NEW)
    tab.get_by_role("button", name="Finish and next").click()
    expect(tab.get_by_role("alert").filter(has_text="have changed")).to_be_visible()
    gone = tab.get_by_role("region", name="The questions have changed")
    expect(gone.get_by_label("Note")).to_have_value("half a\nthought")
    expect(gone.get_by_label("Topic")).to_have_value("refund")
    expect(tab.locator("#local-copy")).to_be_hidden()
    check_accessibility(tab)
    assert queue.get("m1").answers == ()

    with tab.expect_response(lambda response: response.url.endswith("/draft")):
        tab.get_by_label("Comment").fill("a thought")
    expect(tab.get_by_text("Draft saved")).to_be_visible()
    tab.reload()
    expect_item(tab, "message 1")
    expect(gone.get_by_label("Note")).to_have_value("half a\nthought")
    expect(gone.get_by_label("Topic")).to_have_value("refund")
    expect(tab.get_by_label("Comment")).to_have_value("a thought")
    expect(tab.locator("#local-copy")).to_be_hidden()
    tab.get_by_role("radio", name="money").check()
    tab.get_by_role("button", name="Finish and next").click()
    expect_item(tab, "message 2")
    assert result_of(queue, "m1") == {"about": "money", "comment": "a thought"}
    expect(gone).to_be_hidden()


def test_words_that_only_the_browser_has_are_shown_with_the_new_questions(
    tab: Page, person: str, queue: leaseq.Queue
) -> None:
    fill_queue(queue, OLD)
    begin(tab, person, queue)
    tab.context.set_offline(True)
    tab.get_by_role("radio", name="refund").check()
    tab.get_by_label("Note").fill("typed offline")
    expect(tab.get_by_text("Kept in this browser: no connection")).to_be_visible()
    queue.configure(form=NEW)
    other_tab = tab.context.new_page()
    tab.close()
    other_tab.context.set_offline(False)
    other_tab.goto(f"/q/{queue.name}")
    expect_item(other_tab, "message 1")
    gone = other_tab.get_by_role("region", name="The questions have changed")
    expect(gone.get_by_label("Note")).to_have_value("typed offline")
    expect(gone.get_by_label("Topic")).to_have_value("refund")
    expect(other_tab.get_by_text("Draft saved")).to_be_visible()
    assert queue.mine(person)[0].draft == {"about": "refund", "note": "typed offline"}
    other_tab.reload()
    expect(gone.get_by_label("Note")).to_have_value("typed offline")


def test_words_move_between_a_tab_with_the_old_and_one_with_the_new_questions(
    tab: Page, person: str, queue: leaseq.Queue
) -> None:
    fill_queue(queue, OLD)
    begin(tab, person, queue)
    tab.get_by_label("Note").fill("typed in the first tab")
    expect(tab.get_by_text("Draft saved")).to_be_visible()
    queue.configure(form=NEW)
    other_tab = tab.context.new_page()
    other_tab.goto(f"/q/{queue.name}")
    other_tab.get_by_role("button", name="Work here instead").click()
    gone = other_tab.get_by_role("region", name="The questions have changed")
    expect(gone.get_by_label("Note")).to_have_value("typed in the first tab")
    expect(gone.locator("textarea")).to_have_count(1)


def test_draft_with_deleted_text_stays_deleted(tab: Page, person: str, queue: leaseq.Queue) -> None:
    fill_queue(queue, OLD)
    begin(tab, person, queue)
    tab.get_by_label("Note").fill("too much")
    expect(tab.get_by_text("Draft saved")).to_be_visible()
    tab.get_by_label("Note").fill("")
    expect(tab.get_by_text("Draft saved")).to_be_visible()
    tab.reload()
    expect_item(tab, "message 1")
    expect(tab.get_by_label("Note")).to_have_value("")
