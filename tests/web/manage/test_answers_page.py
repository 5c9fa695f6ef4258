"""The page of a queue's answers: their distribution, by person and by day, and where they disagree."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from selectolax.lexbor import LexborNode

import leaseq
from leaseq.webapp.manage import answers
from tests.support.leases import take
from tests.web.conftest import Browser
from tests.web.elements import attributes, element, elements, link, listed_ids, table_rows, text_of, texts

ASK: dict[str, Any] = {
    "type": "object",
    "properties": {
        "about": {"title": "About", "enum": ["Delivery", "Refund", "Other"]},
        "urgent": {"title": "Urgent", "type": "boolean"},
        "rating": {"title": "Rating", "type": "integer"},
        "weight": {"title": "Weight", "type": "number"},
        "tags": {"title": "Tags", "type": "array", "items": {"enum": ["angry", "polite"]}},
        "note": {"title": "Note", "type": "string"},
    },
}
ANSWERS: list[tuple[str, dict[str, Any]]] = [
    ("ann", {"about": "Refund", "urgent": True, "rating": 1, "weight": 0.5, "tags": ["angry"], "note": "a"}),
    ("ann", {"about": "Refund", "urgent": False, "rating": 3, "weight": 120.0, "tags": ["angry", "polite"]}),
    ("bob", {"about": "Delivery", "urgent": False, "rating": 3, "weight": 990.0, "tags": [], "note": "b"}),
    ("bob", {"rating": 5}),
]


@pytest.fixture
def answered_queue(queue: leaseq.Queue) -> leaseq.Queue:
    queue.configure(title="Letters", form={"ask": ASK})
    for number, (person, answer) in enumerate(ANSWERS):
        queue.enqueue({"text": f"letter {number}"}, id=f"l{number}")
        queue.finish(take(queue, person), answer)
    return queue


def url(queue: leaseq.Queue, page: str = "answers") -> str:
    return f"/manage/{queue.name}/{page}"


def section(page: str, title: str) -> LexborNode:
    """The part of the page about a question."""
    return next(part for part in elements(page, "section:has(h2)") if texts(part, "h2") == [title])


def cells(part: LexborNode, table: str) -> list[list[str]]:
    return table_rows(element(part, f"table.{table} > tbody"))


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("About", [("Delivery", "1", "25 %"), ("Refund", "2", "50 %"), ("Other", "0", "0 %")]),
        ("Urgent", [("Yes", "1", "25 %"), ("No", "2", "50 %")]),
        ("Rating", [(str(n), str(c), f"{25 * c} %") for n, c in ((1, 1), (2, 0), (3, 2), (4, 0), (5, 1))]),
        ("Tags", [("angry", "2", "50 %"), ("polite", "1", "25 %")]),
    ],
)
def test_each_question_has_its_distribution(
    answered_queue: leaseq.Queue, manager_browser: Browser, title: str, expected: list[tuple[str, ...]]
) -> None:
    page = manager_browser.get(url(answered_queue)).text
    assert [tuple(row[:3]) for row in cells(section(page, title), "distribution")] == expected
    assert "All 4 answers." in page


def test_numbers_have_round_bins(answered_queue: leaseq.Queue, manager_browser: Browser) -> None:
    rows = cells(section(manager_browser.get(url(answered_queue)).text, "Weight"), "distribution")
    assert [row[0] for row in rows] == [*(f"{n} – {n + 100}" for n in range(0, 900, 100)), "900 – 1,000"]
    assert [row[1] for row in rows] == ["1", "1", *["0"] * 7, "1"]


def test_texts_are_counted_and_not_listed(answered_queue: leaseq.Queue, manager_browser: Browser) -> None:
    part = section(manager_browser.get(url(answered_queue)).text, "Note")
    assert "2 answered" in text_of(part)
    assert "2 left empty" in text_of(part)
    assert elements(part, "table") == []


@pytest.mark.parametrize(
    ("title", "label", "expected"),
    [("About", "Refund", {"l0", "l1"}), ("Rating", "3", {"l1", "l2"}), ("Weight", "900 – 1,000", {"l2"}),
     ("Urgent", "No", {"l1", "l2"}), ("Tags", "angry", {"l0", "l1"})],
)  # fmt: skip
def test_bar_links_to_its_items(
    answered_queue: leaseq.Queue, manager_browser: Browser, title: str, label: str, expected: set[str]
) -> None:
    part = section(manager_browser.get(url(answered_queue)).text, title)
    assert set(listed_ids(manager_browser.get(link(part, label)).text)) == expected


def test_answers_are_compared_by_person(answered_queue: leaseq.Queue, manager_browser: Browser) -> None:
    page = manager_browser.get(url(answered_queue) + "?by=person").text
    assert cells(section(page, "About"), "groups") == [
        ["ann", "2", "0 %", "100 %", "0 %"],
        ["bob", "2", "50 %", "0 %", "0 %"],
    ]
    assert [row[:3] for row in cells(section(page, "Rating"), "groups")] == [
        ["ann", "2", "2"],
        ["bob", "2", "4"],
    ]


def test_answers_are_compared_by_day(answered_queue: leaseq.Queue, manager_browser: Browser) -> None:
    day = f"{answered_queue.get('l0').answers[0].finished_at:%Y-%m-%d}"
    rows = cells(section(manager_browser.get(url(answered_queue) + "?by=day").text, "About"), "groups")
    assert [row[0] for row in rows] in ([day], [day, rows[-1][0]])  # midnight may pass during the test
    assert sum(int(row[1]) for row in rows) == 4


@pytest.mark.parametrize(
    ("query", "title", "row", "cell", "expected"),
    [
        ("by=person", "About", 1, 1, {"l2"}),
        ("by=person", "About", 1, 0, {"l2", "l3"}),
        ("by=person", "Rating", 0, 2, {"l1"}),
        ("by=person&person=ann", "Tags", 0, 1, {"l0", "l1"}),
        ("by=day", "About", 0, 2, {"l0", "l1"}),
    ],
)
def test_group_cell_links_to_its_items(
    answered_queue: leaseq.Queue,
    manager_browser: Browser,
    query: str,
    title: str,
    row: int,
    cell: int,
    expected: set[str],
) -> None:
    page = manager_browser.get(f"{url(answered_queue)}?{query}").text
    rows = elements(section(page, title), "table.groups > tbody > tr")
    links = attributes(rows[row], "a", "href")
    assert set(listed_ids(manager_browser.get(links[cell]).text)) == expected


@pytest.mark.parametrize("margin", [timedelta(milliseconds=1), timedelta(days=2)])
def test_link_of_a_day_is_within_the_day_and_the_filtered_period(
    answered_queue: leaseq.Queue, manager_browser: Browser, margin: timedelta
) -> None:
    times = [answered_queue.get(f"l{number}").answers[0].finished_at for number in range(len(ANSWERS))]
    begin, end = min(times) - margin, max(times) + margin
    query = urlencode({"by": "day", "from": begin.isoformat(), "to": end.isoformat()})
    part = section(manager_browser.get(f"{url(answered_queue)}?{query}").text, "About")
    linked_periods = set()
    for address in attributes(part, "table.groups a", "href"):
        fields = parse_qs(urlsplit(address).query)
        linked_periods.add((fields["from"][0], fields["to"][0]))
    days = [datetime.combine(day, time(), UTC) for day in {one.date() for one in times}]
    assert linked_periods == {
        (max(day, begin).isoformat(), min(day + timedelta(days=1), end).isoformat()) for day in days
    }


def test_answers_are_filtered_by_person_and_date(
    answered_queue: leaseq.Queue, manager_browser: Browser
) -> None:
    page = manager_browser.get(url(answered_queue) + "?person=ann").text
    assert "All 2 answers." in page
    assert "person=ann&outcome=finished" in link(page, "Refund")
    day = "2001-01-01"
    assert "No answers." in manager_browser.get(url(answered_queue) + f"?to={day}").text


def test_newest_answers_are_read_first_and_more_on_request(
    answered_queue: leaseq.Queue, manager_browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "READ_LIMITS", (2, 4))
    page = manager_browser.get(url(answered_queue)).text
    assert "The newest 2 answers; 4 items are done." in page
    assert [row[1] for row in cells(section(page, "About"), "distribution")] == ["1", "0", "0"]
    assert "All 4 answers." in manager_browser.get(link(page, "Read 4")).text


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("most=7", "most"),
        ("by=moon", "by"),
        ("skip=-1", "skip"),
        ("from=yesterday", "From"),
        ("person=" + "x" * 300, "Person"),
    ],
)
def test_invalid_query_is_refused_with_field_name(
    answered_queue: leaseq.Queue, manager_browser: Browser, query: str, field: str
) -> None:
    response = manager_browser.get(f"{url(answered_queue)}?{query}")
    assert response.status_code == 400
    assert any(field in alert for alert in texts(response.text, "[role=alert]"))


def test_agreement_and_disagreements_are_shown(queue: leaseq.Queue, manager_browser: Browser) -> None:
    queue.configure(answers=2, form={"ask": ASK})
    for id, second in (("same", "Refund"), ("other", "Delivery")):
        queue.enqueue({"text": f"the {id} one"}, id=id)
        for person, about in (("ann", "Refund"), ("bob", second)):
            queue.finish(take(queue, person), {"about": about, "urgent": True})
    page = manager_browser.get(url(queue)).text
    assert "2 items with several answers." in page
    agreement = section(page, "Agreement")
    assert [row[:2] for row in cells(agreement, "distribution")][:2] == [
        ["About", "50 %"],
        ["Urgent", "100 %"],
    ]
    assert link(agreement, "the other one") == f"{url(queue, 'items')}/other"
    assert "the same one" not in text_of(agreement)
    assert re.search(r"ann Refund.*bob Delivery", text_of(agreement))


def test_disagreements_are_paged(
    queue: leaseq.Queue, manager_browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "DISAGREEMENTS", 2)
    queue.configure(answers=2, form={"ask": ASK})
    for number in range(5):
        queue.enqueue({"text": f"item {number}"}, id=f"d{number}")
        for person, about in (("ann", "Refund"), ("bob", "Other")):
            queue.finish(take(queue, person), {"about": about})
    page, pages = manager_browser.get(url(queue) + "?by=person").text, []
    while True:
        part = section(page, "Agreement")
        items = [address.rpartition("/")[2] for address in attributes(part, "a[href*='/items/']", "href")]
        pages.append((items, re.findall(r"\d to \d of \d", text_of(part))))
        if "Next" not in texts(part, "a"):
            break
        page = manager_browser.get(link(part, "Next")).text
    assert pages == [
        (["d4", "d3"], ["1 to 2 of 5"]),
        (["d2", "d1"], ["3 to 4 of 5"]),
        (["d0"], ["5 to 5 of 5"]),
    ]
    previous = link(part, "Previous")
    assert "by=person" in previous
    assert "3 to 4 of 5" in manager_browser.get(previous).text


def test_ranking_is_counted_by_first_place(queue: leaseq.Queue, manager_browser: Browser) -> None:
    places = {
        "type": "array",
        "uniqueItems": True,
        "minItems": 2,
        "maxItems": 2,
        "items": {"enum": ["a", "b"]},
    }
    queue.configure(
        form={"ask": {"type": "object", "properties": {"order": {"title": "Order", **places}}}},
        title="Ranked",
    )
    for number, order in enumerate((["a", "b"], ["b", "a"], ["b", "a"])):
        queue.enqueue({"text": f"letter {number}"})
        queue.finish(take(queue, "ann"), {"order": order})
    page = manager_browser.get(url(queue)).text
    assert [row[:2] for row in cells(section(page, "Order (first place)"), "distribution")] == [
        ["a", "1"],
        ["b", "2"],
    ]


def test_answers_count_for_the_questions_that_were_asked(
    queue: leaseq.Queue, manager_browser: Browser
) -> None:
    """Of items' own forms, equal questions are one; and only answers to the queue's form are compared."""

    def form(**ask: Any) -> dict[str, Any]:
        return {"ask": {"type": "object", "properties": ask}}

    about = {"title": "About", "enum": ["refund", "parcel"]}
    decision = {"title": "Decision", "enum": ["approve", "reject"]}
    queue.configure(form=form(about=about), answers=2)
    own_forms = (None, form(decision=decision), form(decision=decision, amount={"type": "integer"}))
    for own_form in own_forms:
        queue.enqueue({"text": "x"}, form=own_form)
    for person in ("ann", "bob"):
        for own_form in own_forms:
            given = {"about": "refund"} if own_form is None else {"decision": "approve"}
            queue.finish(take(queue, person), given)
    page = manager_browser.get(url(queue)).text
    assert cells(section(page, "About"), "distribution")[0][:3] == ["refund", "2", "100 %"]
    assert cells(section(page, "Decision"), "distribution")[0][:3] == ["approve", "4", "100 %"]
    assert "2 left empty" in text_of(section(page, "Amount"))
    assert "left empty" not in text_of(section(page, "Decision"))
    agreement = section(page, "Agreement")
    assert cells(agreement, "distribution") == [["About", "100 %", ""]]
    assert re.findall(r"(\d+) items?", text_of(agreement)) == ["1"]
