"""Columns, sorting and saved searches of the list of items."""

from __future__ import annotations

from typing import Any

import pytest

import leaseq
from leaseq.webapp.store.list_settings import MAX_COLUMNS, MAX_VIEWS
from tests.web.conftest import Browser
from tests.web.elements import attribute, element, elements, link, listed_ids, texts
from tests.web.manage.conftest import ids, url


def test_chosen_columns_are_shown_in_list(answered_letters: leaseq.Queue, manager_browser: Browser) -> None:
    page = manager_browser.get(url(answered_letters, "items") + "?state=finished").text
    assert texts(page, "th[scope=col]")[2:5] == ["What is it about?", "Rating", "Who"]
    fields = {"column": ["order.by", "text", "answer.tags", "text"], "search": "state=finished"}
    assert "state=finished" in str(manager_browser.post(url(answered_letters, "columns"), fields).location)
    page = manager_browser.get(url(answered_letters, "items") + "?state=finished").text
    assert texts(page, "th[scope=col]")[2:6] == ["order.by", "Letter", "Tags", "Who"]
    cells = texts(page, "td.excerpt:is([data-label='order.by'], [data-label=Tags])")
    assert cells == ["ship", "angry, polite", "ship", "", "Post", "angry"]
    assert elements(page, "[name=column][value='order.by'][checked]")


def test_too_many_columns_are_refused(answered_letters: leaseq.Queue, manager_browser: Browser) -> None:
    manager_browser.post(
        url(answered_letters, "columns"), {"column": [f"c{n}" for n in range(MAX_COLUMNS + 1)]}
    )
    page = manager_browser.get(url(answered_letters, "items")).text
    assert "Not changed: columns: expected at most 8 columns, got 9." in page
    assert "c0" not in texts(page, "th[scope=col]")


def test_heading_reverses_order_of_list(answered_letters: leaseq.Queue, manager_browser: Browser) -> None:
    page = manager_browser.get(url(answered_letters, "items") + "?state=finished").text
    assert listed_ids(page) == ["c", "b", "a"]
    reversed_page = manager_browser.get(attribute(page, "[aria-sort=descending] > a", "href")).text
    assert listed_ids(reversed_page) == ["a", "b", "c"]
    assert elements(reversed_page, "[aria-sort=ascending]")


def test_a_search_is_saved_shown_and_removed(
    answered_letters: leaseq.Queue, manager_browser: Browser
) -> None:
    search = "state=finished&find=about%3ARefund"
    manager_browser.post(url(answered_letters, "views"), {"name": " Refunds  <b> ", "search": search})
    page = manager_browser.get(url(answered_letters, "items")).text
    view = element(page, "li.view")
    assert ids(manager_browser.get(link(view, "Refunds <b>")).text) == {"a", "b"}
    manager_browser.post(url(answered_letters, "views", "remove"), {"name": "Refunds <b>", "search": search})
    assert elements(manager_browser.get(url(answered_letters, "items")).text, ".view") == []


@pytest.mark.parametrize("name", ["", "x" * 61])
def test_saved_search_requires_valid_name(
    answered_letters: leaseq.Queue, manager_browser: Browser, name: str
) -> None:
    manager_browser.post(url(answered_letters, "views"), {"name": name, "search": "state=finished"})
    page = manager_browser.get(url(answered_letters, "items")).text
    assert "Not saved: view: expected 1 to 60 characters" in page
    assert elements(page, ".view") == []


@pytest.mark.parametrize("name", ["x", "x" * 60])
def test_saved_search_name_may_have_1_to_60_characters(
    answered_letters: leaseq.Queue, manager_browser: Browser, name: str
) -> None:
    manager_browser.post(url(answered_letters, "views"), {"name": name, "search": "state=finished"})
    assert link(manager_browser.get(url(answered_letters, "items")).text, name)


def test_number_of_saved_searches_is_limited(
    answered_letters: leaseq.Queue, manager_browser: Browser, app: Any
) -> None:
    lists = app.extensions["leaseq"].lists
    for number in range(MAX_VIEWS):
        lists.save_view(answered_letters.name, f"view {number}", "state=finished")
    manager_browser.post(url(answered_letters, "views"), {"name": "one more", "search": "state=dead"})
    assert "at most 30 saved views" in manager_browser.get(url(answered_letters, "items")).text
    manager_browser.post(url(answered_letters, "views"), {"name": "view 1", "search": "state=dead"})
    assert lists.get(answered_letters.name).views["view 1"] == "state=dead"


def test_saved_search_and_columns_may_be_as_long_as_their_limits(
    answered_letters: leaseq.Queue, app: Any
) -> None:
    lists, queue = app.extensions["leaseq"].lists, answered_letters.name
    columns, search = ["c" * 199 + str(number) for number in range(MAX_COLUMNS)], "s" * 2_000
    lists.choose_columns(queue, columns)
    lists.save_view(queue, "long", search)
    with pytest.raises(leaseq.Invalid) as error:
        lists.save_view(queue, "long", search + "s")
    assert error.value.field == "search"
    with pytest.raises(leaseq.Invalid) as error:
        lists.choose_columns(queue, [columns[0] + "c"])
    assert error.value.field == "columns"
    settings = lists.get(queue)
    assert (list(settings.columns), settings.views) == (columns, {"long": search})
