"""Announcements: on work pages and the list of queues, over REST, and who has seen them."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask

import leaseq
from leaseq.transfer import rfc3339
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.announcements import Announcements
from tests.support.refused import refused
from tests.web.conftest import Browser, Caller
from tests.web.elements import attribute, elements, text_of, texts

SHOWN = ".announcement:not([hidden]) p"


@pytest.fixture
def now() -> list[float]:
    return [1_900_000_000.0]


@pytest.fixture
def announcements(server: Any, now: list[float]) -> Announcements:
    """With a clock that only the test moves."""
    return Announcements(server.client, clock=lambda: now[0], monotonic=lambda: now[0])


def test_announcement_ends_at_its_time_and_a_new_one_is_new_to_everybody(
    announcements: Announcements, now: list[float]
) -> None:
    until = datetime.fromtimestamp(now[0] + 60, UTC)
    first = announcements.announce("q1", "  Lunch at noon ", by="meg", until=until)
    assert (first.text, announcements.get("q1")) == ("Lunch at noon", first)
    announcements.respond("q1", first.id, "ann", "dismissed")
    announcements.respond("q1", first.id, "ann", "seen")
    announcements.respond("q1", first.id, "bob", "seen")
    announcements.respond("q1", "another", "bob", "dismissed")
    assert announcements.response_of("q1", first, "ann") == "dismissed", "it stays"
    assert announcements.response_of("q1", first, "bob") == "seen", "it was another one"
    assert announcements.seen_by("q1", first) == {"ann", "bob"}
    second = announcements.announce("q1", "Lunch at one", by="meg")
    assert announcements.seen_by("q1", second) == set()
    announcements.announce("q1", "Soon over", by="meg", until=until)
    now[0] += 60
    assert announcements.get("q1") is None
    assert announcements.end("q1")
    assert not announcements.end("q1")


def test_answer_to_a_line_that_another_process_announced_just_now_counts(
    announcements: Announcements, server: Any
) -> None:
    assert announcements.get("q2") is None
    announcement = Announcements(server.client).announce("q2", "Lunch", by="meg")
    assert announcements.get("q2") is None, "it was read a moment ago"
    announcements.respond("q2", announcement.id, "ann", "seen")
    assert announcements.seen_by("q2", announcement) == {"ann"}


@pytest.mark.parametrize("text", ["", "  ", "two\nlines", "x" * 201, "in\u200bvisible"])
def test_only_one_short_visible_line_is_accepted(announcements: Announcements, text: str) -> None:
    with pytest.raises(leaseq.Invalid) as caught:
        announcements.announce("q1", text, by="meg")
    assert caught.value.field == "text"


def test_end_must_be_in_the_future(announcements: Announcements, now: list[float]) -> None:
    until = datetime.fromtimestamp(now[0], UTC)
    with refused("format", "until", what="future_time"):
        announcements.announce("q1", "x", by="meg", until=until)


def test_person_sees_and_dismisses_the_announcement_and_the_manager_the_count(
    manager_browser: Browser,
    worker_browser: Browser,
    form_queue: leaseq.Queue,
    accounts: Accounts,
    server: Any,
) -> None:
    path, work_path = f"/manage/{form_queue.name}", f"/q/{form_queue.name}"
    assert elements(worker_browser.get(work_path).text, SHOWN) == []
    text = "Use <b>refund</b> for Poland & others"
    response = manager_browser.post(f"{path}/announcement", {"text": text, "until": ""})
    assert response.location == path
    page = worker_browser.get(work_path).text
    assert texts(page, SHOWN) == [text]
    leaseq.Queue(server.client, f"{form_queue.name}.other").configure()  # with one queue, / leads to it
    assert text in texts(worker_browser.get("/").text, SHOWN)

    def counts() -> str:
        found = re.search(
            r"seen by (\d+) of (\d+) people", text_of(manager_browser.get(f"{path}/announcement").text)
        )
        assert found
        return found[1]

    fields = {"id": attribute(page, ".announcement [name=id]", "value")}
    assert counts() == "0"
    worker_browser.post(f"{work_path}/announcement", {**fields, "response": "seen"}, page=work_path)
    assert counts() == "1"
    assert texts(worker_browser.get(work_path).text, SHOWN) == [text]
    response = worker_browser.post(
        f"{work_path}/announcement", {**fields, "response": "dismissed"}, page=work_path
    )
    assert response.location == work_path
    assert elements(worker_browser.get(work_path).text, SHOWN) == []
    assert text not in texts(worker_browser.get("/").text, SHOWN)
    assert counts() == "1"
    manager_browser.post(f"{path}/announcement/end", {}, page=f"{path}/announcement")
    assert elements(manager_browser.get(work_path).text, SHOWN) == []
    entries = [entry for entry in accounts.log.page(limit=20).entries if entry.about == form_queue.name]
    assert [(entry.what, entry.detail) for entry in entries] == [
        ("queue.announcement-ended", ""),
        ("queue.announced", text),
    ]


def test_refused_announcement_is_kept_in_its_form(manager_browser: Browser, queue: leaseq.Queue) -> None:
    queue.configure()
    path = f"/manage/{queue.name}/announcement"
    response = manager_browser.post(path, {"text": "Lunch", "until": "2020-01-01T12:00"})
    assert response.status_code == 400
    assert attribute(response.text, "#text", "value") == "Lunch"
    assert attribute(response.text, "#until", "value") == "2020-01-01T12:00"


def test_announcement_over_rest(
    manager: Caller, worker: Caller, make_caller: Callable[[str], Caller], queue: leaseq.Queue, app: Flask
) -> None:
    queue.configure()
    path = f"/queues/{queue.name}/announcement"
    assert worker("GET", path).status_code == 404
    assert worker("PUT", path, json={"text": "x"}).status_code == 403
    until = rfc3339(datetime.now(UTC) + timedelta(hours=1))
    announced = manager("PUT", path, json={"text": "Lunch", "until": until})
    assert (announced.status_code, announced.json["text"], announced.json["until"]) == (200, "Lunch", until)
    announcements = app.extensions["leaseq"].announcements
    announcements.respond(queue.name, announcements.get(queue.name).id, worker.name, "seen")
    read = manager("GET", path).json
    assert (read["by"], read["seen"]) == (manager.name, 1)
    assert read["people"] > 1
    assert worker("GET", path).json == {**read, "seen": None, "people": None}
    past = manager("PUT", path, json={"text": "Lunch", "until": "2020-01-01"})
    assert (past.status_code, past.json["field"]) == (400, "until")
    assert manager("DELETE", path).status_code == manager("DELETE", path).status_code == 204
    assert manager("GET", path).status_code == 404
