"""A manager finds items, acts on one and on many, and reads what became of each."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest

import leaseq
from webapp.accounts import Accounts

from .conftest import Browser


@pytest.fixture
def boss(visitor: Callable[[str], Browser]) -> Browser:
    return visitor("manager")


@pytest.fixture
def mixed(queue: leaseq.Queue) -> leaseq.Queue:
    """Two dead, two held, two waiting, one finished."""
    queue.configure(title="Mixed", max_attempts=1, holds=9)
    for id, person, how in (
        ("dead-1", "ann", "no <text>"),
        ("dead-2", "bob", "page 404"),
        ("held-1", "ann", ""),
        ("held-2", "bob", ""),
        ("done-1", "ann", "done"),
    ):
        queue.enqueue({"of": person}, id=id)
        lease = queue.reserve(person)
        if how == "done":
            queue.finish(lease, {"ok": True})
        elif how:
            queue.fail(lease, how)
    queue.enqueue({}, id="wait-1", requires=["fr"])
    queue.enqueue({}, id="wait-2")
    return queue


def listed(page: str) -> list[str]:
    return re.findall(r'type="checkbox" name="id" value="([^"]+)"', page)


def text_of(page: str) -> str:
    main = re.sub(r"<(script|style).*?</\1>", "", page.partition("<main")[2], flags=re.DOTALL)
    return html.unescape(" ".join(re.sub(r"<[^>]+>", " ", main).split()))


def fields(page: str, action: str) -> dict[str, Any]:
    """The hidden fields of the page's form."""
    form = re.search(rf'<form method="post" action="[^"]*{action}".*?</form>', page, re.DOTALL)
    assert form, action
    found: dict[str, Any] = {}
    for name, value in re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form[0]):
        found.setdefault(name, []).append(html.unescape(value))
    found.pop("csrf_token")
    return found


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("state=dead", ["dead-2", "dead-1"]),
        ("state=dead&order=oldest", ["dead-1", "dead-2"]),
        ("state=dead&text=TEXT", ["dead-1"]),
        ("state=dead&person=bob", ["dead-2"]),
        ("state=dead&person=bob&text=text", []),
        ("state=dead&person=&text=&did=", ["dead-2", "dead-1"]),
        ("state=reserved&person=ann&did=held", ["held-1"]),
        ("state=finished&person=ann&did=finished", ["done-1"]),
        ("state=inbound", ["wait-2", "wait-1"]),
        ("state=inbound&skill=fr", ["wait-1"]),
        ("state=inbound&begins=wait-2", ["wait-2"]),
        ("state=dead&from=2020-01-01&to=2020-01-02", []),
        ("state=dead&from=2020-01-01", ["dead-2", "dead-1"]),
        ("state=dead&from=2999-01-01T00:00:00Z", []),
    ],
)
def test_what_is_asked_for_is_found(
    boss: Browser, mixed: leaseq.Queue, asked: str, expected: list[str]
) -> None:
    page = boss.get(f"/manage/{mixed.name}/items?{asked}").text
    assert listed(page) == expected
    if not expected:
        assert "There are none." in page


def test_an_id_is_found_in_whatever_list_it_is(boss: Browser, mixed: leaseq.Queue) -> None:
    page = text_of(boss.get(f"/manage/{mixed.name}/items?state=inbound&begins=dead-1").text)
    assert "Just this id: dead-1 , dead." in page
    page = text_of(boss.get(f"/manage/{mixed.name}/items?state=inbound&begins=dead").text)
    assert "No item has just this id" in page


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("state=dead&from=yesterday", "a day such as 2026-11-21"),
        ("state=dead&from=2026-11-21T10:00:00", "a time with its zone"),
        ("state=dead&skill=No+Good", "a-z"),
        ("state=dead&did=eaten", "did: one of"),
        ("state=dead&text=x&did=held", "only then do people say why"),
        ("state=dead&order=up", "newest or oldest"),
    ],
)
def test_a_search_that_means_nothing_is_told_at_its_field_and_kept(
    boss: Browser, mixed: leaseq.Queue, asked: str, said: str
) -> None:
    answer = boss.get(f"/manage/{mixed.name}/items?{asked}")
    assert answer.status_code == 400
    assert said in html.unescape(answer.text)
    for name, text in parse_qsl(asked):
        assert name in ("state", "did", "order") or f'value="{text}"' in answer.text


def test_it_says_how_far_it_looked_and_looks_further(
    boss: Browser, queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webapp.manage.items.LOOKS", 100)
    queue.enqueue_many(leaseq.NewItem(n, id=f"{'rare' if n in (5, 210) else 'item'}-{n}") for n in range(230))
    path: str | None = f"/manage/{queue.name}/items?state=inbound&begins=rare"
    seen, said = [], []
    while path:
        page = boss.get(path).text
        seen.append(listed(page))
        said.append(re.findall(r"Looked through [^.;]*", text_of(page)))
        more = re.search(r'href="([^"]+)">Look further', page)
        path = html.unescape(more[1]) if more else None
    assert seen == [["rare-5"], [], ["rare-210"]]
    assert said == [
        ["Looked through 100 entries of this list so far"],
        ["Looked through 200 entries of this list so far"],
        ["Looked through this list to its end: 230 entries"],
    ]


def ask(boss: Browser, queue: leaseq.Queue, move: str, search: str, **more: Any) -> Any:
    return boss.post(f"/manage/{queue.name}/many", {"move": move, "search": search, **more})


def do(boss: Browser, queue: leaseq.Queue, page: str, **more: Any) -> Any:
    return boss.post(f"/manage/{queue.name}/many/do", {**fields(page, "/many/do"), **more})


@pytest.mark.parametrize(
    ("move", "state", "ids", "states"),
    [
        ("release", "reserved", ["held-1", "held-2"], {"inbound": 4}),
        ("revive", "dead", ["dead-1"], {"dead": 1, "inbound": 3}),
        ("remove", "finished", ["done-1"], {"finished": 0}),
    ],
)
def test_the_chosen_ones_after_a_question(
    boss: Browser,
    mixed: leaseq.Queue,
    accounts: Accounts,
    move: str,
    state: str,
    ids: list[str],
    states: dict[str, int],
) -> None:
    before = mixed.journal(limit=1_000)
    question = ask(boss, mixed, move, f"state={state}", id=[*ids, *ids])
    assert question.status_code == 200
    n = f"{len(ids)} item{'s' if len(ids) > 1 else ''}"
    assert f"{move.capitalize()}: {n}?" in text_of(question.text)
    assert all(id in text_of(question.text) for id in ids)
    assert mixed.journal(limit=1_000) == before, "nothing happens by the question"
    done = text_of(do(boss, mixed, question.text).text)
    assert f"{len(ids)} " in done
    assert "As they were" not in done.replace("As they were, and why Back", "")
    after = mixed.stats()
    assert {name: getattr(after, name) for name in states} == states
    entry = accounts.log.latest(1)[0]
    assert (entry.by, entry.about) == (boss.name, mixed.name)
    assert entry.what.startswith(f"item.{move}")
    assert all(id in entry.detail for id in ids)


def test_what_was_not_done_is_told_with_its_reason(boss: Browser, mixed: leaseq.Queue) -> None:
    question = ask(boss, mixed, "release", "state=reserved", id=["held-1", "wait-1", "gone"])
    page = text_of(do(boss, mixed, question.text).text)
    assert "1 is released and waits. 2 are as they were." in page
    assert "wait-1 : nobody holds it" in page
    assert "gone : it is not there any more" in page
    question = ask(boss, mixed, "revive", "state=dead", id=["done-1", "dead-1", "wait-2"])
    page = text_of(do(boss, mixed, question.text).text)
    assert "1 waits again. 2 are as they were." in page
    assert "done-1 : id: a dead item; 'done-1' is finished" in page
    assert "wait-2 : it is not dead: it is inbound" in page
    assert mixed.get("dead-1").state == "inbound"


def test_many_are_assigned_to_somebody_with_an_account(
    boss: Browser, mixed: leaseq.Queue, person: Browser
) -> None:
    question = ask(boss, mixed, "assign", "state=inbound", id=["wait-1", "wait-2", "held-1"]).text
    refused = do(boss, mixed, question, person="nobody of that name")
    assert refused.status_code == 400
    assert "has no account" in refused.text
    assert 'value="nobody of that name"' in refused.text
    page = text_of(do(boss, mixed, refused.text, person=person.name).text)
    assert "2 are assigned. 1 is as it was." in page
    assert "held-1 : id: an item that waits" in page
    assert mixed.get("wait-1").assigned_to == (person.name,)
    page = text_of(do(boss, mixed, question, person=person.name).text)
    assert "wait-1 : it is theirs already" in page


def test_nothing_chosen_and_no_such_move(boss: Browser, mixed: leaseq.Queue) -> None:
    back = ask(boss, mixed, "remove", "state=dead&person=ann")
    assert back.location == f"/manage/{mixed.name}/items?state=dead&person=ann"
    assert "Choose some items first." in boss.get(back.location).text
    assert ask(boss, mixed, "eat", "state=dead", id="dead-1").status_code == 400
    assert ask(boss, mixed, "remove", "state=dead", id=[str(n) for n in range(501)]).status_code == 400


def test_all_that_a_search_finds_a_step_at_a_time(
    boss: Browser, queue: leaseq.Queue, accounts: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webapp.manage.many.STEP", 10)
    monkeypatch.setattr("webapp.manage.many.LOOKS", 40)
    queue.configure(max_attempts=1)
    queue.enqueue_many(leaseq.NewItem(n, id=f"item-{n:02}") for n in range(60))
    for n in range(60):
        queue.fail(queue.reserve("ann"), "rare" if n % 2 else "frequent")
    search = urlencode({"state": "dead", "text": "rare"})
    page = ask(boss, queue, "revive", search, which="all").text
    assert "more than 20 items?" in text_of(page), "so many are among the first 40"
    assert "said “rare”" in text_of(page)
    queue.enqueue({}, id="later", priority=1)
    queue.fail(queue.reserve("ann"), "rare, but after the question")
    steps = 0
    answer = do(boss, queue, page)
    while 'id="go-on"' in answer.text:
        steps += 1
        assert steps < 20
        answer = do(boss, queue, answer.text)
    assert "30 wait again." in text_of(answer.text)
    assert steps >= 2
    assert sorted(item.id for item in queue.items("inbound")) == [f"item-{n:02}" for n in range(1, 60, 2)]
    assert queue.get("later").state == "dead"
    entries = [entry for entry in accounts.log.latest(50) if entry.about == queue.name]
    assert len(entries) == 2, "one as it began, one as it ended"
    assert entries[0].detail.startswith("30: ")


def test_all_that_are_held_leaves_the_leases_given_since(boss: Browser, mixed: leaseq.Queue) -> None:
    page = ask(boss, mixed, "release", "state=reserved", which="all").text
    assert "Release: 2 items?" in text_of(page)
    lease = mixed.reserve("carol")
    assert "2 are released and wait." in text_of(do(boss, mixed, page).text)
    assert mixed.get(lease.id).state == "reserved"


def test_an_items_page_has_its_neighbours_in_the_search(boss: Browser, mixed: leaseq.Queue) -> None:
    page = boss.get(f"/manage/{mixed.name}/items?state=dead&text=e").text
    link = re.search(r'<a href="([^"]+)" class="id">dead-2', page)
    assert link
    first = boss.get(html.unescape(link[1])).text
    assert 'rel="prev"' not in first
    link = re.search(r'<a href="([^"]+)" rel="next"', first)
    assert link
    second = boss.get(html.unescape(link[1])).text
    assert "<h1>dead-1</h1>" in second
    assert 'rel="next"' not in second
    assert re.search(r'items/dead-2\?[^"]+" rel="prev"', second)
    action = re.search(r'action="([^"]+/revive[^"]*)"', second)
    assert action
    moved = boss.post(html.unescape(action[1]))
    third = boss.get(moved.location).text
    assert "It waits again" in third
    assert re.search(r'items/dead-2\?[^"]+" rel="prev"', third), "the search goes on where the item left it"


@pytest.mark.parametrize("state", ["due", "inbound"])
def test_neighbours_in_lists_of_another_order(boss: Browser, queue: leaseq.Queue, state: str) -> None:
    from datetime import UTC, datetime

    for n in range(3):
        queue.enqueue({}, id=f"item-{n}", due=datetime(2031 - n, 1, 1, tzinfo=UTC), priority=100 * n)
    order = [2, 1, 0] if state == "due" else [0, 1, 2]
    page = boss.get(f"/manage/{queue.name}/items?state={state}").text
    assert listed(page) == [f"item-{n}" for n in order]
    link = re.search(r'<a href="([^"]+)" class="id">item-1', page)
    assert link
    middle = boss.get(html.unescape(link[1])).text
    ways = dict(
        re.findall(r'rel="(\w+)">', middle) and re.findall(r'items/(item-\d)\?[^"]+" rel="(\w+)"', middle)
    )
    assert ways == {f"item-{order[0]}": "prev", f"item-{order[2]}": "next"}


def test_the_story_says_who_did_what_and_how_long_it_took(
    boss: Browser, mixed: leaseq.Queue, person: Browser
) -> None:
    mixed.release("held-1", by=boss.name)
    mixed.assign("held-1", person.name, by=boss.name)
    lease = mixed.reserve(person.name)
    mixed.abandon(lease, "not <my> language")
    mixed.revive("dead-1", by=boss.name)
    page = text_of(boss.get(f"/manage/{mixed.name}/items/held-1").text).partition("Story")[2]
    told = [
        "It entered the queue",
        "ann got it",
        f"{boss.name} took it away from ann",
        f"{boss.name} assigned it to {person.name}",
        f"{person.name} got it",
        f"{person.name} gave it back after 0 s not <my> language",
    ]
    places = [page.find(one) for one in told]
    assert -1 not in places, (told, page)
    assert places == sorted(places)
    page = text_of(boss.get(f"/manage/{mixed.name}/items/dead-1").text)
    assert f"{boss.name} revived it" in page
    assert "ann said that it is broken" in page


def test_answers_stand_side_by_side_and_differences_are_said(boss: Browser, queue: leaseq.Queue) -> None:
    queue.configure(answers=2)
    queue.enqueue({"text": "hello"}, id="one")
    for name, result in (("ann", {"about": "refund", "n": 1}), ("bob", {"about": "refund", "n": True})):
        queue.finish(queue.reserve(name), result)
    page = boss.get(f"/manage/{queue.name}/items/one").text
    marked = re.findall(r'<tr class="differs"><th scope="row">(\w+)<br><b>differs', page)
    assert marked == ["n"], "1 is not true"
    assert '<th scope="row">about</th><td>' in page
