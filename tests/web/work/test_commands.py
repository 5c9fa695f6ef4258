"""The command menu: who finds which pages, acts, people and items."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Flask

import leaseq
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.queue_access import Access, Group, QueueAccess
from tests.support.leases import take
from tests.web.conftest import Browser
from tests.web.elements import elements, text_of


def found(browser: Browser, words: str, **arguments: str) -> dict[str, str]:
    """The URL of each command that the words find, by its text."""
    response = browser.get("/commands", query_string={"q": words, **arguments})
    assert response.status_code == 200, words
    return {
        text_of(option): option.attributes.get("href") or option.attributes.get("formaction") or ""
        for option in elements(response.text, "[role=option]")
    }


@pytest.fixture
def titled_queue(form_queue: leaseq.Queue) -> leaseq.Queue:
    """A queue whose title no other has."""
    form_queue.configure(title=f"Triage of {form_queue.name}")
    return form_queue


@pytest.fixture
def access(app: Flask) -> QueueAccess:
    store: QueueAccess = app.extensions["leaseq"].access
    return store


@pytest.fixture
def closed_queue(server: Any, queue_name: str, access: QueueAccess) -> Iterator[leaseq.Queue]:
    """A queue on which only eva may work, and which nobody manages."""
    queue = leaseq.Queue(server.client, f"{queue_name}.closed")
    queue.configure(title=f"Secrets of {queue_name}")
    queue.enqueue({"text": "A hidden letter"}, id=f"hidden-{queue_name}")
    access.set(queue.name, Access(Group(people=(f"eva of {queue_name}",)), Group(people=("nobody",))))
    yield queue
    access.set(queue.name, Access())


def test_manager_acts_on_a_queue(manager_browser: Browser, titled_queue: leaseq.Queue) -> None:
    words = f"pause {titled_queue.policy.title}"
    ((_, url),) = found(manager_browser, words).items()
    assert manager_browser.client.post(url).status_code == 403, "without the session's token"
    assert titled_queue.stats().paused is None
    assert manager_browser.post(url).status_code == 303
    assert titled_queue.stats().paused is not None
    assert found(manager_browser, words) == {}, "it is paused already"
    ((_, url),) = found(manager_browser, words.replace("pause", "RESUME")).items()
    manager_browser.post(url)
    assert titled_queue.stats().paused is None


def test_manager_finds_pages_people_and_items(
    manager_browser: Browser, accounts: Accounts, titled_queue: leaseq.Queue, new_name: Callable[[str], str]
) -> None:
    name, queue = accounts.add(new_name("Ann"), by="test", team="Night shift").name, titled_queue.name
    accounts.change(name, by="test", shown_name=f"Frau {name[-8:]}")
    assert f"/people/{name}" in found(manager_browser, f"frau {name[-8:]}").values()
    titled_queue.enqueue({"text": "Where is my Sözlük?"}, id="id/with #signs")
    assert f"/people/{name}" in found(manager_browser, name.upper()).values()
    assert f"/people/{name}" in found(manager_browser, f"night {name[-8:]}").values()
    settings = found(manager_browser, f"settings {titled_queue.policy.title}")
    assert list(settings.values()) == [f"/manage/{queue}/settings"]
    item = f"/manage/{queue}/items/id%2Fwith%20%23signs"
    for words in ("id/with #signs", "sözlük", "where SÖZLÜK"):
        assert item in found(manager_browser, words, queue=queue).values(), words
    assert f"/manage/{queue}/items/one" in found(manager_browser, "one", queue=queue).values()
    search = [url for url in found(manager_browser, "one two", queue=queue).values() if "find=" in url]
    assert search == [f"/manage/{queue}/items?find=one+two"]
    everything = list(found(manager_browser, "", queue=queue).values())
    assert everything[0] == f"/q/{queue}", "the page's queue is first"
    assert "/help" in everything


@pytest.mark.guard("commands-queues")
def test_worker_finds_only_their_queues_and_the_items_they_hold(
    worker_browser: Browser, accounts: Accounts, titled_queue: leaseq.Queue, closed_queue: leaseq.Queue
) -> None:
    title = titled_queue.policy.title
    assert list(found(worker_browser, title).values()) == [f"/q/{titled_queue.name}"]
    for words in (
        f"pause {title}",
        worker_browser.name,
        "two",
        "money",
        closed_queue.policy.title,
        "audit",
        "figures",
    ):
        assert found(worker_browser, words) == {}, words
    take(titled_queue, worker_browser.name)
    for words in ("parcel", "one"):
        assert list(found(worker_browser, words).values()) == [f"/q/{titled_queue.name}?item=one"], words
    assert found(worker_browser, "money") == {}


@pytest.mark.guard("commands-people")
def test_manager_finds_nothing_of_queues_of_others(
    manager_browser: Browser,
    sign_in_as: Any,
    accounts: Accounts,
    titled_queue: leaseq.Queue,
    closed_queue: leaseq.Queue,
    queue_name: str,
    server: Any,
    access: QueueAccess,
) -> None:
    access.set(titled_queue.name, Access(Group(people=("ann",)), Group(people=(manager_browser.name,))))
    eva, item = accounts.add(f"eva of {queue_name}", by="test").name, f"hidden-{queue_name}"
    admin = sign_in_as("admin")
    for words in (closed_queue.policy.title, item, eva, "hidden letter"):
        assert [url for url in found(admin, words, queue=closed_queue.name).values() if "find=" not in url], (
            words
        )
    others = [name for name in leaseq.queues(server.client) if name != titled_queue.name]
    before = {name: access.get(name) for name in others}
    try:
        for name in others:
            access.set(name, Access(Group(people=(eva,)), Group(people=("nobody",))))
        for words in (
            closed_queue.policy.title,
            item,
            eva,
            "hidden letter",
            f"pause {closed_queue.policy.title}",
        ):
            assert found(manager_browser, words, queue=closed_queue.name) == {}, words
    finally:
        for name, value in before.items():
            access.set(name, value)
        access.set(titled_queue.name, Access())


def test_any_words_are_text(manager_browser: Browser, titled_queue: leaseq.Queue) -> None:
    for words in (
        "<script>alert(1)</script>",
        "x" * 5_000,
        "\x00\n\t",
        "a:b rating<=x",
        '"',
        "rating <= 1,2",
        "%",
        "(" * 90,
    ):
        response = manager_browser.get("/commands", query_string={"q": words, "queue": titled_queue.name})
        assert response.status_code == 200, words
        assert not elements(response.text, "script"), words
    assert manager_browser.get("/commands?q=a&queue=../x").status_code == 200
