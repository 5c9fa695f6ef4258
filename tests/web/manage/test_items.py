"""The manager's lists and pages of items: filters, neighbours, history and answers."""

from __future__ import annotations

import html
import re
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

import leaseq
from tests.conftest import Clock
from tests.support.leases import not_none, take
from tests.web.conftest import Browser
from tests.web.elements import attribute, attributes, element, elements, link, listed_ids, text_of, texts


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("state=dead", ["dead-2", "dead-1"]),
        ("state=dead&order=oldest", ["dead-1", "dead-2"]),
        ("state=dead&text=TEXT", ["dead-1"]),
        ("state=dead&person=bob", ["dead-2"]),
        ("state=dead&person=bob&text=text", []),
        ("state=dead&person=&text=&outcome=", ["dead-2", "dead-1"]),
        ("state=reserved&person=ann&outcome=held", ["held-1"]),
        ("state=finished&person=ann&outcome=finished", ["done-1"]),
        ("state=inbound", ["wait-2", "wait-1"]),
        ("state=inbound&skill=fr", ["wait-1"]),
        ("state=inbound&begins=wait-2", ["wait-2"]),
        ("state=dead&from=2020-01-01&to=2020-01-02", []),
        ("state=dead&from=2020-01-01", ["dead-2", "dead-1"]),
        ("state=dead&from=2999-01-01T00:00:00Z", []),
    ],
)
def test_filters_find_matching_items(
    manager_browser: Browser, mixed_queue: leaseq.Queue, query: str, expected: list[str]
) -> None:
    page = manager_browser.get(f"/manage/{mixed_queue.name}/items?{query}").text
    assert listed_ids(page) == expected
    if not expected:
        assert texts(page, "#found") == ["0 found"]


def test_exact_id_is_found_in_any_list(manager_browser: Browser, mixed_queue: leaseq.Queue) -> None:
    page = text_of(manager_browser.get(f"/manage/{mixed_queue.name}/items?state=inbound&begins=dead-1").text)
    assert "Item with exactly this id: dead-1 , failed." in page
    page = text_of(manager_browser.get(f"/manage/{mixed_queue.name}/items?state=inbound&begins=dead").text)
    assert "No item in any list has exactly this id" in page


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("state=dead&from=yesterday", "a day such as 2026-11-21"),
        (
            "state=dead&from=21.11.2026",
            "a day such as 2026-11-21, or a time such as",
        ),
        ("state=dead&skill=No+Good", "a-z"),
        ("state=dead&outcome=eaten", "outcome: expected one of"),
        ("state=dead&text=x&outcome=held", "only these have a comment"),
        ("state=dead&order=up", "one of newest, oldest"),
        *((f"state=dead&back={count}", "a whole number from 1 to 1,000") for count in ("0", "1001", "x")),
    ],
)
def test_invalid_search_is_refused_and_fields_are_kept(
    manager_browser: Browser, mixed_queue: leaseq.Queue, query: str, message: str
) -> None:
    response = manager_browser.get(f"/manage/{mixed_queue.name}/items?{query}")
    assert response.status_code == 400
    assert message in html.unescape(response.text)
    for name, value in parse_qsl(query):
        if name not in ("state", "outcome", "order"):
            assert value in attributes(response.text, f"[name={name}]", "value")


@pytest.mark.parametrize("count", ["1", "1000"])
def test_give_back_filter_accepts_1_to_1000(
    manager_browser: Browser, mixed_queue: leaseq.Queue, count: str
) -> None:
    assert manager_browser.get(f"/manage/{mixed_queue.name}/items?state=dead&back={count}").status_code == 200


def test_bounded_search_shows_progress_and_continues(
    manager_browser: Browser, queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaseq.webapp.manage.items.SCAN_LIMIT", 100)
    queue.enqueue_many(leaseq.NewItem(n, id=f"{'rare' if n in (5, 210) else 'item'}-{n}") for n in range(230))
    path: str | None = f"/manage/{queue.name}/items?state=inbound&begins=rare"
    pages, messages = [], []
    while path:
        page = manager_browser.get(path).text
        pages.append(listed_ids(page))
        messages += texts(page, "#found")
        path = next(iter(attributes(page, "a:lexbor-contains('Search further')", "href")), None)
    assert pages == [["rare-5"], [], ["rare-210"]]
    assert messages == [
        "At least 1 in the first 100",
        "At least 1 in the first 200",
        "2 found",
    ]


def test_item_page_links_to_neighbours_in_search(manager_browser: Browser, mixed_queue: leaseq.Queue) -> None:
    page = manager_browser.get(f"/manage/{mixed_queue.name}/items?state=dead&text=e").text
    first = manager_browser.get(attribute(page, "a.title[href*='/items/dead-2']", "href")).text
    assert elements(first, "[rel=prev]") == []
    second = manager_browser.get(attribute(first, "a[rel=next]", "href")).text
    assert texts(second, "span.id.select-all") == ["dead-1"]
    assert elements(second, "[rel=next]") == []
    assert "/items/dead-2?" in attribute(second, "a[rel=prev]", "href")
    response = manager_browser.post(attribute(second, "form[action*='/revive']", "action"))
    third = manager_browser.get(response.location).text
    assert "It is waiting again" in third
    assert "/items/dead-2?" in attribute(third, "a[rel=prev]", "href"), "the search continues from the item"


@pytest.mark.parametrize("state", ["due", "inbound"])
def test_item_page_links_to_neighbours_in_other_orders(
    manager_browser: Browser, queue: leaseq.Queue, state: str
) -> None:
    from datetime import UTC, datetime

    for n in range(3):
        queue.enqueue({}, id=f"item-{n}", due=datetime(2031 - n, 1, 1, tzinfo=UTC), priority=100 * n)
    order = [2, 1, 0] if state == "due" else [0, 1, 2]
    page = manager_browser.get(f"/manage/{queue.name}/items?state={state}").text
    assert listed_ids(page) == [f"item-{n}" for n in order]
    middle = manager_browser.get(attribute(page, "a.title[href*='/items/item-1']", "href")).text
    for relation, neighbour in (("prev", order[0]), ("next", order[2])):
        assert f"/items/item-{neighbour}?" in attribute(middle, f"a[rel={relation}]", "href")


def test_history_lists_actions_and_their_person_in_sequence(
    manager_browser: Browser, mixed_queue: leaseq.Queue, worker_browser: Browser
) -> None:
    mixed_queue.release("held-1", by=manager_browser.name)
    mixed_queue.assign("held-1", worker_browser.name, by=manager_browser.name)
    lease = not_none(mixed_queue.reserve(worker_browser.name))
    mixed_queue.abandon(lease, "not <my> language")
    mixed_queue.revive("dead-1", by=manager_browser.name)
    page = text_of(manager_browser.get(f"/manage/{mixed_queue.name}/items/held-1").text).partition("History")[
        2
    ]
    lines = [
        "Added to the queue",
        "ann got it",
        f"{manager_browser.name} released it from ann",
        f"{manager_browser.name} assigned it to {worker_browser.name}",
        f"{worker_browser.name} got it",
        f"{worker_browser.name} gave it back not <my> language",
    ]
    places = [page.find(one) for one in lines]
    assert -1 not in places, (lines, page)
    source = manager_browser.get(f"/manage/{mixed_queue.name}/items/held-1").text
    events = attributes(source, "li:has(> .mark)", "class")
    assert events == ["inbound", "reserved", "inbound", "inbound", "reserved", "inbound"]
    assert elements(source, "button[aria-label='Copy the id held-1']")
    assert places == sorted(places)
    page = text_of(manager_browser.get(f"/manage/{mixed_queue.name}/items/dead-1").text)
    assert f"{manager_browser.name} handed it out again" in page
    assert "ann reported a problem" in page


def test_history_shows_time_between_events(
    manager_browser: Browser, queue: leaseq.Queue, server: Any
) -> None:
    clock = Clock()
    timed = leaseq.Queue(server.client, queue.name, clock=clock)
    timed.configure(lease_seconds=7_200)
    timed.enqueue({}, id="a")
    clock.tick(7_500)
    lease = not_none(timed.reserve("ann"))
    clock.tick(0.25)
    timed.abandon(lease)
    page = manager_browser.get(f"/manage/{queue.name}/items/a").text
    timeline = element(page, "ol.timeline[role=list]")
    assert texts(timeline, ".gap") == ["+2 h 5 min", "+0.2 s"]
    assert texts(timeline, "p:not(.timestamp) > .help") == ["1st try"]


def test_invalid_search_stays_on_its_list(manager_browser: Browser, mixed_queue: leaseq.Queue) -> None:
    response = manager_browser.get(f"/manage/{mixed_queue.name}/items?state=dead&back=x")
    assert response.status_code == 400
    assert elements(response.text, "a[href*='state=dead'][aria-current]")


def test_item_page_links_back_to_list_by_name(manager_browser: Browser, mixed_queue: leaseq.Queue) -> None:
    page = manager_browser.get(f"/manage/{mixed_queue.name}/items/dead-1?state=dead").text
    assert link(element(page, ".crumbs"), "Failed") == f"/manage/{mixed_queue.name}/items?state=dead"


def test_answers_have_titles_of_form_as_headings(manager_browser: Browser, queue: leaseq.Queue) -> None:
    ask = {
        "type": "object",
        "properties": {
            "about": {"title": "What is it about?", "type": "string"},
            "who": {
                "type": "object",
                "title": "The sender",
                "properties": {"street": {"type": "string", "title": "Street & number"}},
            },
        },
    }
    queue.configure(form={"ask": ask})
    queue.enqueue({"text": "hello"}, id="one")
    answer = {"about": "refund", "who": {"street": "Kirchweg 3"}, "more": 1}
    queue.finish(not_none(queue.reserve("ann")), answer)
    page = manager_browser.get(f"/manage/{queue.name}/items/one").text
    assert texts(page, "dl.answer > div > dt") == ["What is it about?", "The sender", "more"]
    assert texts(page, "dl.answer dl dt") == ["Street & number"]


def test_answers_are_shown_side_by_side_with_differences(
    manager_browser: Browser, queue: leaseq.Queue
) -> None:
    queue.configure(answers=2)
    queue.enqueue({"text": "hello"}, id="one")
    for name, result in (("ann", {"about": "refund", "n": 1}), ("bob", {"about": "refund", "n": True})):
        queue.finish(not_none(queue.reserve(name)), result)
    page = manager_browser.get(f"/manage/{queue.name}/items/one").text
    assert texts(page, "tr:not(.different) > th[scope=row]") == ["about"]
    assert texts(page, "tr.different > th[scope=row]") == ["n differs"], "1 does not match true"


@pytest.mark.parametrize(("language", "expected"), [("en", ("yes", "no")), ("de", ("ja", "nein"))])
def test_list_shows_booleans_in_language_of_page(
    manager_browser: Browser, queue: leaseq.Queue, language: str, expected: tuple[str, str]
) -> None:
    queue.configure(form={"ask": {"type": "object", "properties": {"urgent": {"type": "boolean"}}}})
    for urgent in (True, False):
        queue.enqueue({"text": "x"})
        queue.finish(not_none(queue.reserve("ann")), {"urgent": urgent})
    manager_browser.client.set_cookie("leaseq-language", language)
    page = manager_browser.get(f"/manage/{queue.name}/items?state=finished").text
    assert texts(page, "td[data-label=Urgent]") == [*expected[::-1]]


def test_columns_include_payload_fields_and_unanswered_questions(
    manager_browser: Browser, queue: leaseq.Queue
) -> None:
    queue.configure(form={"ask": {"type": "object", "properties": {"urgent": {"type": "boolean"}}}})
    queue.enqueue({"text": "x"})
    page = manager_browser.get(f"/manage/{queue.name}/items?state=inbound").text
    assert attributes(page, "[name=column]", "value") == ["text", "answer.urgent"]


@pytest.mark.parametrize(
    ("form", "payloads", "columns"),
    [
        (
            None,
            [{"text": "a parcel", "order": 7, "paid": True, "photo": "https://x.example/1"}],
            ["order", "paid"],
        ),
        (None, [{"text": "a parcel", "order": 7}] * 2 + [{"text": "a lamp"}], ["order"]),
        (None, [{"text": "a parcel", "order": 7}, {"text": "a lamp"}], []),
        (None, [{"text": "a parcel", "note": "x" * 41, "rows": [1], "none": None}], []),
        (None, [{"text": "a parcel", **{f"f{n}": n for n in range(5)}}], ["f0", "f1", "f2"]),
        (None, ["a parcel", 7], []),
        (
            ["text", {"field": "order", "label": "Order"}],
            [{"text": "a parcel", "order": 7, "paid": True}],
            ["Order"],
        ),
        (["text"], [{"text": "a parcel", "order": 7}], ["order"]),
        (
            ["order.by", "order.gone"],
            [{"text": "a parcel", "order": {"by": "post"}, "paid": True}],
            ["order.by"],
        ),
    ],
)
def test_list_shows_short_values_that_most_items_have(
    manager_browser: Browser,
    queue: leaseq.Queue,
    form: list[leaseq.Json],
    payloads: list[leaseq.Json],
    columns: list[str],
) -> None:
    """Of what the form shows, else of the payload; not the title, which the row begins with."""
    queue.configure(form={"show": form} if form else None)
    queue.enqueue_many(payloads)
    page = manager_browser.get(f"/manage/{queue.name}/items?state=inbound").text
    assert texts(page, "th.guessed") == columns
    assert attributes(page, "tbody tr:first-child td.guessed", "data-label") == columns


def test_list_of_done_items_has_the_questions_that_were_asked(
    manager_browser: Browser, queue: leaseq.Queue
) -> None:
    def form(title: str, *names: str) -> dict[str, Any]:
        properties = {name: {"type": "string", "title": title} for name in names}
        return {"ask": {"type": "object", "properties": properties}}

    queue.configure(form=form("Of the queue", "a", "b"))
    for own_form in (form("Its own", "c"), form("Its own", "c", "d"), None):
        queue.enqueue({"text": "x"}, form=own_form)
        queue.finish(take(queue, "ann"), {"c": "yes"} if own_form else {"a": "no"})
    page = manager_browser.get(f"/manage/{queue.name}/items?state=finished").text
    assert texts(page, "th.guessed") == ["Its own", "Of the queue"], "those of most items first"
    assert texts(page, "tbody td.guessed") == ["", "no", "yes", "", "yes", ""]
    offered = attributes(page, "[name=column]", "value")
    assert [name for name in offered if name.startswith("answer.")] == [f"answer.{x}" for x in "abcd"]


def test_search_is_counted_on_in_steps(
    manager_browser: Browser, queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaseq.webapp.manage.items.COUNTED_AT_ONCE", 100)
    monkeypatch.setattr("leaseq.webapp.manage.items.COMPARED", 260)
    queue.enqueue_many(leaseq.NewItem("rare" if n % 2 else "often", id=f"{n}") for n in range(400))
    base = f"/manage/{queue.name}/items?state=inbound&find=rare"
    pages = [manager_browser.get(base).text]
    while urls := attributes(pages[-1], "[data-next]", "data-next"):
        pages.append(f"<main>{manager_browser.get(urls[0]).text}</main>")
    counts = [re.sub(r"\D+", " ", text).split() for text in texts(pages[0], "#found")]
    counts += [re.sub(r"\D+", " ", text_of(page)).split() for page in pages[1:]]
    assert counts[0] == ["50", "100"], "the page has fifty"
    assert counts[-1] == ["150", "300"], "and no more are counted once enough are searched"
    assert len(counts) == 3
    assert "data-exact" not in pages[-1]


def test_item_beside_list_has_its_answer_content_and_link(
    manager_browser: Browser, mixed_queue: leaseq.Queue, worker_browser: Browser
) -> None:
    base = f"/manage/{mixed_queue.name}"
    page = manager_browser.get(f"{base}/items?state=finished&find=ann").text
    link = attribute(page, "a.title", "href")
    panel = manager_browser.get(link.replace("/items/", "/peek/")).text
    opened = urlsplit(attribute(panel, "a.button", "href"))
    assert opened.path == urlsplit(link).path
    assert dict(parse_qsl(opened.query)) == dict(parse_qsl(urlsplit(link).query)), "with the search"
    assert "ann" in text_of(element(panel, "section.answer"))
    assert "ok yes" in text_of(element(panel, "section.answer"))
    assert "of ann" in text_of(element(panel, "section.content"))
    panel = manager_browser.get(f"{base}/peek/dead-1").text
    assert texts(panel, "blockquote") == ["no <text>"]
    assert manager_browser.get(f"{base}/peek/gone").status_code == 404
    assert worker_browser.get(f"{base}/peek/dead-1").status_code == 403


def test_search_of_all_states_remembers_the_list_that_it_came_from(
    manager_browser: Browser, mixed_queue: leaseq.Queue
) -> None:
    page = manager_browser.get(f"/manage/{mixed_queue.name}/items?find=ann&state=any&state=dead").text
    assert sorted(listed_ids(page)) == ["dead-1", "done-1", "held-1"]
    assert attribute(page, "[type=hidden][name=state]", "value") == "dead"
    page = manager_browser.get(f"/manage/{mixed_queue.name}/items?find=ann&state=dead").text
    assert listed_ids(page) == ["dead-1"], "without a tick the search stays in the list"
