"""Pages and REST reveal nothing about queues to which a person has no access."""

from __future__ import annotations

from typing import Any

import pytest

import leaseq
from leaseq import webhooks
from leaseq.webapp.store.activity import Activity
from leaseq.webapp.store.queue_access import Access, Group, QueueAccess
from leaseq.webapp.store.threads import Threads
from tests.web.conftest import Browser, Caller


def test_similar_title_warning_ignores_queue_without_access(
    closed_queue: leaseq.Queue, manager_browser: Browser
) -> None:
    name = f"{closed_queue.name}.new"
    manager_browser.post("/manage", {"name": name, "title": closed_queue.policy.title}, page="/manage")
    page = manager_browser.get(f"/manage/{name}/settings").text
    assert "is created" in page
    assert "looks like that of" not in page


@pytest.mark.guard("webhooks-all")
def test_disabled_webhooks_are_shown_only_to_managers_of_all_queues(
    server: Any, closed_queue: leaseq.Queue, access: QueueAccess, manager_browser: Browser
) -> None:
    endpoints = webhooks.Endpoints(server.client)
    url = "https://8.8.8.8/secret-path"
    endpoint_id = endpoints.add(url, events=["item.finished"], by="test").endpoint.id
    endpoints.disable(endpoint_id, "it failed for five days")
    try:
        assert url not in manager_browser.get("/manage").text
        access.set(closed_queue.name, Access())
        assert url in manager_browser.get("/manage").text
    finally:
        endpoints.remove(endpoint_id)


def test_webhooks_link_is_shown_only_to_managers_of_all_queues(
    server: Any, closed_queue: leaseq.Queue, access: QueueAccess, manager_browser: Browser
) -> None:
    leaseq.Queue(server.client, f"{closed_queue.name}.mine").configure()
    for has_link in (False, True):
        for path in ("/manage", "/commands"):
            assert ("/webhooks" in manager_browser.get(path).text) == has_link, path
        access.set(closed_queue.name, Access())
    assert "/people" in manager_browser.get("/commands").text, "a page that managers may see"


def test_commands_about_a_queue_are_those_of_its_role(
    queue: leaseq.Queue, worker_browser: Browser, manager_browser: Browser
) -> None:
    queue.configure()
    for browser, manages in ((worker_browser, False), (manager_browser, True)):
        page = browser.get(f"/commands?queue={queue.name}").text
        assert f'"/q/{queue.name}"' in page
        assert (f'"/manage/{queue.name}"' in page) == manages


@pytest.mark.guard("webhooks-queue")
def test_webhooks_queue_is_for_admins_only(
    server: Any, queue: leaseq.Queue, worker: Caller, manager: Caller, admin: Caller
) -> None:
    """It contains the events of all queues, and of people."""
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


def test_day_page_hides_queue_after_access_is_lost(
    server: Any, form_queue: leaseq.Queue, access: QueueAccess, threads: Threads, worker_browser: Browser
) -> None:
    lease = form_queue.reserve(worker_browser.name)
    assert lease is not None
    activity = Activity(server.client)
    for queue in (form_queue.name, "another"):
        activity.record(worker_browser.name, queue, "finished", id=lease.id, token=1)
    activity.flush()
    threads.ask(form_queue.name, lease.id, worker_browser.name, "Which parcel?", message="1")
    threads.answer(form_queue.name, lease.id, "boss", "The blue one", message="2")
    texts = (form_queue.policy.title, "My parcel is not here", "The blue one", f"/q/{form_queue.name}")
    assert all(text in worker_browser.get("/day").text for text in texts)
    access.set(form_queue.name, Access(Group(people=("eva",))))
    page = worker_browser.get("/day").text
    access.set(form_queue.name, Access())
    assert [text for text in (*texts, form_queue.name) if text in page] == []
    assert "<b>2</b> done today" in page, "what they did counts"
