"""The first page."""

from __future__ import annotations

from typing import Any

import pytest

import leaseq
from leaseq.embedded import EmbeddedServer
from webapp import create_app
from webapp.settings import Settings

from .conftest import CHEAP, PASSWORD, SECRET, Browser


@pytest.fixture
def empty_place(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with EmbeddedServer(tmp_path_factory.mktemp("s"), fsync="no") as server:
        app = create_app(Settings(redis_url=server.url, secret_key=SECRET), passwords=CHEAP)
        state = app.extensions["leaseq"]
        state.accounts.add("ann", by="test", password=PASSWORD)
        person = Browser(app, "ann")
        person.sign_in()
        yield person, state.client
        state.client.close()


def test_home_lists_queues_and_one_queue_leads_to_work(empty_place: Any) -> None:
    person, client = empty_place
    assert "There is no queue yet" in person.get("/").text
    leaseq.Queue(client, "reviews").configure(title="Reviews")
    assert person.get("/").location == "/q/reviews"
    leaseq.Queue(client, "scans").enqueue_many([1, 2])
    page = person.get("/").text
    assert "Reviews" in page
    assert "2 wait" in page
