"""People as a manager sees them: those of the queues that the manager may manage, and what they do there."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import leaseq
from leaseq.webapp.context import State
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.queue_access import Access, Group
from tests.support.taking import take
from tests.web.conftest import Browser
from tests.web.item_lists import rows, text_of


@pytest.fixture
def names(accounts: Accounts, new_name: Callable[[str], str]) -> dict[str, str]:
    """Ann works on the manager's queue, bob on another, and eva on both."""
    of = new_name("seen")
    return {name: accounts.add(f"{of} {name}", by="test").name for name in ("ann", "bob", "eva")}


@pytest.fixture
def queues(
    asking: leaseq.Queue, server: Any, boss: Browser, names: dict[str, str], state: State
) -> Iterator[tuple[leaseq.Queue, leaseq.Queue]]:
    """One that the manager may manage, and one that they may not."""
    other = leaseq.Queue(server.client, f"{asking.name}-hidden")
    other.configure(title="Hidden")
    other.enqueue({"text": "a secret letter"})
    ann, bob, eva = names.values()
    closed = {one: state.access.of(one) for one in leaseq.queues(server.client)}
    for one in closed:
        state.access.set(one, Access(manage=Group(people=("nobody",))))
    state.access.set(asking.name, Access(Group(people=(ann, eva)), Group(people=(boss.name,))))
    state.access.set(other.name, Access(Group(people=(bob, eva)), Group(people=(bob,))))
    yield asking, other
    for one in (*closed, asking.name, other.name):
        state.access.set(one, closed.get(one, Access()) if one not in (asking.name, other.name) else Access())


def test_the_people_of_their_queues_with_their_figures_there(
    boss: Browser, queues: tuple[leaseq.Queue, leaseq.Queue], names: dict[str, str], state: State
) -> None:
    mine, other = queues
    ann, bob, eva = names.values()
    take(mine, ann)
    take(other, eva)
    for number, queue in enumerate((mine, other, other)):
        state.activity.record(eva, queue.name, "finished", id=f"i{number}", token=number, active_ms=5_000)
    page = html.unescape(boss.get(f"/people?q={ann[:-4]}").text)
    lines = {name: line for line in rows(page).split("\n") for name in names.values() if name in line}
    assert list(lines) == [ann, eva]
    assert bob not in page
    assert f"My parcel is not here in {mine.name} for 0 s" in lines[ann]
    assert [cell.strip() for cell in lines[eva].split("|")][2:5] == ["1", "1", "5 s"]
    assert "not on your queues" in lines[eva]
    assert other.name not in page
    assert "secret" not in page
    figures = boss.get(f"/people?q={ann[:-4]}", headers={"Accept": "application/json"}).json
    assert [(one["name"], one["done"], one["queue"]) for one in figures["people"]] == [
        (ann, 0, mine.name),
        (eva, 1, None),
    ]
    assert (figures["count"], figures["working"], figures["done"]) == (2, 1, 1)


def test_a_person_s_page_has_their_work_there_and_nothing_of_the_account(
    boss: Browser, queues: tuple[leaseq.Queue, leaseq.Queue], names: dict[str, str], state: State
) -> None:
    mine, other = queues
    ann, bob, eva = names.values()
    take(other, eva)
    for number, queue in enumerate((mine, other)):
        state.activity.record(eva, queue.name, "finished", id=f"i{number}", token=number)
    page = html.unescape(boss.get(f"/people/{eva}").text)
    assert (mine.name in page, other.name in page, "secret" in page) == (True, False, False)
    assert "1 at most" in page
    assert '<form method="post" action="/people' not in page
    assert "Nothing now." in page
    unseen, nobody = boss.get(f"/people/{bob}"), boss.get("/people/nobody%20at%20all")
    assert (unseen.status_code, nobody.status_code) == (404, 404)
    assert text_of(unseen.text).replace(bob, "nobody at all") == text_of(nobody.text)
    assert ann in boss.get("/people").text


def test_no_criterion_tells_of_what_they_may_not_see(
    boss: Browser, queues: tuple[leaseq.Queue, leaseq.Queue], names: dict[str, str], accounts: Accounts
) -> None:
    mine, other = queues
    ann, bob, eva = names.values()
    accounts.change(bob, by="test", team="Secret team")
    accounts.change(ann, by="test", disabled=True)

    def found(**criteria: str) -> list[str]:
        asked = {"q": ann[:-4], **criteria}
        answer = boss.get("/people", query_string=asked, headers={"Accept": "application/json"})
        return [one["name"] for one in answer.json["people"]]

    assert found(queue=mine.name) == [eva], "who is disabled is the admins' business"
    assert found(queue=other.name) == found(queue="no-such-queue") == []
    assert found(team="Secret team") == []
    page = boss.get("/people").text
    for hidden in ("Secret team", "Audit log", "Invite", "Last signed in", 'name="act"'):
        assert hidden not in page


def test_a_manager_changes_no_account(boss: Browser, names: dict[str, str], accounts: Accounts) -> None:
    ann = names["ann"]
    for path in ("/people", "/people/many", f"/people/{ann}/change", f"/people/{ann}/disable"):
        answer = boss.post(path, {"name": ann, "act": "team", "value": "x", "role": "admin", "all": "yes"})
        assert answer.status_code == 403, path
    assert boss.get("/people/log").status_code == 403
    assert (accounts.get(ann).team, accounts.get(ann).role) == ("", "worker")


def test_a_worker_sees_nobody(person: Browser) -> None:
    assert [person.get(path).status_code for path in ("/people", f"/people/{person.name}")] == [403, 403]


def test_only_people_of_the_queue_are_suggested(
    boss: Browser, queues: tuple[leaseq.Queue, leaseq.Queue], names: dict[str, str]
) -> None:
    mine, _ = queues
    ann, bob, eva = names.values()
    mine.enqueue({"text": "one more"}, id="m-1")
    for path in ("answers", "export", "items", "items/m-1"):
        page = boss.get(f"/manage/{mine.name}/{path}").text
        assert [name in page for name in (ann, bob, eva)] == [True, False, True], path
