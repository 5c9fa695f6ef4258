"""A queue that needs a newer version of leaseq is named wherever all queues are shown, and hides none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from prometheus_client.parser import text_string_to_metric_families

import leaseq
from tests.web.conftest import Browser, Caller

NEEDED = "This queue needs a newer version of leaseq."


@pytest.fixture(autouse=True)
def both(queue: leaseq.Queue, unreadable: leaseq.Queue) -> None:
    queue.configure(title="Of today")
    queue.enqueue({"n": 1}, id="one")


def test_the_library_says_what_it_needs(unreadable: leaseq.Queue) -> None:
    for read in (lambda: unreadable.policy, unreadable.stats, lambda: unreadable.mine("ann")):
        with pytest.raises(leaseq.QueueUnreadable, match=r"^this queue has .* does not know") as refused:
            read()
        assert refused.value.newer
        assert isinstance(refused.value, leaseq.ServerRefused)


def test_home(person: Browser, unreadable: leaseq.Queue) -> None:
    page = person.get("/")
    assert page.status_code == 200
    assert "Of today" in page.text
    line = page.text.partition(f">{unreadable.name}<")[2].partition("</li>")[0]
    assert NEEDED in line
    assert "<form" not in line
    assert "<a " not in line


@pytest.mark.parametrize("path", ["/queues", "/queues?manage=yes"])
def test_the_menu_of_queues(boss: Browser, unreadable: leaseq.Queue, path: str) -> None:
    page = boss.get(path)
    assert page.status_code == 200
    assert "Of today" in page.text
    assert unreadable.name in page.text


def test_my_day(person: Browser, app: object, queue: leaseq.Queue) -> None:
    lease = queue.reserve(person.name)
    assert lease is not None
    page = person.get("/day")
    assert page.status_code == 200
    assert "Of today" in page.text


def test_the_overview(boss: Browser, unreadable: leaseq.Queue, queue: leaseq.Queue) -> None:
    page = boss.get("/manage")
    assert page.status_code == 200
    assert "Of today" in page.text
    assert NEEDED in page.text.partition(f">{unreadable.name}<")[2].partition("</tr>")[0]
    live = boss.get("/manage", headers={"Accept": "application/json"})
    assert queue.name in live.json["queues"]
    assert unreadable.name not in live.json["queues"]


def test_making_a_queue_and_changing_the_title_of_one(boss: Browser, queue: leaseq.Queue) -> None:
    made = boss.post("/manage", {"name": f"{queue.name}-2", "title": "Another"}, page="/manage")
    assert made.status_code == 303
    changed = boss.post(
        f"/manage/{queue.name}/settings", {"title": "Of yesterday"}, page=f"/manage/{queue.name}/settings"
    )
    assert changed.status_code in (200, 303, 422)


def test_people_and_what_they_hold(
    visitor: Callable[[str], Browser], admin: Caller, queue: leaseq.Queue
) -> None:
    boss, ann = visitor("admin"), visitor("worker")
    assert queue.reserve(ann.name) is not None
    page = boss.get("/people")
    assert page.status_code == 200
    assert boss.get(f"/people/{ann.name}").status_code == 200
    assert admin("PUT", f"/people/{ann.name}", json={"disabled": True}).status_code == 200
    assert queue.mine(ann.name) == [], "a lease elsewhere is taken back all the same"


def test_metrics(manager: Caller, unreadable: leaseq.Queue, queue: leaseq.Queue) -> None:
    page = manager.client.get("/metrics", headers={"Authorization": f"Bearer {manager.token}"})
    assert page.status_code == 200
    found = {
        (one.name, one.labels.get("queue"), one.labels.get("state")): one.value
        for family in text_string_to_metric_families(page.text)
        for one in family.samples
    }
    assert found["leaseq_items", queue.name, "inbound"] == 1
    assert found["leaseq_unreadable", unreadable.name, None] == 1
    assert found["leaseq_unreadable", queue.name, None] == 0
    assert ("leaseq_items", unreadable.name, "inbound") not in found


def test_rest(worker: Caller, unreadable: leaseq.Queue, queue: leaseq.Queue) -> None:
    queues: dict[str, Any] = {}
    wrong: dict[str, str] = {}
    first, last = sorted((queue.name, unreadable.name))
    after: str | None = first[:-1]  # other tests have thousands of queues
    while after is not None and after < last:
        answer = worker("GET", "/queues", query_string={"limit": 100, "after": after})
        assert answer.status_code == 200
        queues |= {one["name"]: one for one in answer.json["queues"]}
        wrong |= {one["name"]: one["detail"] for one in answer.json["unreadable"]}
        after = answer.json["after"]
    assert queues[queue.name]["title"] == "Of today"
    assert unreadable.name not in queues
    assert list(wrong) == [unreadable.name]
    assert "Use a newer version of leaseq" in wrong[unreadable.name]


def test_what_is_asked_of_that_queue_itself(
    worker: Caller, person: Browser, unreadable: leaseq.Queue
) -> None:
    answer = worker("GET", f"/queues/{unreadable.name}")
    assert (answer.status_code, answer.json["code"]) == (503, "queue-unreadable")
    assert "Use a newer version of leaseq" in answer.json["detail"]
    assert "Retry-After" not in answer.headers, "it does not pass by waiting"
    page = person.get(f"/q/{unreadable.name}")
    assert page.status_code == 503
    assert "Use a newer version of leaseq" in page.text
    assert "as soon as the server is back" not in page.text
    assert "Go to the queues" in page.text


def test_a_page_names_the_methods_that_it_has(app: Flask) -> None:
    refused = app.test_client().delete("/login")
    assert refused.status_code == 405
    assert {"GET", "POST"} <= set(refused.headers["Allow"].split(", "))


def test_a_page_that_is_not_there_has_the_persons_menu(person: Browser, app: Flask) -> None:
    assert f'data-person="{person.name}"' in person.get("/no-such-page").text
    stranger = app.test_client().get("/no-such-page")
    assert stranger.status_code == 404
    assert "data-person" not in stranger.text
