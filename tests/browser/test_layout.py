"""The layout of the work page: the item in full, and choices that stand still."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

import leaseq
from tests.browser.work_page import TRIAGE, begin, expect_item, fill_queue

LONG = "It was a dark and stormy night; the rain fell in torrents. " * 120


def box(locator: Locator) -> Any:
    return locator.bounding_box()


def enqueue(queue: leaseq.Queue, *texts: str) -> None:
    for number, text in enumerate(texts, 1):
        queue.enqueue({"text": text}, id=f"m{number}")


def finish(tab: Page) -> None:
    tab.keyboard.press("1")
    tab.keyboard.press("q")
    tab.keyboard.press("Control+Enter")


def test_item_stands_above_its_questions_where_both_fit(tab: Page, person: str, queue: leaseq.Queue) -> None:
    fill_queue(queue, TRIAGE, items=0)
    enqueue(queue, "one line", "two lines. " * 12, "short again", LONG, "short at last")
    tab.set_viewport_size({"width": 1280, "height": 800})
    begin(tab, person, queue, "one line")
    item, fields, finish_button = tab.locator("#item"), tab.locator(".fields"), tab.locator(".bar .primary")
    assert box(fields)["y"] >= box(item)["y"] + box(item)["height"]
    finish(tab)
    expect_item(tab, "two lines.")
    top = box(fields)["y"]
    finish(tab)
    expect_item(tab, "short again")
    assert box(fields)["y"] == top, "the choices stand where they stood"
    finish(tab)
    expect_item(tab, "stormy night")
    assert box(fields)["x"] >= box(item)["x"] + box(item)["width"]
    assert box(item)["height"] > 500
    expect(item).to_have_class("item continues auto-focused")
    item.evaluate("item => item.scrollTo(0, item.scrollHeight)")
    expect(item).not_to_have_class("item continues auto-focused")
    top = box(fields)["y"]
    finish(tab)
    expect_item(tab, "short at last")
    assert (box(fields)["y"], box(fields)["x"] > box(item)["x"]) == (top, True), "it changes once"
    assert box(finish_button)["y"] + box(finish_button)["height"] <= 800
    tab.set_viewport_size({"width": 1280, "height": 820})
    expect(tab.locator("#item-view.stacked")).to_be_visible()  # the page is told a moment later
    assert box(fields)["y"] >= box(item)["y"] + box(item)["height"]


def test_page_names_all_scripts_that_it_loads(tab: Page, person: str, queue: leaseq.Queue) -> None:
    """So a slow line is waited for once, and not again for each level of imports."""
    fill_queue(queue, TRIAGE)
    tab.goto("/login")
    ahead = set(
        tab.evaluate("[...document.querySelectorAll('link[rel=modulepreload]')].map((it) => it.href)")
    )
    begin(tab, person, queue)
    entries = tab.evaluate(
        "performance.getEntriesByType('resource').map((it) => [it.name, it.encodedBodySize])"
    )
    sizes = dict(entries)
    named = tab.evaluate("[...document.querySelectorAll('script[src], link')].map((it) => it.src || it.href)")
    scripts = {url for url in sizes if url.endswith(".js")}
    assert len(scripts) > 20
    assert scripts <= set(named)
    late = {url.rsplit("/", 1)[1] for url in scripts - ahead}
    assert late <= {"page.js", "command-menu.js"}, "the page before it loads the others"
    assert 20_000 < sum(size for url, size in sizes.items() if url.endswith((".js", ".css"))) <= 60_000


@pytest.mark.parametrize(("width", "height"), [(1024, 768), (640, 400), (390, 844), (320, 640)])
def test_page_scrolls_with_the_button_in_reach(
    tab: Page, person: str, queue: leaseq.Queue, width: int, height: int
) -> None:
    fill_queue(queue, TRIAGE, items=0)
    enqueue(queue, LONG)
    tab.set_viewport_size({"width": width, "height": height})
    begin(tab, person, queue, "stormy night")
    finish_button = tab.locator(".bar .primary")
    assert box(finish_button)["y"] + box(finish_button)["height"] <= height
    to_questions = tab.locator(".to-questions")
    to_questions.click()
    expect(tab.get_by_label("delivery")).to_be_focused()
    expect(tab.get_by_label("delivery")).to_be_in_viewport()
    expect(to_questions).to_be_hidden()
    assert box(finish_button)["y"] + box(finish_button)["height"] <= height
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
