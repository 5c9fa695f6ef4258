"""The people pages for managers: only people and figures of the queues that they manage."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import leaseq
from leaseq.webapp.context import State
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.queue_access import Access, Group
from tests.support.leases import take
from tests.web.conftest import Browser
from tests.web.elements import table_rows, text_of


@pytest.fixture
def names(accounts: Accounts, new_name: Callable[[str], str]) -> dict[str, str]:
    """Ann works on the manager's queue, bob on another, and eva on both."""
    prefix = new_name("seen")
    return {name: accounts.add(f"{prefix} {name}", by="test").name for name in ("ann", "bob", "eva")}


@pytest.fixture
def queues(
    form_queue: leaseq.Queue, server: Any, manager_browser: Browser, names: dict[str, str], state: State
) -> Iterator[tuple[leaseq.Queue, leaseq.Queue]]:
    """A queue that the manager may manage, and one that they may not."""
    other_queue = leaseq.Queue(server.client, f"{form_queue.name}-hidden")
    other_queue.configure(title="Hidden")
    other_queue.enqueue({"text": "a secret letter"})
    ann, bob, eva = names.values()
    accesses = {name: state.access.get(name) for name in leaseq.queues(server.client)}
    for name in accesses:
        state.access.set(name, Access(manage=Group(people=("nobody",))))
    state.access.set(form_queue.name, Access(Group(people=(ann, eva)), Group(people=(manager_browser.name,))))
    state.access.set(other_queue.name, Access(Group(people=(bob, eva)), Group(people=(bob,))))
    yield form_queue, other_queue
    for name in (*accesses, form_queue.name, other_queue.name):
        state.access.set(
            name,
            accesses.get(name, Access()) if name not in (form_queue.name, other_queue.name) else Access(),
        )


@pytest.mark.guard("people-held", "people-of-the-queues")
def test_manager_sees_people_and_figures_of_managed_queues_only(
    manager_browser: Browser, queues: tuple[leaseq.Queue, leaseq.Queue], names: dict[str, str], state: State
) -> None:
    own_queue, other_queue = queues
    ann, bob, eva = names.values()
    take(own_queue, ann)
    take(other_queue, eva)
    for number, queue in enumerate((own_queue, other_queue, other_queue)):
        state.activity.record(eva, queue.name, "finished", id=f"i{number}", token=number, active_ms=5_000)
    page = html.unescape(manager_browser.get(f"/people?q={ann[:-4]}").text)
    rows = {name: row for row in table_rows(page) for name in names.values() if name in " ".join(row)}
    assert list(rows) == [ann, eva]
    assert bob not in page
    assert "My parcel is not here Triage , 0 s" in " ".join(rows[ann])
    assert rows[eva][2:5] == ["1", "1", "5 s"]
    assert "not on your queues" in " ".join(rows[eva])
    assert other_queue.name not in page
    assert "secret" not in page
    figures = manager_browser.get(f"/people?q={ann[:-4]}", headers={"Accept": "application/json"}).json
    assert [(row["name"], row["done"], row["queue"]) for row in figures["people"]] == [
        (ann, 0, own_queue.name),
        (eva, 1, None),
    ]
    assert (figures["count"], figures["working"], figures["done"]) == (2, 1, 1)


@pytest.mark.guard("people-unseen")
def test_person_page_shows_work_on_managed_queues_without_account(
    manager_browser: Browser, queues: tuple[leaseq.Queue, leaseq.Queue], names: dict[str, str], state: State
) -> None:
    own_queue, other_queue = queues
    ann, bob, eva = names.values()
    take(other_queue, eva)
    for number, queue in enumerate((own_queue, other_queue)):
        state.activity.record(eva, queue.name, "finished", id=f"i{number}", token=number)
    page = html.unescape(manager_browser.get(f"/people/{eva}").text)
    assert ("Triage" in page, "Hidden" in page, "secret" in page) == (True, False, False)
    assert "at most 1" in page
    assert '<form method="post" action="/people' not in page
    assert "Nothing now." in page
    hidden_response, missing_response = (
        manager_browser.get(f"/people/{bob}"),
        manager_browser.get("/people/nobody%20at%20all"),
    )
    assert (hidden_response.status_code, missing_response.status_code) == (404, 404)
    assert text_of(hidden_response.text).replace(bob, "nobody at all") == text_of(missing_response.text)
    assert ann in manager_browser.get("/people").text


@pytest.mark.guard("people-queue")
def test_search_criteria_reveal_no_hidden_data(
    manager_browser: Browser,
    queues: tuple[leaseq.Queue, leaseq.Queue],
    names: dict[str, str],
    accounts: Accounts,
) -> None:
    own_queue, other_queue = queues
    ann, bob, eva = names.values()
    accounts.change(bob, by="test", team="Secret team")
    accounts.change(ann, by="test", disabled=True)

    def find_names(**criteria: str) -> list[str]:
        query = {"q": ann[:-4], **criteria}
        response = manager_browser.get("/people", query_string=query, headers={"Accept": "application/json"})
        return [row["name"] for row in response.json["people"]]

    assert find_names(queue=own_queue.name) == [eva], "only admins see who is disabled"
    assert find_names(queue=other_queue.name) == find_names(queue="no-such-queue") == []
    assert find_names(team="Secret team") == []
    page = manager_browser.get("/people").text
    for text in ("Secret team", "Audit log", "Invite", "Last signed in", 'name="act"'):
        assert text not in page


def test_manager_cannot_change_accounts(
    manager_browser: Browser, names: dict[str, str], accounts: Accounts
) -> None:
    ann = names["ann"]
    for path in ("/people", "/people/bulk", f"/people/{ann}/change", f"/people/{ann}/disable"):
        response = manager_browser.post(
            path, {"name": ann, "act": "team", "value": "x", "role": "admin", "all": "yes"}
        )
        assert response.status_code == 403, path
    assert manager_browser.get("/audit-log").status_code == 403
    assert (accounts.get(ann).team, accounts.get(ann).role) == ("", "worker")


def test_worker_cannot_open_people_pages(worker_browser: Browser) -> None:
    assert [
        worker_browser.get(path).status_code for path in ("/people", f"/people/{worker_browser.name}")
    ] == [403, 403]


@pytest.mark.guard("people-suggested")
def test_only_people_of_the_queue_are_suggested(
    manager_browser: Browser, queues: tuple[leaseq.Queue, leaseq.Queue], names: dict[str, str]
) -> None:
    own_queue, _ = queues
    ann, bob, eva = names.values()
    own_queue.enqueue({"text": "one more"}, id="m-1")
    for path in ("answers", "export", "items", "items/m-1"):
        page = manager_browser.get(f"/manage/{own_queue.name}/{path}").text
        assert [name in page for name in (ann, bob, eva)] == [True, False, True], path
