"""The body of each event, and the endpoints that it is sent to."""

from __future__ import annotations

import json
from typing import Any

import pytest

import leaseq
from leaseq import Invalid, webhooks
from leaseq.engine.keys import WEBHOOK_EVENTS, Keys
from leaseq.transfer import rfc3339
from tests.support.leases import not_none
from tests.support.receiver import Receiver
from tests.webhooks.conftest import Hooks

LIMIT = 262_144


def verified_bodies(receiver: Receiver, secret: str) -> list[Any]:
    return [request.verify(secret) for request in receiver.requests]


def test_finished_item_is_sent_signed_with_all_fields(hooks: Hooks, receiver: Receiver) -> None:
    hook = hooks.add(receiver.url, "item.finished")
    hooks.finish("a", {"v": "é"}, payload={"text": "hello"})
    hooks.run(hook.endpoint)
    answer = hooks.queue.get("a").answers[0]
    assert verified_bodies(receiver, hook.secret) == [
        {
            "type": "item.finished",
            "timestamp": rfc3339(answer.finished_at),
            "data": {
                "queue": hooks.queue.name,
                "id": "a",
                "payload": {"text": "hello"},
                "result": {"v": "é"},
                "person": "bob",
                "token": answer.token,
                "finished_at": rfc3339(answer.finished_at),
                "late": False,
            },
        }
    ]
    headers = receiver.requests[0].headers
    assert headers["content-type"] == "application/json"
    assert receiver.requests[0].path == "/hook"


def test_dying_item_sends_failed_and_dead_events_with_the_error(hooks: Hooks, receiver: Receiver) -> None:
    hook = hooks.add(receiver.url)
    hooks.queue.enqueue("scan", id="a", max_attempts=1)
    hooks.queue.fail(not_none(hooks.queue.reserve("bob")), "unreadable")
    hooks.run(hook.endpoint)
    bodies = sorted(verified_bodies(receiver, hook.secret), key=lambda body: str(body["type"]))
    assert [body["type"] for body in bodies] == ["item.dead", "item.failed"]
    for body in bodies:
        assert {**body["data"], "died_at": 0, "failed_at": 0} == {
            "queue": hooks.queue.name,
            "id": "a",
            "payload": "scan",
            "person": "bob",
            "token": 1,
            "error": "unreadable",
            "died_at": 0,
            "failed_at": 0,
        }


def test_items_that_nobody_needs_are_sent_as_that_and_not_as_dead(hooks: Hooks, receiver: Receiver) -> None:
    hook = hooks.add(receiver.url)
    hooks.queue.configure(answers=2, holds=2, lease_seconds=60)
    for id in ("cancelled", "held"):
        hooks.queue.enqueue(id, id=id)
        hooks.queue.reserve("bob")
    hooks.queue.cancel("cancelled", "withdrawn", by="ann")
    hooks.queue.enqueue("waiting", id="waiting", expires=10)
    hooks.queue.change("held", answers=1)
    hooks.queue.enqueue("late", id="late", expires=10)
    hooks.clock.tick(11)
    hooks.queue.clear()
    hooks.run(hook.endpoint)
    bodies = verified_bodies(receiver, hook.secret)
    sent = sorted((body["type"], body["data"]["id"]) for body in bodies)
    assert sent == [("item.cancelled", "cancelled"), ("item.expired", "late"), ("item.expired", "waiting")]
    (data,) = [body["data"] for body in bodies if body["type"] == "item.cancelled"]
    assert (data["payload"], data["person"], data["reason"]) == ("cancelled", "ann", "withdrawn")


def test_item_that_was_held_at_its_deadline_is_sent_as_expired_once_it_comes_back(
    hooks: Hooks, receiver: Receiver
) -> None:
    hook = hooks.add(receiver.url)
    hooks.queue.configure(lease_seconds=60)
    hooks.queue.enqueue("x", id="a", expires=10)
    lease = not_none(hooks.queue.reserve("bob"))
    hooks.clock.tick(11)
    hooks.queue.clear()
    hooks.run(hook.endpoint)
    assert verified_bodies(receiver, hook.secret) == []
    hooks.queue.abandon(lease)
    hooks.run(hook.endpoint)
    assert [body["type"] for body in verified_bodies(receiver, hook.secret)] == ["item.expired"]


def test_a_late_answer_is_sent_and_sent_as_finished_once_adopted(hooks: Hooks, receiver: Receiver) -> None:
    hook = hooks.add(receiver.url)
    hooks.queue.configure(lease_seconds=60)
    hooks.queue.enqueue("x", id="a")
    slow_lease = not_none(hooks.queue.reserve("slow"))
    hooks.clock.tick(61)
    hooks.queue.finish(not_none(hooks.queue.reserve("bob")), "bob's")
    with pytest.raises(leaseq.LeaseLost):
        hooks.queue.finish(slow_lease, "slow's")
    hooks.clock.tick(1)
    hooks.queue.adopt("a", slow_lease.token, by="boss")
    hooks.run(hook.endpoint)
    results = [(body["type"], body["data"]["result"]) for body in verified_bodies(receiver, hook.secret)]
    assert sorted(results) == [
        ("item.finished", "bob's"),
        ("item.finished", "slow's"),
        ("item.late", "slow's"),
    ]
    adopted_body = next(
        body for body in verified_bodies(receiver, hook.secret) if body["data"]["person"] == "slow"
    )
    assert adopted_body["data"]["late"] is True


def test_adoption_that_finishes_the_item_is_sent_once(hooks: Hooks, receiver: Receiver) -> None:
    hook = hooks.add(receiver.url, "item.finished")
    hooks.queue.configure(lease_seconds=60)
    hooks.queue.enqueue("x", id="a")
    slow_lease = not_none(hooks.queue.reserve("slow"))
    hooks.clock.tick(61)
    hooks.queue.reserve("bob")
    with pytest.raises(leaseq.LeaseLost):
        hooks.queue.finish(slow_lease, "slow's")
    hooks.queue.adopt("a", slow_lease.token, by="boss")
    hooks.run(hook.endpoint)
    assert [body["data"]["result"] for body in verified_bodies(receiver, hook.secret)] == ["slow's"]


def test_a_correction_is_sent_as_finished(hooks: Hooks, receiver: Receiver) -> None:
    hook = hooks.add(receiver.url, "item.finished")
    hooks.queue.enqueue("x", id="a")
    lease = not_none(hooks.queue.reserve("bob"))
    hooks.queue.finish(lease, "bob's")
    hooks.clock.tick(1)
    hooks.queue.correct("a", lease.token, "boss's", by="boss")
    hooks.run(hook.endpoint)
    results = [
        (body["data"]["person"], body["data"]["result"]) for body in verified_bodies(receiver, hook.secret)
    ]
    assert results == [("bob", "bob's"), ("boss", "boss's")]


def test_event_of_a_removed_item_is_sent_without_payload(hooks: Hooks, receiver: Receiver) -> None:
    hook = hooks.add(receiver.url)
    hooks.finish("a")
    hooks.queue.remove("a")
    hooks.run(hook.endpoint)
    (body,) = verified_bodies(receiver, hook.secret)
    assert (body["data"]["id"], body["data"]["payload"], body["data"]["result"]) == ("a", None, None)
    assert body["data"]["person"] == "bob"


@pytest.mark.parametrize(
    ("payload", "result", "left_out"),
    [
        (LIMIT - 2, 10, ["payload"]),
        (10, LIMIT - 2, ["payload", "result"]),
        (100_000, 100_000, None),
    ],
)
def test_too_large_payload_or_result_is_left_out_and_named(
    hooks: Hooks, receiver: Receiver, payload: int, result: int, left_out: list[str] | None
) -> None:
    hook = hooks.add(receiver.url)
    hooks.finish("a", "r" * result, payload="p" * payload)
    hooks.run(hook.endpoint)
    (request,) = receiver.requests
    assert len(request.body) <= LIMIT
    data = request.verify(hook.secret)["data"]
    assert data.get("left_out") == left_out
    names = [name for name in ("payload", "result") if data[name] is not None]
    assert names == [name for name in ("payload", "result") if name not in (left_out or [])]


def test_payload_of_maximum_depth_is_left_out(hooks: Hooks, receiver: Receiver) -> None:
    hook = hooks.add(receiver.url)
    payload: Any = 1
    for _ in range(64):
        payload = [payload]
    hooks.finish("a", payload=payload)
    hooks.run(hook.endpoint)
    assert receiver.requests[0].verify(hook.secret)["data"]["left_out"] == ["payload"]


def test_queue_empty_event_is_sent_once_each_time(hooks: Hooks, receiver: Receiver) -> None:
    hook = hooks.add(receiver.url, "queue.empty")
    hooks.queue.enqueue("x", id="later", delay=60)
    hooks.finish("a")
    hooks.run(hook.endpoint)
    assert receiver.requests == []
    hooks.clock.tick(61)
    hooks.queue.finish(not_none(hooks.queue.reserve("bob")), 1)
    hooks.run(hook.endpoint)
    hooks.queue.remove("a")
    hooks.run(hook.endpoint)
    assert [body["data"] for body in verified_bodies(receiver, hook.secret)] == [
        {"queue": hooks.queue.name, "finished": 2, "dead": 0}
    ]
    hooks.finish("b")
    hooks.run(hook.endpoint)
    assert len(receiver.requests) == 2


def test_queue_empty_event_is_sent_when_the_last_item_dies(hooks: Hooks, receiver: Receiver) -> None:
    hook = hooks.add(receiver.url, "queue.empty")
    hooks.queue.enqueue("x", id="a", max_attempts=1)
    hooks.queue.fail(not_none(hooks.queue.reserve("bob")), "torn")
    hooks.run(hook.endpoint)
    assert [body["data"] for body in verified_bodies(receiver, hook.secret)] == [
        {"queue": hooks.queue.name, "finished": 0, "dead": 1}
    ]


@pytest.mark.parametrize("state", ["inbound", "reserved", "scheduled"])
def test_queue_empty_event_is_not_sent_while_an_item_is_left(
    hooks: Hooks, receiver: Receiver, state: str
) -> None:
    hook = hooks.add(receiver.url, "queue.empty")
    hooks.queue.configure(holds=2)
    hooks.finish("a")
    hooks.queue.enqueue("x", id="left", delay=60 if state == "scheduled" else 0)
    if state == "reserved":
        assert hooks.queue.reserve("slow") is not None
    hooks.run(hook.endpoint)
    assert receiver.requests == []


def test_only_events_and_queues_of_the_endpoint_are_sent(
    hooks: Hooks, receiver: Receiver, server: Any
) -> None:
    other_queue = leaseq.Queue(server.client, f"{hooks.queue.name}.other", clock=hooks.clock)
    other_queue.configure()
    other_endpoint = hooks.add(receiver.url, "item.finished", queues=[other_queue.name]).endpoint
    dead_endpoint = hooks.add(receiver.url, "item.dead").endpoint
    hooks.finish("a")
    hooks.feed()
    assert (hooks.log(other_endpoint), hooks.log(dead_endpoint)) == ([], [])


def test_events_before_an_endpoint_was_added_are_not_sent(hooks: Hooks, receiver: Receiver) -> None:
    hooks.finish("before")
    first_endpoint = hooks.add(receiver.url).endpoint
    hooks.finish("between")
    second_endpoint = hooks.add(receiver.url).endpoint
    hooks.finish("after")
    hooks.feed()
    assert {delivery.body["data"]["id"] for delivery in hooks.log(first_endpoint)} == {"between", "after"}
    assert {delivery.body["data"]["id"] for delivery in hooks.log(second_endpoint)} == {"after"}


def test_alerts_of_a_queue_are_sent(hooks: Hooks, receiver: Receiver, server: Any) -> None:
    """The journal entry is written directly, as the engine writes it, with two alerts of one call."""
    hook = hooks.add(receiver.url, "alert.*")
    alerts = [{"alert": "oldest", "limit": 60, "value": 75}, {"alert": "dead", "limit": 1, "value": 2}]
    arguments = [argument for alert in alerts for argument in ("alert.raised", f"\t\t\t{json.dumps(alert)}")]
    server.redis.execute_command("XADD", Keys(hooks.queue.name).journal, f"{hooks.clock() + 9}-0", *arguments)
    hooks.run(hook.endpoint)
    bodies = verified_bodies(receiver, hook.secret)
    assert [body["type"] for body in bodies] == ["alert.raised"] * 2
    assert [body["data"] for body in bodies] == [{"queue": hooks.queue.name, **alert} for alert in alerts]


def test_person_events_are_read_from_their_own_stream(hooks: Hooks, receiver: Receiver, server: Any) -> None:
    webhooks.emit(server.client, "person.added", {"name": "early"})
    hooks.clock.now = 1  # the journal uses the server's time
    hook = hooks.add(receiver.url, "person.*", queues=[])
    item_endpoint = hooks.add(receiver.url, "item.*").endpoint
    hooks.clock.now = hooks.clock.start
    webhooks.emit(server.client, "person.disabled", {"name": "zoe", "by": "ann"})
    webhooks.emit(server.client, "webhook.added", {"id": "x"})
    hooks.run(hook.endpoint)
    assert [(body["type"], body["data"]) for body in verified_bodies(receiver, hook.secret)] == [
        ("person.added", {"name": "early"}),
        ("person.disabled", {"name": "zoe", "by": "ann"}),
    ]
    assert hooks.log(item_endpoint) == []
    hooks.run(hook.endpoint)
    assert len(receiver.requests) == 2


def test_person_events_before_an_endpoint_was_added_are_not_sent(
    server: Any, hooks: Hooks, receiver: Receiver
) -> None:
    early_ms = int(webhooks.emit(server.client, "person.added", {"name": "early"}).partition("-")[0])
    hooks.clock.now = early_ms * 1_000
    hook = hooks.add(receiver.url, "person.*")
    fields = {"type": "person.added", "data": '{"name":"zoe"}'}
    server.redis.xadd(WEBHOOK_EVENTS, fields, id=f"{early_ms + 1}-0")
    hooks.feed()
    assert [delivery.body["data"]["name"] for delivery in hooks.log(hook.endpoint)] == ["zoe"]


@pytest.mark.parametrize("data", [{"x": "y" * LIMIT}, {1: 2}, {"x": float("nan")}])
def test_invalid_or_too_large_event_data_is_refused(server: Any, data: Any) -> None:
    with pytest.raises(Invalid) as error:
        webhooks.emit(server.client, "person.added", data)
    assert error.value.field == "data"
