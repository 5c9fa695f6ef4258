"""The managers' pages of webhooks, with a real receiver."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import pytest

import leaseq
from leaseq import webhooks
from leaseq.webapp.store.accounts import Accounts
from leaseq.webhooks import Deliverer, Feeder
from tests.support.leases import not_none
from tests.support.receiver import Receiver, sending
from tests.web.conftest import Browser, Caller

Visit = Callable[[str], Browser]


def text_of(response: Any) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", response.text)))


def add_endpoint(browser: Browser, receiver: Receiver, queue: leaseq.Queue) -> tuple[str, str]:
    """Add an endpoint; return its page, and the secret that was shown."""
    queue.configure()
    response = browser.post(
        "/webhooks", {"url": receiver.url, "event": ["item.finished"], "queue": [queue.name]}
    )
    assert response.status_code == 200
    (secret,) = re.findall(r"whsec_[\w+/=]+", response.text)
    (id,) = set(re.findall(r"/webhooks/(wh-\w+)/test", response.text))
    return f"/webhooks/{id}", secret


def test_an_endpoint_is_added_and_its_secret_shown_once(
    manager_browser: Browser, receiver: Receiver, queue: leaseq.Queue
) -> None:
    assert "There is no endpoint yet." in text_of(manager_browser.get("/webhooks"))
    endpoint_path, secret = add_endpoint(manager_browser, receiver, queue)
    for path in (endpoint_path, "/webhooks"):
        response = manager_browser.get(path)
        assert receiver.url in text_of(response)
        assert queue.name in text_of(response)
        assert secret not in response.text
    assert "/webhooks" in manager_browser.get("/manage").text


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"event": ["item.finished"]}, "url: expected http:// or https://"),
        ({"url": "https://10.0.0.1/", "event": ["item.finished"]}, "a public address"),
        ({"url": "https://8.8.8.8/"}, "Choose at least one kind of event."),
        ({"url": "https://8.8.8.8/", "event": ["person.added"]}, "require the role admin"),
        ({"url": "https://8.8.8.8/", "event": ["item.dead"], "queue": ["none-such"]}, "there is no queue"),
    ],
)
def test_refused_endpoint_shows_reason_and_keeps_form(
    manager_browser: Browser, receiver: Receiver, fields: Any, message: str
) -> None:
    response = manager_browser.post("/webhooks", fields)
    assert response.status_code == 400
    assert message in text_of(response)
    assert f'value="{fields.get("url", "")}"' in response.text
    assert "There is no endpoint yet." in text_of(response)


def test_only_admins_are_offered_events_of_people(
    sign_in_as: Visit, manager_browser: Browser, receiver: Receiver
) -> None:
    assert 'value="person.added"' not in manager_browser.get("/webhooks").text
    assert 'value="person.added"' in sign_in_as("admin").get("/webhooks").text
    assert sign_in_as("worker").get("/webhooks").status_code == 403


def test_delivery_log_shows_attempts_and_replays_delivery(
    manager_browser: Browser, receiver: Receiver, queue: leaseq.Queue, server: Any
) -> None:
    endpoint_path, secret = add_endpoint(manager_browser, receiver, queue)
    endpoint = endpoint_path.rpartition("/")[2]
    assert "Nothing was sent yet." in text_of(manager_browser.get(endpoint_path))
    queue.enqueue({"n": 1}, id="a")
    queue.finish(not_none(queue.reserve("ann")), {"v": 1})
    feeder, deliverer = Feeder(server.client), Deliverer(server.client, webhooks.networks("127.0.0.1"))

    def send_all() -> None:
        feeder.feed()
        while lease := deliverer.reserve(endpoint):
            deliverer.deliver(endpoint, lease)

    receiver.responses.append((500, {}, b"<b>broken</b>"))
    send_all()
    response = manager_browser.get(endpoint_path)
    assert "500 <b>broken</b>" in text_of(response).replace("  ", " ")
    assert "<b>broken</b>" not in response.text, "an answer is shown as text"
    assert "next try" in text_of(response)
    assert "Every try failed since" in text_of(response)
    overview = manager_browser.get("/manage")
    assert (receiver.url in text_of(overview), "every try failed since" in text_of(overview)) == (True, True)
    (delivery,) = webhooks.Deliveries(server.client).log(endpoint)
    for id, message in ((delivery.id, "one that is still tried"), ("none-such", "none-such")):
        replay_response = manager_browser.post(f"{endpoint_path}/replay", {"delivery": id})
        assert (replay_response.status_code, message in text_of(replay_response)) == (400, True)
        assert receiver.url in text_of(replay_response), "the endpoint's page says it"
    queue.enqueue({"n": 2}, id="b")
    queue.finish(not_none(queue.reserve("ann")), {"v": 1})
    send_all()
    assert "204" in text_of(manager_browser.get(endpoint_path))
    assert manager_browser.post(f"{endpoint_path}/replay", {"since": "2020-01-01"}).status_code == 303
    assert "1 delivery is sent again." in text_of(manager_browser.get(endpoint_path))
    send_all()
    ids = [request.id for request in receiver.requests]
    assert (len(ids), len(set(ids))) == (3, 2)
    assert receiver.requests[-1].verify(secret)["data"]["id"] == "b"


def test_endpoint_is_tested_rotated_disabled_enabled_and_removed(
    manager_browser: Browser,
    receiver: Receiver,
    queue: leaseq.Queue,
    server: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    endpoint_path, secret = add_endpoint(manager_browser, receiver, queue)
    with sending(server.client):
        assert "Test: delivered, 204" in text_of(manager_browser.post(f"{endpoint_path}/test"))
    monkeypatch.setattr("leaseq.webhooks.deliveries.TAKE_SECONDS", 0)
    assert "Test: not sent yet." in text_of(manager_browser.post(f"{endpoint_path}/test"))
    response = manager_browser.post(f"{endpoint_path}/rotate")
    assert re.findall(r"whsec_[\w+/=]+", response.text) != [secret]
    assert "The previous secret signs until" in text_of(manager_browser.get(endpoint_path))
    assert manager_browser.post(f"{endpoint_path}/disable").status_code == 303
    assert f"disabled by {manager_browser.name}" in text_of(manager_browser.get(endpoint_path))
    assert "Webhooks are no longer sent to" in text_of(manager_browser.get("/manage"))
    assert manager_browser.post(f"{endpoint_path}/enable").status_code == 303
    assert "Webhooks are no longer sent to" not in text_of(manager_browser.get("/manage"))
    assert manager_browser.post(f"{endpoint_path}/remove").status_code == 303
    assert manager_browser.get(endpoint_path).status_code == 404


def test_audit_log_has_each_action_on_an_endpoint_by_page_and_rest(
    sign_in_as: Visit,
    make_caller: Callable[[str], Caller],
    accounts: Accounts,
    receiver: Receiver,
    queue: leaseq.Queue,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("leaseq.webhooks.deliveries.TAKE_SECONDS", 0)  # nobody sends the test
    actions, replay = ("rotate", "test", "disable", "enable"), {"since": "2020-01-01T00:00:00Z"}
    browser, caller = sign_in_as("admin"), make_caller("manager")

    endpoint_path, _ = add_endpoint(browser, receiver, queue)
    for action in actions:
        browser.post(f"{endpoint_path}/{action}")
    browser.post(f"{endpoint_path}/replay", replay)
    browser.post(f"{endpoint_path}/remove")

    endpoint = {"url": receiver.url, "events": ["item.finished"], "queues": [queue.name]}
    rest_path = f"/webhooks/{caller('POST', '/webhooks', json=endpoint).json['id']}"
    for action in actions:
        caller("POST", f"{rest_path}/{action}", json={})
    caller("POST", f"{rest_path}/replay", json=replay)
    caller("DELETE", rest_path)

    for name, path in ((browser.name, endpoint_path), (caller.name, rest_path)):
        entries = accounts.log.page(person=name, kind="webhook").entries
        assert [(one.what, dict(one.values)) for one in reversed(entries)] == [
            ("webhook.added", {"url": receiver.url, "events": ["item.finished"]}),
            ("webhook.rotated", {}),
            ("webhook.tested", {}),
            ("webhook.disabled", {}),
            ("webhook.enabled", {}),
            ("webhook.replayed", {"deliveries": 0}),
            ("webhook.removed", {"url": receiver.url}),
        ]
        assert {one.about for one in entries} == {path.rpartition("/")[2]}
    log_text = text_of(browser.get(f"/audit-log?person={browser.name}&kind=webhook"))
    assert "Item finished" in log_text
    assert "item.finished" not in log_text


def test_delivery_queue_is_on_no_page(
    manager_browser: Browser, sign_in_as: Visit, receiver: Receiver, queue: leaseq.Queue, server: Any
) -> None:
    endpoint_path, _ = add_endpoint(manager_browser, receiver, queue)
    webhooks.Deliveries(server.client).add_test(endpoint_path.rpartition("/")[2])
    worker = sign_in_as("worker")
    for response in (
        manager_browser.get("/manage"),
        manager_browser.get("/account"),
        worker.get("/"),
        worker.get("/queues"),
    ):
        assert response.status_code in (200, 303)
        assert webhooks.QUEUE not in response.text


def test_delivery_queue_is_not_listed_by_rest(
    manager_browser: Browser, receiver: Receiver, queue: leaseq.Queue, worker: Caller, server: Any
) -> None:
    endpoint_path, _ = add_endpoint(manager_browser, receiver, queue)
    webhooks.Deliveries(server.client).add_test(endpoint_path.rpartition("/")[2])
    for name, is_listed in ((queue.name, True), (webhooks.QUEUE, False)):
        queues = worker("GET", f"/queues?limit=5&after={name[:-1]}").json["queues"]
        assert (name in [entry["name"] for entry in queues]) == is_listed
