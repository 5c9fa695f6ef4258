"""At least once: a feeder that ends at any point loses nothing, and creates no delivery twice."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import leaseq
from leaseq import webhooks
from leaseq.engine.keys import WEBHOOK_STATE, Keys
from leaseq.webhooks import Feeder
from leaseq.webhooks.deliveries import delivery_id
from tests.support.leases import not_none
from tests.support.receiver import Receiver
from tests.support.refused import refused
from tests.webhooks.conftest import Hooks


class Killed(BaseException):
    """Raised in place of SIGKILL."""


@pytest.mark.parametrize("when", ["follow", "_client"])
def test_feeder_killed_before_saving_position_duplicates_nothing(
    hooks: Hooks, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    hook = hooks.add(receiver.url, "item.*", "queue.empty")
    hooks.finish("a")
    hooks.feed()
    hooks.finish("b")
    original_follow = leaseq.Queue.follow

    def follow(queue: leaseq.Queue, name: str, *, read: str | None = None) -> str:
        if read is not None:
            raise Killed
        return original_follow(queue, name)

    with monkeypatch.context() as patch:
        patch.setattr(leaseq.Queue, "follow", follow)
        with pytest.raises(Killed):
            hooks.feed()
    assert len(hooks.log(hook.endpoint)) == 4
    if when == "follow":
        hooks.finish("c")
    hooks.run(hook.endpoint)
    bodies = [request.verify(hook.secret) for request in receiver.requests]
    ids = sorted(body["data"]["id"] for body in bodies if body["type"] == "item.finished")
    assert ids == (["a", "b", "c"] if when == "follow" else ["a", "b"])
    assert len({request.id for request in receiver.requests}) == len(receiver.requests)


def test_several_feeders_create_each_delivery_once(hooks: Hooks, receiver: Receiver) -> None:
    hook = hooks.add(receiver.url)
    hooks.finish("a")
    for _ in range(3):
        Feeder(hooks.client, clock=hooks.clock).feed()
    hooks.run(hook.endpoint)
    assert len(receiver.requests) == 1


def test_delivery_id_of_an_event_is_stable() -> None:
    """During an upgrade, feeders of both versions may create the same delivery."""
    webhook_id = delivery_id("wh-1", "reviews", "item.finished", "1800000000000000", "a", "7")
    assert webhook_id == "msg_77ac83c870084411c7715a5e5bd6335f"


def test_feeder_reads_all_events_in_several_reads(hooks: Hooks, receiver: Receiver, monkeypatch: Any) -> None:
    monkeypatch.setattr("leaseq.webhooks.process._EVENTS", 7)
    hook = hooks.add(receiver.url, "item.dead", "item.failed")
    hooks.queue.configure(max_attempts=1)
    for n in range(10):
        hooks.queue.enqueue(n, id=f"i{n}")
        hooks.queue.fail(not_none(hooks.queue.reserve("bob")), "broken")
    hooks.feed()
    log = hooks.log(hook.endpoint)
    assert len(log) == 20
    assert {delivery.body["data"]["error"] for delivery in log} == {"broken"}


def test_feeder_reads_through_an_entry_of_any_size(hooks: Hooks, receiver: Receiver, server: Any) -> None:
    """Earlier versions wrote entries with more events than the feeder reads at once."""
    hook = hooks.add(receiver.url, "item.dead")
    hooks.queue.enqueue_many(leaseq.NewItem(n, id=f"i{n}") for n in range(3))
    hooks.clock.tick(1)
    fields = [word for n in range(3) for _ in range(700) for word in ("died", f"i{n}\t\t")]
    server.redis.execute_command("XADD", Keys(hooks.queue.name).journal, hooks.clock.now, *fields)
    hooks.clock.tick(1)
    hooks.queue.configure(max_attempts=1)
    hooks.queue.enqueue({}, id="last", priority=0)
    hooks.queue.fail(not_none(hooks.queue.reserve("bob")), "torn")
    hooks.feed()
    dead_ids = [delivery.body["data"]["id"] for delivery in hooks.log(hook.endpoint)]
    assert sorted(dead_ids) == ["i0", "i1", "i2", "last"]
    assert hooks.queue.journal(hooks.queue.follow("webhooks")) == []


def test_journal_is_followed_only_while_an_endpoint_is_enabled(
    hooks: Hooks, receiver: Receiver, server: Any
) -> None:
    def group_names() -> list[Any]:
        return [group["name"] for group in server.redis.xinfo_groups(Keys(hooks.queue.name).journal)]

    hooks.feed()
    assert group_names() == []
    first_endpoint, second_endpoint = hooks.add(receiver.url).endpoint, hooks.add(receiver.url).endpoint
    hooks.feed()
    assert group_names() == [b"webhooks"]
    hooks.endpoints.remove(first_endpoint.id)
    hooks.feed()
    assert group_names() == [b"webhooks"]
    hooks.endpoints.disable(second_endpoint.id, "a test")
    hooks.feed()
    assert group_names() == []
    fields = {field.decode() for field in server.redis.hkeys(WEBHOOK_STATE)}
    assert not any(field.startswith("follows") for field in fields)
    hooks.endpoints.remove(second_endpoint.id)
    assert [
        field for field in server.redis.hkeys(WEBHOOK_STATE) if second_endpoint.id in field.decode()
    ] == []


def test_endpoint_for_person_events_follows_no_journal(hooks: Hooks, receiver: Receiver, server: Any) -> None:
    hooks.add(receiver.url, "person.*", "webhook.disabled")
    hooks.feed()
    assert server.redis.xinfo_groups(Keys(hooks.queue.name).journal) == []


def test_lost_queue_is_no_longer_followed(hooks: Hooks, receiver: Receiver, server: Any) -> None:
    hooks.add(receiver.url)
    hooks.feed()
    for key in server.redis.scan_iter(match=f"leaseq:{{{hooks.queue.name}}}:*"):
        server.redis.delete(key)
    hooks.feed()
    assert not server.redis.hexists(WEBHOOK_STATE, f"follows {hooks.queue.name}")


def test_unreadable_queue_does_not_block_other_queues(
    hooks: Hooks, receiver: Receiver, unreadable_queue: leaseq.Queue
) -> None:
    hook = hooks.add(receiver.url, queues=[unreadable_queue.name, hooks.queue.name])
    hooks.finish("a")
    hooks.feed()
    assert "a" in [delivery.body["data"]["id"] for delivery in hooks.log(hook.endpoint)]


def test_queue_of_deliveries_sends_no_events_about_itself(hooks: Hooks, receiver: Receiver) -> None:
    hook = hooks.add(receiver.url, queues=[])
    hooks.finish("a")
    hooks.run(hook.endpoint)
    hooks.run(hook.endpoint)
    names = [request.verify(hook.secret)["data"]["queue"] for request in receiver.requests]
    assert webhooks.QUEUE not in names


def deliver_and_list_ids(hooks: Hooks, receiver: Receiver, hook: webhooks.NewSecret) -> list[str]:
    before = len(receiver.requests)
    hooks.deliver(hook.endpoint)
    return [request.id for request in receiver.requests[before:]]


def test_replay_keeps_webhook_ids(hooks: Hooks, receiver: Receiver) -> None:
    hook = hooks.add(receiver.url)
    for id in ("a", "b"):
        hooks.finish(id)
        hooks.run(hook.endpoint)
    ids = [request.id for request in receiver.requests]
    since = hooks.log(hook.endpoint)[0].tries[0].at
    assert hooks.deliveries.replay(hook.endpoint, delivery=ids[0]) == 1
    assert deliver_and_list_ids(hooks, receiver, hook) == ids[:1]
    assert hooks.deliveries.replay(hook.endpoint, since=since) == 2
    assert sorted(deliver_and_list_ids(hooks, receiver, hook)) == sorted(ids)
    assert hooks.deliveries.replay(hook.endpoint, since=hooks.endpoints.get(hook.endpoint.id).since) == 2
    assert sorted(deliver_and_list_ids(hooks, receiver, hook)) == sorted(ids), (
        "each once, although it was sent before"
    )
    assert all("." not in id for id in ids)
    assert hooks.deliveries.replay(hook.endpoint, since=datetime.now(UTC) + timedelta(hours=1)) == 0


def test_replay_revives_failed_deliveries(hooks: Hooks, receiver: Receiver) -> None:
    hook = hooks.add(receiver.url)
    hooks.finish("a")
    hooks.run(hook.endpoint)
    hooks.finish("b")
    hooks.feed()
    hooks.deliveries.queue.configure(max_attempts=1)
    receiver.responses.append(500)
    hooks.deliver(hook.endpoint)
    (failed_delivery, successful_delivery) = (
        next(delivery for delivery in hooks.log(hook.endpoint) if delivery.state == state)
        for state in ("failed", "delivered")
    )
    receiver.responses.append(500)
    hooks.test(hook.endpoint)
    assert hooks.deliveries.replay(hook.endpoint, failed=True) == 1, "a test is not sent again"
    assert deliver_and_list_ids(hooks, receiver, hook) == [failed_delivery.webhook_id]
    assert hooks.deliveries.get(failed_delivery.id).state == "delivered"
    assert len(hooks.deliveries.get(successful_delivery.id).tries) == 1


def test_invalid_replay_is_refused(hooks: Hooks, receiver: Receiver) -> None:
    hook, other_hook = hooks.add(receiver.url), hooks.add(receiver.url)
    hooks.finish("a")
    hooks.feed()
    (delivery,) = hooks.log(hook.endpoint)
    with refused("replay", what="open"):
        hooks.deliveries.replay(hook.endpoint, delivery=delivery.id)
    with pytest.raises(leaseq.ItemNotFound):
        hooks.deliveries.replay(other_hook.endpoint, delivery=delivery.id)
    with pytest.raises(leaseq.ItemNotFound):
        hooks.deliveries.replay(hook.endpoint, delivery="none")
    with refused("format", what="replay_since"):
        hooks.deliveries.replay(hook.endpoint)
    with refused("replay", what="test"):
        hooks.deliveries.replay(hook.endpoint, delivery=hooks.test(hook.endpoint).id)
    disabled_endpoint = hooks.endpoints.disable(hook.endpoint.id, "a test")
    with refused("endpoint_disabled", "id", id=hook.endpoint.id):
        hooks.deliveries.replay(disabled_endpoint, failed=True)


def test_original_and_its_replay_are_sent_again_once(hooks: Hooks, receiver: Receiver) -> None:
    hook = hooks.add(receiver.url)
    start = hooks.now()
    hooks.finish("a")
    hooks.run(hook.endpoint)
    (id,) = {request.id for request in receiver.requests}
    hooks.deliveries.queue.configure(max_attempts=1)
    for status in (200, 500, 200, 500, 200):  # a replay that failed is sent again itself
        hooks.clock.tick(1)
        receiver.responses.append(status)
        assert hooks.deliveries.replay(hook.endpoint, since=start) == 1
        assert deliver_and_list_ids(hooks, receiver, hook) == [id]
