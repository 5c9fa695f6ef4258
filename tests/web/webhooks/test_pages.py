"""The managers' pages of webhooks, with a real receiver."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import pytest

import leaseq
from leaseq import webhooks
from leaseq.webhooks import Deliverer, Feeder
from tests.support.receiver import Receiver
from tests.support.taking import not_none
from tests.web.conftest import Browser, Caller

Visit = Callable[[str], Browser]


@pytest.fixture
def boss(visitor: Visit) -> Browser:
    return visitor("manager")


def text_of(answer: Any) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", answer.text)))


def added(boss: Browser, receiver: Receiver, queue: leaseq.Queue) -> tuple[str, str]:
    """The page of a new endpoint, and the secret that was shown."""
    queue.configure()
    page = boss.post("/webhooks", {"url": receiver.url, "event": ["item.finished"], "queue": [queue.name]})
    assert page.status_code == 200
    (secret,) = re.findall(r"whsec_[\w+/=]+", page.text)
    (id,) = set(re.findall(r"/webhooks/(wh-\w+)/test", page.text))
    return f"/webhooks/{id}", secret


def test_an_endpoint_is_added_and_its_secret_shown_once(
    boss: Browser, receiver: Receiver, queue: leaseq.Queue
) -> None:
    assert "There is no endpoint yet." in text_of(boss.get("/webhooks"))
    page, secret = added(boss, receiver, queue)
    for path in (page, "/webhooks"):
        shown = boss.get(path)
        assert receiver.url in text_of(shown)
        assert queue.name in text_of(shown)
        assert secret not in shown.text
    assert "/webhooks" in boss.get("/manage").text


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"event": ["item.finished"]}, "url: http:// or https://"),
        ({"url": "https://10.0.0.1/", "event": ["item.finished"]}, "is not public"),
        ({"url": "https://8.8.8.8/"}, "Choose at least one kind of event."),
        ({"url": "https://8.8.8.8/", "event": ["person.added"]}, "require the role admin"),
        ({"url": "https://8.8.8.8/", "event": ["item.dead"], "queue": ["none-such"]}, "there is no queue"),
    ],
)
def test_what_is_refused_is_said_and_the_form_is_kept(
    boss: Browser, receiver: Receiver, fields: Any, said: str
) -> None:
    page = boss.post("/webhooks", fields)
    assert page.status_code == 400
    assert said in text_of(page)
    assert f'value="{fields.get("url", "")}"' in page.text
    assert "There is no endpoint yet." in text_of(page)


def test_only_admins_are_offered_events_of_people(visitor: Visit, boss: Browser, receiver: Receiver) -> None:
    assert 'value="person.added"' not in boss.get("/webhooks").text
    assert 'value="person.added"' in visitor("admin").get("/webhooks").text
    assert visitor("worker").get("/webhooks").status_code == 403


def test_the_log_shows_each_try_and_sends_again(
    boss: Browser, receiver: Receiver, queue: leaseq.Queue, server: Any
) -> None:
    page, secret = added(boss, receiver, queue)
    endpoint = page.rpartition("/")[2]
    assert "Nothing was sent yet." in text_of(boss.get(page))
    queue.enqueue({"n": 1}, id="a")
    queue.finish(not_none(queue.reserve("ann")), {"v": 1})
    feeder, deliverer = Feeder(server.client), Deliverer(server.client, webhooks.networks("127.0.0.1"))

    def send_all() -> None:
        feeder.feed()
        while lease := deliverer.take(endpoint):
            deliverer.deliver(endpoint, lease)

    receiver.answers.append((500, {}, b"<b>broken</b>"))
    send_all()
    shown = boss.get(page)
    assert "500 <b>broken</b>" in text_of(shown).replace("  ", " ")
    assert "<b>broken</b>" not in shown.text, "an answer is text"
    assert "next try" in text_of(shown)
    assert "Every try failed since" in text_of(shown)
    (delivery,) = webhooks.Deliveries(server.client).log(endpoint)
    early = boss.post(f"{page}/replay", {"delivery": delivery.id})
    assert (early.status_code, "still tried" in text_of(early)) == (400, True)
    queue.enqueue({"n": 2}, id="b")
    queue.finish(not_none(queue.reserve("ann")), {"v": 1})
    send_all()
    assert "204" in text_of(boss.get(page))
    assert boss.post(f"{page}/replay", {"since": "2020-01-01"}).status_code == 303
    assert "1 delivery is sent again." in text_of(boss.get(page))
    send_all()
    ids = [request.id for request in receiver.requests]
    assert (len(ids), len(set(ids))) == (3, 2)
    assert receiver.requests[-1].verified(secret)["data"]["id"] == "b"


def test_a_test_a_new_secret_and_the_end(boss: Browser, receiver: Receiver, queue: leaseq.Queue) -> None:
    page, secret = added(boss, receiver, queue)
    assert "Test: delivered, 204" in text_of(boss.post(f"{page}/test"))
    renewed = boss.post(f"{page}/rotate")
    assert re.findall(r"whsec_[\w+/=]+", renewed.text) != [secret]
    assert "The older secret signs until" in text_of(boss.get(page))
    assert boss.post(f"{page}/disable").status_code == 303
    assert f"disabled by {boss.name}" in text_of(boss.get(page))
    assert "Webhooks are no longer sent to" in text_of(boss.get("/manage"))
    assert boss.post(f"{page}/enable").status_code == 303
    assert "Webhooks are no longer sent to" not in text_of(boss.get("/manage"))
    assert boss.post(f"{page}/remove").status_code == 303
    assert boss.get(page).status_code == 404


def test_the_log_of_managers_has_it_in_words(visitor: Visit, receiver: Receiver, queue: leaseq.Queue) -> None:
    admin = visitor("admin")
    page, _ = added(admin, receiver, queue)
    admin.post(f"{page}/remove")
    told = text_of(admin.get(f"/people/log?person={admin.name}&kind=webhook"))
    assert "added a webhook endpoint" in told
    assert "removed a webhook endpoint" in told


def test_the_queue_of_deliveries_is_on_no_page(
    boss: Browser, visitor: Visit, receiver: Receiver, queue: leaseq.Queue
) -> None:
    page, _ = added(boss, receiver, queue)
    boss.post(f"{page}/test")
    worker = visitor("worker")
    for answer in (boss.get("/manage"), boss.get("/account"), worker.get("/"), worker.get("/queues")):
        assert answer.status_code in (200, 303)
        assert webhooks.QUEUE not in answer.text


def test_nor_is_it_in_the_list_of_rest(
    boss: Browser, receiver: Receiver, queue: leaseq.Queue, worker: Caller
) -> None:
    page, _ = added(boss, receiver, queue)
    boss.post(f"{page}/test")
    for name, is_listed in ((queue.name, True), (webhooks.QUEUE, False)):
        page = worker("GET", f"/queues?limit=5&after={name[:-1]}").json["queues"]
        assert (name in [one["name"] for one in page]) == is_listed
