"""Error pages, and queues that need a newer version of leaseq: each is named and hides no other queue."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from prometheus_client.parser import text_string_to_metric_families

import leaseq
from tests.support.refused import raises
from tests.web.conftest import Browser, Caller
from tests.web.elements import elements, texts

NEEDED = "This queue needs a newer version of leaseq."


@pytest.fixture(autouse=True)
def readable_and_unreadable(queue: leaseq.Queue, unreadable_queue: leaseq.Queue) -> None:
    queue.configure(title="Of today")
    queue.enqueue({"n": 1}, id="one")


def test_library_raises_queue_unreadable(unreadable_queue: leaseq.Queue) -> None:
    for call in (
        lambda: unreadable_queue.policy,
        unreadable_queue.stats,
        lambda: unreadable_queue.mine("ann"),
    ):
        with raises(leaseq.QueueUnreadable, "newer") as error:
            call()
        assert isinstance(error.value, leaseq.ServerRefused)


def test_home_page_lists_unreadable_queue_without_link(
    worker_browser: Browser, unreadable_queue: leaseq.Queue
) -> None:
    page = worker_browser.get("/")
    assert page.status_code == 200
    assert "Of today" in page.text
    line = page.text.partition(f">{unreadable_queue.name}<")[2].partition("</li>")[0]
    assert NEEDED in line
    assert "<form" not in line
    assert "<a " not in line


@pytest.mark.parametrize("path", ["/queues", "/queues?manage=yes"])
def test_queue_menu_lists_unreadable_queue(
    manager_browser: Browser, unreadable_queue: leaseq.Queue, path: str
) -> None:
    page = manager_browser.get(path)
    assert page.status_code == 200
    assert "Of today" in page.text
    assert unreadable_queue.name in page.text


def test_day_page_loads_with_unreadable_queue(
    worker_browser: Browser, app: object, queue: leaseq.Queue
) -> None:
    lease = queue.reserve(worker_browser.name)
    assert lease is not None
    page = worker_browser.get("/day")
    assert page.status_code == 200
    assert "Of today" in page.text


def test_overview_marks_unreadable_queue_and_omits_its_counts(
    manager_browser: Browser, unreadable_queue: leaseq.Queue, queue: leaseq.Queue
) -> None:
    page = manager_browser.get("/manage")
    assert page.status_code == 200
    assert "Of today" in page.text
    assert NEEDED in page.text.partition(f">{unreadable_queue.name}<")[2].partition("</tr>")[0]
    live_response = manager_browser.get("/manage", headers={"Accept": "application/json"})
    assert queue.name in live_response.json["queues"]
    assert unreadable_queue.name not in live_response.json["queues"]


def test_unreadable_queue_does_not_prevent_creating_or_configuring(
    manager_browser: Browser, queue: leaseq.Queue
) -> None:
    create_response = manager_browser.post(
        "/manage", {"name": f"{queue.name}-2", "title": "Another"}, page="/manage"
    )
    assert create_response.status_code == 303
    change_response = manager_browser.post(
        f"/manage/{queue.name}/settings", {"title": "Of yesterday"}, page=f"/manage/{queue.name}/settings"
    )
    assert change_response.status_code in (200, 303, 422)


def test_people_pages_and_disabling_work_with_unreadable_queue(
    sign_in_as: Callable[[str], Browser], admin: Caller, queue: leaseq.Queue
) -> None:
    admin_browser, holder = sign_in_as("admin"), sign_in_as("worker")
    assert queue.reserve(holder.name) is not None
    page = admin_browser.get("/people")
    assert page.status_code == 200
    assert admin_browser.get(f"/people/{holder.name}").status_code == 200
    assert admin("PUT", f"/people/{holder.name}", json={"disabled": True}).status_code == 200
    assert queue.mine(holder.name) == [], "a lease in another queue is still taken back"


def test_metrics_report_unreadable_queue_without_item_counts(
    manager: Caller, unreadable_queue: leaseq.Queue, queue: leaseq.Queue
) -> None:
    response = manager.client.get("/metrics", headers={"Authorization": f"Bearer {manager.token}"})
    assert response.status_code == 200
    values = {
        (sample.name, sample.labels.get("queue"), sample.labels.get("state")): sample.value
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
    }
    assert values["leaseq_items", queue.name, "inbound"] == 1
    assert values["leaseq_unreadable", unreadable_queue.name, None] == 1
    assert values["leaseq_unreadable", queue.name, None] == 0
    assert ("leaseq_items", unreadable_queue.name, "inbound") not in values


def test_rest_lists_unreadable_queue_separately(
    worker: Caller, unreadable_queue: leaseq.Queue, queue: leaseq.Queue
) -> None:
    queues: dict[str, Any] = {}
    details: dict[str, str] = {}
    first_name, last_name = sorted((queue.name, unreadable_queue.name))
    after: str | None = first_name[:-1]  # other tests create thousands of queues
    while after is not None and after < last_name:
        response = worker("GET", "/queues", query_string={"limit": 100, "after": after})
        assert response.status_code == 200
        queues |= {listed["name"]: listed for listed in response.json["queues"]}
        details |= {error["name"]: error["detail"] for error in response.json["unreadable"]}
        after = response.json["after"]
    assert queues[queue.name]["title"] == "Of today"
    assert unreadable_queue.name not in queues
    assert list(details) == [unreadable_queue.name]
    assert "newer version of leaseq" in details[unreadable_queue.name]


def test_unreadable_queue_returns_503_with_advice_to_upgrade(
    worker: Caller, worker_browser: Browser, unreadable_queue: leaseq.Queue
) -> None:
    response = worker("GET", f"/queues/{unreadable_queue.name}")
    assert (response.status_code, response.json["code"]) == (503, "queue-unreadable")
    assert response.json["rule"] == "newer"
    assert "Retry-After" not in response.headers, "waiting does not help"
    page = worker_browser.get(f"/q/{unreadable_queue.name}")
    assert page.status_code == 503
    assert "newer version of leaseq" in page.text
    assert "as soon as the server is back" not in page.text
    assert "Go to the queues" in page.text


def test_response_405_lists_allowed_methods(app: Flask) -> None:
    response = app.test_client().delete("/login")
    assert response.status_code == 405
    assert {"GET", "POST"} <= set(response.headers["Allow"].split(", "))


def test_page_413_says_in_the_reader_s_language_what_to_do(worker_browser: Browser) -> None:
    german = {"Accept-Language": "de"}
    response = worker_browser.post("/account/password", {"new": "x" * 12_000_000}, headers=german)
    assert response.status_code == 413
    assert texts(response.text, "main p:not(:has(a))") == [
        "Nichts wurde gespeichert. Gehen Sie im Browser zurück und senden Sie weniger auf einmal."
    ]
    assert elements(response.text, "main [lang=en]") == []


def test_page_404_has_menu_of_signed_in_person(worker_browser: Browser, app: Flask) -> None:
    assert f'data-person="{worker_browser.name}"' in worker_browser.get("/no-such-page").text
    response = app.test_client().get("/no-such-page")
    assert response.status_code == 404
    assert "data-person" not in response.text
