"""The manager's pages: assignment, skills, due dates and several answers of an item."""

from __future__ import annotations

import csv
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

import leaseq
from leaseq.webapp.store.accounts import Accounts
from tests.support.leases import not_none
from tests.web.conftest import Browser
from tests.web.elements import attribute, attributes, elements, link, table_rows, text_of, texts, times_as_t


def rows(page: str) -> list[list[str]]:
    """The cells of a page's table, as a person reads them; times as T."""
    return table_rows(times_as_t(page))


def records(page: str) -> list[dict[str, str]]:
    """The rows of a page's table, each cell by its heading."""
    heads, *cells = rows(page)
    return [dict(zip(heads, row, strict=True)) for row in cells]


def test_an_item_is_assigned_on_its_page(
    manager_browser: Browser, form_queue: leaseq.Queue, worker_browser: Browser, accounts: Accounts
) -> None:
    base = f"/manage/{form_queue.name}/items/two"
    assert worker_browser.name in texts(manager_browser.get(base).text, "option")
    response = manager_browser.post(f"{base}/assign", {"person": "nobody of that name"})
    assert response.status_code == 400
    assert "has no account" in response.text
    assert "nobody of that name" in attributes(response.text, "[name=person]", "value")
    assert manager_browser.post(f"{base}/assign", {"person": worker_browser.name}).location == base
    page = manager_browser.get(base).text
    assert texts(page, ".details dd")[0] == worker_browser.name
    assert f"Only {worker_browser.name} gets it now" in page
    list_page = manager_browser.get(f"/manage/{form_queue.name}/items?state=inbound").text
    assert f"for {worker_browser.name} only" in list_page
    assert not_none(form_queue.reserve(worker_browser.name)).id == "two"
    assert "Assign to" not in manager_browser.get(base).text, "somebody holds it"
    response = manager_browser.post(f"{base}/assign", {"person": manager_browser.name})
    assert (response.status_code, "release" in response.text) == (400, True)
    accounts.change(worker_browser.name, by="test", disabled=True)
    page = manager_browser.get(f"/manage/{form_queue.name}/items/one").text
    assert worker_browser.name not in texts(page, "option")


def test_due_items_are_listed_by_date_and_overdue_is_marked(
    manager_browser: Browser, queue: leaseq.Queue
) -> None:
    now = datetime.now(UTC)
    queue.enqueue({}, id="whenever")
    for id, hours in (("tomorrow", 24), ("yesterday", -24), ("soon", 1)):
        queue.enqueue({}, id=id, due=now + timedelta(hours=hours), requires=["fr"])
    queue.enqueue({}, id="done", due=now - timedelta(hours=1), priority=1)
    queue.finish(not_none(queue.reserve("bob")), {})
    base = f"/manage/{queue.name}"
    page = manager_browser.get(f"{base}/items?state=due").text
    assert [(row["Item"], row["Due ↑"]) for row in records(page)] == [
        ("yesterday", "T overdue"),
        ("soon", "T"),
        ("tomorrow", "T"),
    ]
    assert (records(page)[0]["State"], records(page)[0]["For whom"]) == ("waiting", "needs fr")
    overdue_items = records(manager_browser.get(link(page, "overdue 1")).text)
    assert [row["Item"] for row in overdue_items] == ["yesterday"]
    waiting_items = records(manager_browser.get(f"{base}/items?state=inbound").text)
    assert sorted(row["Due"] for row in waiting_items) == ["", "T", "T", "T overdue"]
    assert records(manager_browser.get(f"{base}/items?state=finished").text)[0]["Due"] == "T"
    assert "overdue" in manager_browser.get(f"{base}/items/yesterday").text


def test_due_list_is_paged(manager_browser: Browser, queue: leaseq.Queue) -> None:
    when = datetime.now(UTC) + timedelta(hours=1)
    queue.enqueue_many(leaseq.NewItem(n, id=f"item-{n:03}", due=when) for n in range(70))
    first = manager_browser.get(f"/manage/{queue.name}/items?state=due").text
    second = manager_browser.get(attribute(first, "a:lexbor-contains('Next page')", "href")).text
    titles = [row[1] for row in rows(first)[1:] + rows(second)[1:]]
    assert titles == [f"item-{n:03}" for n in range(70)]
    assert "From the beginning" in second
    assert manager_browser.get(f"/manage/{queue.name}/items?state=due&after=x").status_code == 400


def test_item_page_and_lists_show_several_answers_and_holder(
    manager_browser: Browser, queue: leaseq.Queue
) -> None:
    queue.configure(answers=3)
    queue.enqueue({"text": "hello"}, id="one")
    for name in ("ann", "bob"):
        queue.finish(not_none(queue.reserve(name)), {"answer": f"{name} says"})
    queue.reserve("carol")
    base = f"/manage/{queue.name}"
    page = manager_browser.get(f"{base}/items/one").text
    assert "2 of 3." in page
    assert [page.count(f"{name} says") for name in ("ann", "bob")] == [1, 1]
    assert "carol holds it until T" in text_of(times_as_t(page))
    finished_items = records(manager_browser.get(f"{base}/items?state=finished").text)
    assert [(row["Item"], row["Who"]) for row in finished_items] == [
        ("hello assignment 2", "bob"),
        ("hello assignment 1", "ann"),
    ]
    assert rows(manager_browser.get(f"{base}/items?state=reserved").text)[1][1:2] == ["hello assignment 3"]
    table = manager_browser.get(f"{base}/export?format=csv").text
    answers = [(row["person"], row["result.answer"]) for row in csv.DictReader(table.splitlines())]
    assert answers == [("ann", "ann says"), ("bob", "bob says")]


@pytest.mark.parametrize("answers", [1, 2])
def test_reserved_item_is_assignable_if_more_answers_are_needed(
    manager_browser: Browser, queue: leaseq.Queue, answers: int
) -> None:
    queue.configure(answers=answers)
    queue.enqueue({}, id="one")
    queue.reserve("ann")
    page = manager_browser.get(f"/manage/{queue.name}/items/one").text
    assert bool(elements(page, f"[action='/manage/{queue.name}/items/one/assign']")) == (answers > 1)


def test_changed_skills_of_person_apply_at_once(
    sign_in_as: Callable[[str], Browser], queue: leaseq.Queue, worker_browser: Browser
) -> None:
    admin = sign_in_as("admin")
    queue.enqueue({}, requires=["fr"])
    reserve = f"/q/{queue.name}/reserve"
    worker_browser.post(reserve)
    assert queue.mine(worker_browser.name) == []
    admin.post(f"/people/{worker_browser.name}/change", {"role": "worker", "skills": "fr de"})
    worker_browser.post(reserve)
    assert len(queue.mine(worker_browser.name)) == 1
    assert "de, fr" in admin.get("/people", query_string={"q": worker_browser.name}).text
