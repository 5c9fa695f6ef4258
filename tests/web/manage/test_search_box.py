"""The search box of a list of items."""

from __future__ import annotations

import re

import pytest

import leaseq
from leaseq.webapp.search import criteria
from leaseq.webapp.search.matching import parts_of, words_of
from tests.support.leases import take
from tests.web.conftest import Browser
from tests.web.elements import attribute, attributes, elements, text_of, texts
from tests.web.manage.conftest import ASK, ids, url


@pytest.mark.parametrize(
    ("find", "expected"),
    [
        ("parcel", "bc"),
        ("PARCEL broken", "c"),
        ('"is my parcel"', "b"),
        ("https://x.example/1", "c"),
        ("about:refund", "ab"),
        ("About:Refund rating<=2", "a"),
        ("About: Refund rating ≤ 2", "a"),
        ("about: refund", "ab"),
        ('"What is it about?": Refund', "ab"),
        ("rating >= 2", "bc"),
        ("rating≥5", "b"),
        ("rating<2", "a"),
        ("rating>=2", "bc"),
        ("rating>2", "b"),
        ("rating:5", "b"),
        ("tags:angry", "ac"),
        ("order.by:post", "a"),
        ("order.BY:ship parcel", "bc"),
        ("about:nothing", ""),
        ("text<3", ""),
        ("nowhere:1", ""),
        ("tags:=", ""),
        ("a", "abc"),
    ],
)
def test_words_and_conditions_find_items(
    answered_letters: leaseq.Queue, manager_browser: Browser, find: str, expected: str
) -> None:
    page = manager_browser.get(
        url(answered_letters, "items"), query_string={"state": "finished", "find": find}
    ).text
    assert ids(page) == set(expected)
    assert texts(page, "#found") == [f"{len(expected)} found"]


@pytest.mark.parametrize(
    ("find", "message"),
    [
        ("rating<=much", "Search: expected a number after rating<=, got 'much'"),
        ("rating>=", "Search: expected a number after rating>="),
        ("x" * 501, "Search: expected at most 500 characters"),
    ],
)
def test_invalid_search_is_refused_and_kept_in_box(
    answered_letters: leaseq.Queue, manager_browser: Browser, find: str, message: str
) -> None:
    response = manager_browser.get(
        url(answered_letters, "items"), query_string={"state": "finished", "find": find}
    )
    assert response.status_code == 400
    assert message in text_of(response.text)
    assert find in attributes(response.text, "input[name=find]", "value")


def test_search_of_the_longest_text_is_read() -> None:
    assert words_of(parts_of("x" * 500)) == "x" * 500


def test_search_text_round_trips_through_parts() -> None:
    text = 'refund "two words" about:"a b" rating<=2'
    assert words_of(parts_of(text)) == text


def test_filter_form_fills_search_box(answered_letters: leaseq.Queue, manager_browser: Browser) -> None:
    query = {"state": "finished", "find": "i", "is.about": "Refund", "is.rating": "<= 2", "is.tags": ""}
    response = manager_browser.get(url(answered_letters, "items"), query_string=query)
    page = manager_browser.get(str(response.location)).text
    assert ids(page) == {"a"}
    assert "i about:Refund rating<=2" in attributes(page, "input[name=find]", "value")
    without_it = attribute(page, "li.chip:lexbor-contains('What is it about? Refund') a", "href")
    assert ids(manager_browser.get(without_it).text) == {"a", "c"}


def test_invalid_number_in_filter_is_refused(
    answered_letters: leaseq.Queue, manager_browser: Browser
) -> None:
    response = manager_browser.get(
        url(answered_letters, "items"), query_string={"state": "finished", "is.rating": "<= x"}
    )
    assert (response.status_code, "a number after rating" in response.text) == (400, True)


def test_search_is_bounded_and_can_be_continued(
    answered_letters: leaseq.Queue, manager_browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(criteria, "COMPARED", 2)
    query = {"state": "finished", "find": "paid"}
    page = manager_browser.get(url(answered_letters, "items"), query_string=query).text
    assert ids(page) == set()
    assert texts(page, "#found") == ["At least 0 in the newest 2"]
    page = manager_browser.get(attribute(page, "a:lexbor-contains('Search further')", "href")).text
    assert ids(page) == {"a"}
    assert texts(page, "#found") == ["1 found"]


@pytest.mark.parametrize(
    ("find", "chips"),
    [
        ("about:refund rating<=2", ["What is it about? Money back", "Rating ≤ 2"]),
        ('about:"money back"', ["What is it about? Money back"]),
        ('order.by:post "two words"', ["order.by: post", "two words"]),
    ],
)
def test_filter_chips_show_titles_of_form(
    answered_letters: leaseq.Queue, manager_browser: Browser, find: str, chips: list[str]
) -> None:
    question = {
        "title": "What is it about?",
        "oneOf": [{"const": "Refund", "title": "Money back"}],
    }
    answered_letters.configure(form={"ask": {**ASK, "properties": {**ASK["properties"], "about": question}}})
    page = manager_browser.get(url(answered_letters, "items"), query_string={"find": find}).text
    assert [chip.text(deep=False).strip() for chip in elements(page, "li.chip")] == chips


UNITS = {"enum": ["mg", "Mg", "MG", "kg", "", "two\nlines", *(f"unit {n}" for n in range(12))]}


@pytest.fixture
def measures(queue: leaseq.Queue) -> leaseq.Queue:
    """Finished items with a unit each, and numbers."""
    properties = {
        "unit": UNITS,
        "Mg": {"type": "number"},
        "mg": {"type": "number"},
        "weight": {"type": "number"},
    }
    queue.configure(form={"ask": {"type": "object", "properties": properties}})
    answers = {
        "a": {"unit": "mg", "mg": 1, "weight": 2.5},
        "b": {"unit": "Mg", "Mg": 1, "weight": 1234},
        "c": {"unit": "MG", "weight": 1.234},
        "d": {"unit": "kg", "Mg": 2},
        "e": {"unit": ""},
        "f": {"unit": "two\nlines"},
    }
    for id, answer in answers.items():
        queue.enqueue({"KEY": id, "key": "x"}, id=id)
        queue.finish(take(queue, "ann"), answer)
    return queue


@pytest.mark.parametrize(
    ("find", "expected"),
    [
        ("unit:Mg", "b"),
        ("unit:MG", "c"),
        ("unit:mG", "abc"),  # no choice: case is ignored
        ("UNIT:KG", "d"),
        ('unit:""', "e"),
        ("Mg:1", "b"),
        ("mg:1", "a"),
        ("KEY:a", "a"),
        ("key:x", "abcdef"),
        ("Key:a", ""),  # of two names, neither is meant
    ],
)
def test_name_or_choice_is_compared_exactly_if_case_tells_it_from_another(
    measures: leaseq.Queue, manager_browser: Browser, find: str, expected: str
) -> None:
    page = manager_browser.get(url(measures, "items"), query_string={"state": "finished", "find": find}).text
    assert ids(page) == set(expected)


@pytest.mark.parametrize(("option", "expected"), [("Mg", "b"), ("(empty)", "e"), ("two lines", "f")])
def test_filter_finds_the_option_that_was_chosen(
    measures: leaseq.Queue, manager_browser: Browser, option: str, expected: str
) -> None:
    query = {"state": "finished", "is.unit": option}
    location = str(manager_browser.get(url(measures, "items"), query_string=query).location)
    assert ids(manager_browser.get(location).text) == set(expected)


@pytest.mark.parametrize(
    ("language", "find", "expected"),
    [
        ("de", "weight<=2,5", "ac"),
        ("de", "weight:2,5", "a"),
        ("de", "weight:1,234", "c"),
        ("de", "weight>=1.000,5", "b"),
        ("en", "weight<=2,5", "ac"),
        ("en", "weight:1.234", "c"),
        ("en", "weight>1 233", "abcdef"[1:2]),
    ],
)
def test_number_is_typed_as_in_the_language(
    measures: leaseq.Queue, manager_browser: Browser, language: str, find: str, expected: str
) -> None:
    query = {"state": "finished", "find": find.replace("1 233", '"1 233"')}
    page = manager_browser.get(
        url(measures, "items"), query_string=query, headers={"Accept-Language": language}
    ).text
    assert ids(page) == set(expected)


@pytest.mark.parametrize("find", ["weight<1,234", "weight<nan", "weight<inf", "weight<1_000"])
def test_number_that_may_be_two_or_is_none_is_refused(
    measures: leaseq.Queue, manager_browser: Browser, find: str
) -> None:
    response = manager_browser.get(url(measures, "items"), query_string={"state": "finished", "find": find})
    assert response.status_code == 400


@pytest.fixture
def parcels(answered_letters: leaseq.Queue) -> leaseq.Queue:
    """Items with the word "parcel" in each state."""
    answered_letters.enqueue({"text": "parcel"}, id="bad", max_attempts=1)
    answered_letters.fail(take(answered_letters, "ann"), "torn")
    answered_letters.enqueue({"text": "parcel"}, id="held")
    take(answered_letters, "ann")
    answered_letters.enqueue({"text": "parcel"}, id="later", delay=3_600)
    answered_letters.enqueue_many(leaseq.NewItem({"text": "parcel"}, id=f"w{n}") for n in range(6))
    return answered_letters


def test_search_covers_all_states(parcels: leaseq.Queue, manager_browser: Browser) -> None:
    page = manager_browser.get(url(parcels, "items")).text
    assert elements(page, "[name=state][value=any]:not([checked])")
    assert attribute(page, "[type=hidden][name=state]", "value") == "inbound"
    page = manager_browser.get(url(parcels, "items"), query_string={"find": "parcel"}).text
    assert ids(page) == {"b", "c", "bad", "held", "later", *(f"w{n}" for n in range(6))}
    assert texts(page, "#found") == ["11 found"]
    assert elements(page, "[name=state][value=any][checked]")
    assert texts(page, "td[data-label=State]") == [
        *["waiting"] * 6,
        "in work",
        "later",
        "done",
        "done",
        "failed",
    ]


@pytest.mark.parametrize("bound", ["search.criteria.COMPARED", "manage.items.SCAN_LIMIT"])
def test_bounded_search_of_all_states_covers_each_state(
    parcels: leaseq.Queue, manager_browser: Browser, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    monkeypatch.setattr(f"leaseq.webapp.{bound}", 5)
    monkeypatch.setattr(criteria, "_AT_ONCE", 2)
    page = manager_browser.get(url(parcels, "items"), query_string={"find": "parcel"}).text
    assert ids(page) == {"w5", "w4", "held", "later", "c"}
    assert texts(page, "#found") == ["At least 5 in the newest 5"]
    found_ids = []
    while links := attributes(page, "a:lexbor-contains('Search further')", "href"):
        found_ids += sorted(ids(page))
        page = manager_browser.get(links[0]).text
    found_ids += sorted(ids(page))
    assert sorted(found_ids) == ["b", "bad", "c", "held", "later", *(f"w{n}" for n in range(6))]
    assert texts(page, "#found") == ["11 found"]


def test_neighbours_in_search_of_all_states_have_same_state(
    parcels: leaseq.Queue, manager_browser: Browser
) -> None:
    page = manager_browser.get(url(parcels, "items"), query_string={"find": "parcel"}).text
    page = manager_browser.get(attribute(page, "a.title[href*='/items/w4?']", "href")).text
    neighbours = attributes(page, "a:is([rel=prev], [rel=next])", "href")
    assert {re.sub(r".*/items/(\w+)\?.*state=any.*", r"\1", address) for address in neighbours} == {
        "w3",
        "w5",
    }


@pytest.mark.parametrize("moment", ["of the question", "of the last items"])
def test_bulk_remove_keeps_items_added_after_question(
    parcels: leaseq.Queue, manager_browser: Browser, moment: str
) -> None:
    fields = {"move": "remove", "search": "state=any&find=parcel", "which": "all"}
    page = manager_browser.post(url(parcels, "bulk"), fields).text
    assert "Remove 11 items" in page
    start = attribute(page, "[name=began]", "value")
    if moment == "of the last items":
        start = parcels.get("w5").enqueued_at.isoformat()
    parcels.enqueue({"text": "parcel"}, id="new")
    manager_browser.post(url(parcels, "bulk", "do"), {**fields, "began": start, "total": "11"})
    remaining_ids = [item.id for state in leaseq.STATES for item in parcels.items(state)]
    assert sorted(remaining_ids) == ["a", "new"]


def test_bulk_revive_over_all_states_affects_only_dead_items(
    parcels: leaseq.Queue, manager_browser: Browser
) -> None:
    fields = {"move": "revive", "search": "state=any&find=parcel", "which": "all"}
    page = manager_browser.post(url(parcels, "bulk"), fields).text
    assert "Hand out 1 item again" in page
    start = attribute(page, "[name=began]", "value")
    manager_browser.post(url(parcels, "bulk", "do"), {**fields, "began": start, "total": "1"})
    assert (parcels.get("bad").state, parcels.stats().finished) == ("inbound", 3)


@pytest.mark.parametrize("after", ["moon=1", "finished=x", "inbound=/1/1/a"])
def test_invalid_cursor_is_refused(
    answered_letters: leaseq.Queue, manager_browser: Browser, after: str
) -> None:
    response = manager_browser.get(
        url(answered_letters, "items"), query_string={"state": "any", "after": after}
    )
    assert response.status_code == 400


def test_next_page_continues_after_full_page(queue: leaseq.Queue, manager_browser: Browser) -> None:
    queue.enqueue_many(leaseq.NewItem({"text": "same"}, id=f"i{n:03}") for n in range(70))
    page = manager_browser.get(url(queue, "items"), query_string={"find": "same"}).text
    address = attribute(page, "a:lexbor-contains('Next page')", "href")
    first, second = ids(page), ids(manager_browser.get(address).text)
    assert (len(first), len(second), len(first | second)) == (50, 20, 70)


def test_bulk_remove_affects_only_search_matches(
    answered_letters: leaseq.Queue, manager_browser: Browser
) -> None:
    search = "state=finished&find=about:Refund"
    fields = {"move": "remove", "search": search, "which": "all"}
    page = manager_browser.post(url(answered_letters, "bulk"), fields).text
    assert "Remove 2 items" in page
    start = attribute(page, "[name=began]", "value")
    manager_browser.post(url(answered_letters, "bulk", "do"), {**fields, "began": start, "total": "2"})
    assert [item.id for item in answered_letters.items("finished")] == ["c"]


def test_neighbours_of_item_match_search(answered_letters: leaseq.Queue, manager_browser: Browser) -> None:
    page = manager_browser.get(
        url(answered_letters, "items"), query_string={"state": "finished", "find": "tags:angry"}
    ).text
    first = attributes(page, "a.title", "href")[0]
    assert "/items/c?" in first
    addresses = attributes(manager_browser.get(first).text, "a:is([rel=prev], [rel=next])", "href")
    assert ["/items/a?" in address for address in addresses] == [True]


def test_exact_id_is_found_in_any_state(answered_letters: leaseq.Queue, manager_browser: Browser) -> None:
    answered_letters.enqueue({}, id="waits-here")
    page = manager_browser.get(
        url(answered_letters, "items"), query_string={"state": "finished", "find": "waits-here"}
    ).text
    assert "Item with exactly this id" in page
    assert elements(page, f"a[href='{url(answered_letters, 'items')}/waits-here']")
