"""The dead are listed with why they died, and come back to work: one, the chosen ones, all, by a filter."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

import pytest

import leaseq

from .api_calls import problem
from .conftest import Browser, Caller


@pytest.fixture
def boss(visitor: Callable[[str], Browser]) -> Browser:
    return visitor("manager")


@pytest.fixture
def graves(queue: leaseq.Queue) -> leaseq.Queue:
    """Six dead items of two people, with two errors."""
    queue.configure(max_attempts=1)
    for n in range(6):
        queue.enqueue({"n": n}, id=f"item-{n}")
        queue.fail(queue.reserve(("ann", "bob")[n % 2]), "no <text>" if n < 4 else "page 404")
    return queue


def listed(page: str) -> list[str]:
    return re.findall(r'name="id" value="([^"]+)"', page)


def test_listed_with_the_last_error(boss: Browser, graves: leaseq.Queue) -> None:
    page = boss.get(boss.get(f"/manage/{graves.name}/items?state=dead").location).text
    assert listed(page) == [f"item-{n}" for n in range(6)]
    assert page.count("no &lt;text&gt;") == 4
    assert "Revive all 6" in page


@pytest.mark.parametrize(
    ("asked", "indexes"),
    [
        ("error=404", [4, 5]),
        ("error=no+%3Ctext", [0, 1, 2, 3]),
        ("person=bob", [1, 3, 5]),
        ("person=bob&error=404", [5]),
        ("person=nobody", []),
        ("error=&person=", [0, 1, 2, 3, 4, 5]),
    ],
)
def test_a_filter_shows_and_revives_the_same(
    boss: Browser, graves: leaseq.Queue, asked: str, indexes: list[int]
) -> None:
    wanted = [f"item-{n}" for n in indexes]
    page = boss.get(f"/manage/{graves.name}/dead?{asked}").text
    assert listed(page) == wanted
    fields = dict(re.findall(r'type="hidden" name="(error|person)" value="([^"]*)"', page))
    if not wanted:
        assert "There are none." in page
        return
    back = boss.post(
        f"/manage/{graves.name}/revive-all", {name: html.unescape(text) for name, text in fields.items()}
    )
    assert back.status_code == 303
    assert f"{len(wanted)} wait{'s' if len(wanted) == 1 else ''} again" in boss.get(back.location).text
    assert sorted(item.id for item in graves.items("inbound")) == wanted
    told = [(event.id, event.person) for event in graves.journal(limit=1_000) if event.what == "revived"]
    assert told == [(id, boss.name) for id in wanted]


def test_the_chosen_ones(boss: Browser, graves: leaseq.Queue) -> None:
    graves.remove("item-3")
    path = f"/manage/{graves.name}/revive"
    back = boss.post(path, {"id": ["item-1", "item-3", "item-5", "item-5"]})
    assert back.location == f"/manage/{graves.name}/dead"
    assert "2 wait again, with all attempts." in boss.get(back.location).text
    assert sorted(item.id for item in graves.items("inbound")) == ["item-1", "item-5"]
    boss.post(path)
    assert "Choose some first." in boss.get(back.location).text


def test_what_a_filter_names_is_found_behind_many_others(boss: Browser, queue: leaseq.Queue) -> None:
    queue.configure(max_attempts=1)
    queue.enqueue_many(leaseq.NewItem(n, id=f"item-{n:03}") for n in range(120))
    for n in range(120):
        queue.fail(queue.reserve("ann"), "rare" if n == 110 else "frequent")
    assert listed(boss.get(f"/manage/{queue.name}/dead?error=rare").text) == ["item-110"]
    seen: list[str] = []
    path: str | None = f"/manage/{queue.name}/dead?error=frequent"
    while path:
        page = boss.get(path).text
        seen += listed(page)
        more = re.search(r'href="([^"]+)">Next page', page)
        path = html.unescape(more[1]) if more else None
    assert seen == [f"item-{n:03}" for n in range(120) if n != 110]


def test_by_rest_all_or_by_a_filter(graves: leaseq.Queue, manager: Caller) -> None:
    path = f"/queues/{graves.name}/revive"
    for body, revived in (({"person": "bob", "error": "404"}, 1), ({"error": "no <"}, 4), ({}, 1), ({}, 0)):
        answer = manager("POST", path, json=body)
        assert (answer.status_code, answer.json) == (200, {"revived": revived, "more": False})
    assert graves.stats().dead == 0
    assert {event.person for event in graves.journal(limit=100) if event.what == "revived"} == {manager.name}
    for body, field in (
        ({"person": ""}, "person"),
        ({"error": "x" * 2_001}, "error"),
        ({"error": 404}, "error"),
    ):
        assert problem(manager("POST", path, json=body), 400, "invalid")["field"] == field


def test_by_rest_there_may_be_more(
    graves: leaseq.Queue, manager: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webapp.api.manage.MOST_REVIVED", 4)
    path = f"/queues/{graves.name}/revive"
    assert manager("POST", path).json == {"revived": 4, "more": True}
    assert manager("POST", path).json == {"revived": 2, "more": False}
