"""The home page."""

from __future__ import annotations

from typing import Any

import pytest

import leaseq
from leaseq.server.embedded import EmbeddedServer
from leaseq.webapp import create_app
from leaseq.webapp.settings import Settings
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.activity import Activity
from tests.support.leases import not_none
from tests.web.conftest import CHEAP_PASSWORDS, PASSWORD, SECRET, Browser
from tests.web.elements import elements, link, texts


@pytest.fixture
def person_and_client(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with EmbeddedServer(tmp_path_factory.mktemp("s"), fsync="no") as server:
        app = create_app(Settings(redis_url=server.url, secret_key=SECRET), passwords=CHEAP_PASSWORDS)
        state = app.extensions["leaseq"]
        state.accounts.add("ann", by="test", password=PASSWORD)
        person = Browser(app, "ann")
        person.sign_in()
        yield person, state.client
        state.client.close()


def test_home_lists_queues_and_redirects_to_only_queue(person_and_client: Any) -> None:
    person, client = person_and_client
    assert "There is no queue yet" in person.get("/").text
    leaseq.Queue(client, "reviews").configure(title="Reviews")
    assert person.get("/").location == "/q/reviews"
    leaseq.Queue(client, "scans").enqueue_many([1, 2])
    page = person.get("/").text
    assert "Reviews" in page
    assert "2 wait" in page


def lines_of(page: str) -> list[str]:
    """The text of each queue's line."""
    return texts(page, "li:has(h2[id^='queue-'])")


def test_queue_line_shows_waiting_items_and_activity_of_person(person_and_client: Any) -> None:
    person, client = person_and_client
    reviews, scans, photos, letters, mine = (
        leaseq.Queue(client, name) for name in ("a-reviews", "b-scans", "c-photos", "d-letters", "e-mine")
    )
    for queue in (reviews, scans, photos, letters, mine):
        queue.configure(title=queue.name[2:].capitalize())
    reviews.enqueue_many([1, 2])
    reviews.finish(not_none(reviews.reserve("ann")), {"text": "done"})
    days = Activity(client)
    days.record("ann", reviews.name, "finished", id="x", token=1, active_ms=41_000)
    days.record("ann", reviews.name, "abandoned", id="x", token=2)
    days.flush()
    scans.enqueue({}, requires=["fr"])
    photos.enqueue({})
    photos.pause("lunch <b>")
    letters.enqueue({})
    letters.reserve("bob")
    mine.enqueue({})
    mine.reserve("ann")

    assert lines_of(person.get("/").text) == [
        "Mine Nothing is waiting Continue",
        "Reviews 1 waiting Today: 1 done · 41 s each · 1 given back Begin",
        "Letters Nothing is waiting, 1 is with somebody else Wait",
        "Photos Paused: lunch <b> Wait",
        "Scans 1 waiting, but not for you Wait",
    ]


def test_queue_menu_links_to_each_queue(person_and_client: Any) -> None:
    person, client = person_and_client
    leaseq.Queue(client, "reviews").configure(title="Reviews <of> papers")
    leaseq.Queue(client, "scans").configure()
    assert 'data-load="/queues"' in person.get("/q/scans").text
    menu = person.get("/queues").text
    assert link(menu, "Reviews <of> papers") == "/q/reviews"
    assert link(menu, "scans") == "/q/scans"
    assert "scans" not in person.get("/queues?manage=yes").text, "a worker manages no queue"
    Accounts(client, passwords=CHEAP_PASSWORDS).change("ann", by="test", role="manager")
    assert elements(person.get("/queues?manage=yes").text, "a[href='/manage/scans']")


def test_queues_are_in_the_order_of_their_titles(person_and_client: Any) -> None:
    person, client = person_and_client
    for name, title in (("a", "letters"), ("b", "Answers"), ("c", "Photos")):
        leaseq.Queue(client, name).configure(title=title)
    Accounts(client, passwords=CHEAP_PASSWORDS).change("ann", by="test", role="manager")
    assert texts(person.get("/queues").text, "a") == ["All queues", "Answers", "letters", "Photos"]
    assert texts(person.get("/manage").text, "tbody th a:first-child") == ["Answers", "letters", "Photos"]


def test_not_found_page_keeps_signed_in_person(worker_browser: Browser, app: Any) -> None:
    response = worker_browser.get("/nowhere")
    assert response.status_code == 404
    assert (
        "There is nothing at this address: it may be mistyped, or what it named was removed." in response.text
    )
    assert worker_browser.name in response.text, "the session still exists"
    stranger_response = app.test_client().get("/nowhere")
    assert stranger_response.status_code == 404
    assert "Sign out" not in stranger_response.text
