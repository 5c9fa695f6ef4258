"""What people are told of queues that they have no access to: nothing, also beside their own."""

from __future__ import annotations

from typing import Any

import leaseq
from leaseq import webhooks
from leaseq.webapp.store.activity import Activity
from leaseq.webapp.store.queue_access import Access, Group, QueueAccess
from leaseq.webapp.store.threads import Threads
from tests.web.conftest import Browser, Caller


def test_a_title_like_that_of_a_queue_without_access_names_it_not(
    closed: leaseq.Queue, boss: Browser
) -> None:
    name = f"{closed.name}.new"
    boss.post("/manage", {"name": name, "title": closed.policy.title}, page="/manage")
    page = boss.get(f"/manage/{name}/settings").text
    assert "is created" in page
    assert "looks like that of" not in page


def test_disabled_webhooks_are_shown_to_those_who_may_manage_all(
    server: Any, closed: leaseq.Queue, access: QueueAccess, boss: Browser
) -> None:
    endpoints = webhooks.Endpoints(server.client)
    url = "https://8.8.8.8/secret-path"
    id = endpoints.add(url, events=["item.finished"], by="test").endpoint.id
    endpoints.disable(id, "it failed for five days")
    try:
        assert url not in boss.get("/manage").text
        access.set(closed.name, Access())
        assert url in boss.get("/manage").text
    finally:
        endpoints.remove(id)


def test_no_link_leads_to_what_is_of_all_queues(
    server: Any, closed: leaseq.Queue, access: QueueAccess, boss: Browser
) -> None:
    leaseq.Queue(server.client, f"{closed.name}.mine").configure()
    for shown in (False, True):
        for path in ("/manage", "/commands"):
            assert ("/webhooks" in boss.get(path).text) == shown, path
        access.set(closed.name, Access())
    assert "/people" in boss.get("/commands").text, "which a manager may see"


def test_the_queue_of_webhooks_is_for_admins(
    server: Any, queue: leaseq.Queue, worker: Caller, manager: Caller, admin: Caller
) -> None:
    """It has the events of all queues, and of people."""
    deliveries = webhooks.Deliveries(server.client)
    deliveries.make_queue()
    try:
        for path in ("", "/items?state=inbound", "/journal"):
            assert manager("GET", f"/queues/{webhooks.QUEUE}{path}").status_code == 404, path
            assert admin("GET", f"/queues/{webhooks.QUEUE}{path}").status_code == 200, path
        assert manager("PUT", f"/queues/{webhooks.QUEUE}", json={"title": "Mine"}).status_code == 403
        assert worker("GET", f"/queues/{webhooks.QUEUE}").status_code == 404
        assert worker("POST", f"/queues/{webhooks.QUEUE}/reserve", json={}).status_code == 404
    finally:
        deliveries.queue.delete()


def test_the_day_has_nothing_of_a_queue_whose_access_was_lost(
    server: Any, asking: leaseq.Queue, access: QueueAccess, threads: Threads, person: Browser
) -> None:
    lease = asking.reserve(person.name)
    assert lease is not None
    activity = Activity(server.client)
    for queue in (asking.name, "another"):
        activity.record(person.name, queue, "finished", id=lease.id, token=1)
    activity.flush()
    threads.ask(asking.name, lease.id, person.name, "Which parcel?", message="1")
    threads.answer(asking.name, lease.id, "boss", "The blue one", message="2")
    of_queue = (asking.policy.title, "My parcel is not here", "The blue one", f"/q/{asking.name}")
    assert all(one in person.get("/day").text for one in of_queue)
    access.set(asking.name, Access(Group(people=("eva",))))
    page = person.get("/day").text
    access.set(asking.name, Access())
    assert [one for one in (*of_queue, asking.name) if one in page] == []
    assert "<b>2</b> done today" in page, "what they did counts"
