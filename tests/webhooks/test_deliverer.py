"""Deliveries: attempts, back-off, disabled endpoints, the log."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from leaseq import webhooks
from leaseq.webhooks.process import Sender
from tests.conftest import Server
from tests.support.leases import not_none
from tests.support.receiver import Receiver, forget_webhooks, sending
from tests.support.refused import raises
from tests.support.waiting import eventually
from tests.webhooks.conftest import LOOPBACK, Hooks, add_hook_with_delivery

HOUR = 3_600
Redirect = tuple[int, dict[str, str], bytes]


@pytest.mark.parametrize("status", [500, 503, 404, 401, 301, 304])
def test_unsuccessful_delivery_is_retried_with_the_same_id(
    hooks: Hooks, receiver: Receiver, status: int
) -> None:
    hook = add_hook_with_delivery(hooks, receiver)
    receiver.responses.extend([(status, {}, b"not <now>\r\n\x00please"), status])
    for _ in range(3):
        (waiting_delivery,) = hooks.log(hook.endpoint)
        assert waiting_delivery.state == "waiting"
        assert (waiting_delivery.next_at is None) == (waiting_delivery.tries == ())
        assert len(hooks.deliver(hook.endpoint)) == 1
        assert hooks.deliver(hook.endpoint) == []
        hooks.clock.tick(11)
    assert hooks.deliver(hook.endpoint) == []
    assert len({request.id for request in receiver.requests}) == 1
    assert len({request.headers["webhook-timestamp"] for request in receiver.requests}) == 3
    for request in receiver.requests:
        request.verify(hook.secret)
    (delivery,) = hooks.log(hook.endpoint)
    assert (delivery.state, delivery.type) == ("delivered", "item.finished")
    assert [(attempt.status, attempt.excerpt) for attempt in delivery.tries] == [
        (status, "" if status == 304 else "not <now> please"),
        (status, ""),
        (204, ""),
    ]
    assert hooks.endpoints.get(hook.endpoint.id).failing_since is None


def test_a_redirect_is_not_followed(hooks: Hooks, receiver: Receiver) -> None:
    hook = add_hook_with_delivery(hooks, receiver)
    redirect: Redirect = (302, {"Location": f"http://127.0.0.1:{receiver.port}/elsewhere"}, b"")
    receiver.responses.append(redirect)
    (response,) = hooks.deliver(hook.endpoint)
    assert not_none(response).status == 302
    assert [request.path for request in receiver.requests] == ["/hook"]
    assert hooks.log(hook.endpoint)[0].state == "waiting"


def test_status_410_disables_endpoint_and_sends_disabled_event(hooks: Hooks, receiver: Receiver) -> None:
    hooks.clock.tick(-60)  # the journal entry with this event has the server's time
    other_hook = hooks.add(receiver.url, "webhook.disabled")
    hooks.clock.now = hooks.clock.start
    hook = add_hook_with_delivery(hooks, receiver)
    receiver.responses.append(410)
    hooks.deliver(hook.endpoint)
    endpoint = hooks.endpoints.get(hook.endpoint.id)
    assert (endpoint.disabled_at is None, endpoint.disabled_why) == (False, "the receiver answered 410 Gone")
    assert Sender(hooks.deliverer, 1, threading.Event()).loop.round() is False
    hooks.run(other_hook.endpoint)
    body = receiver.requests[-1].verify(other_hook.secret)
    assert (body["type"], body["data"]["id"]) == ("webhook.disabled", hook.endpoint.id)


def test_endpoint_is_disabled_after_a_day_of_failures(hooks: Hooks, receiver: Receiver) -> None:
    hook = add_hook_with_delivery(hooks, receiver)
    start = hooks.now()
    tries = 0
    while hooks.endpoints.get(hook.endpoint.id).disabled_at is None:
        receiver.responses.append(500)
        tries += len(hooks.deliver(hook.endpoint))
        assert hooks.now() - start < timedelta(hours=26)
        hooks.clock.tick(600)
    endpoint = hooks.endpoints.get(hook.endpoint.id)
    assert not_none(endpoint.failing_since) - start < timedelta(milliseconds=1)
    assert not_none(endpoint.disabled_at) - start >= timedelta(hours=24)
    assert "every try since" in not_none(endpoint.disabled_why)
    assert 30 < tries < 48
    hooks.finish("while disabled")
    hooks.feed()
    assert len(hooks.log(hook.endpoint)) == 1, "events while it is disabled are not kept for it"


def test_success_resets_the_failure_period(hooks: Hooks, receiver: Receiver) -> None:
    hook = add_hook_with_delivery(hooks, receiver)
    receiver.responses.append(500)
    hooks.deliver(hook.endpoint)
    hooks.clock.tick(23 * HOUR)
    hooks.deliver(hook.endpoint)
    receiver.responses.append(500)
    hooks.finish("b")
    hooks.clock.tick(2 * HOUR)
    hooks.run(hook.endpoint)
    assert hooks.endpoints.get(hook.endpoint.id).disabled_at is None


def test_waiting_delivery_is_sent_when_endpoint_is_enabled_again(hooks: Hooks, receiver: Receiver) -> None:
    hook = add_hook_with_delivery(hooks, receiver)
    hooks.endpoints.disable(hook.endpoint.id, "a test")
    lease = not_none(hooks.deliverer.reserve(hook.endpoint.id))
    assert hooks.deliverer.deliver(hook.endpoint.id, lease) is None
    assert receiver.requests == []
    hooks.finish("meanwhile")
    hooks.clock.tick(1)
    hooks.endpoints.enable(hook.endpoint.id)
    hooks.finish("after")
    hooks.run(hook.endpoint)
    ids = [request.verify(hook.secret)["data"]["id"] for request in receiver.requests]
    assert ids == ["a", "after"]


def test_enabled_endpoint_begins_a_new_failure_period(hooks: Hooks, receiver: Receiver) -> None:
    hook = add_hook_with_delivery(hooks, receiver)
    receiver.responses.append(500)
    hooks.deliver(hook.endpoint)
    assert hooks.endpoints.get(hook.endpoint.id).failing_since is not None
    hooks.endpoints.disable(hook.endpoint.id, "a test")
    hooks.clock.tick(30 * HOUR)
    assert hooks.endpoints.enable(hook.endpoint.id).failing_since is None
    receiver.responses.append(500)
    assert len(hooks.deliver(hook.endpoint)) == 1
    endpoint = hooks.endpoints.get(hook.endpoint.id)
    assert (endpoint.disabled_at, endpoint.failing_since is None) == (None, False)


@pytest.mark.parametrize("stage", ["silent", "headers", "status"])
def test_slow_receiver_times_out(hooks: Hooks, receiver: Receiver, stage: str) -> None:
    hook = add_hook_with_delivery(hooks, receiver)
    stop = threading.Event()

    def drip(handler: BaseHTTPRequestHandler) -> None:
        """Send a byte now and then, so that no socket timeout is ever reached."""
        prefix = {"silent": b"", "headers": b"HTTP/1.1 200 OK\r\nX-Long: ", "status": b"HT"}[stage]
        handler.wfile.write(prefix)
        while not stop.wait(0.02):
            try:
                handler.wfile.write(b"" if stage == "silent" else b"x")
                handler.wfile.flush()
            except OSError:
                return

    receiver.responses.append(drip)
    hooks.deliverer = hooks.make_deliverer(seconds=0.3)
    (response,) = hooks.deliver(hook.endpoint)
    stop.set()
    assert (not_none(response).status, not_none(response).ok) == (None, False)
    assert not_none(response).error == "no answer within 0.3 s"


def test_long_response_is_read_only_in_part(hooks: Hooks, receiver: Receiver) -> None:
    hook = add_hook_with_delivery(hooks, receiver)
    receiver.responses.append((500, {}, b"x" * 5_000_000))
    (response,) = hooks.deliver(hook.endpoint)
    assert not_none(response).excerpt == "x" * 400


def test_failed_connection_is_in_the_delivery_log(hooks: Hooks) -> None:
    with Receiver() as receiver:
        url = receiver.url
    hook = hooks.add(url)
    hooks.finish("a")
    hooks.run(hook.endpoint)
    (attempt,) = hooks.log(hook.endpoint)[0].tries
    assert attempt.status is None
    assert "no connection to 127.0.0.1" in not_none(attempt.error)


def test_delivery_of_a_killed_deliverer_is_sent_by_another_deliverer(
    hooks: Hooks, receiver: Receiver
) -> None:
    hook = add_hook_with_delivery(hooks, receiver)
    assert hooks.deliverer.reserve(hook.endpoint.id) is not None
    other_deliverer = hooks.make_deliverer()
    assert other_deliverer.reserve(hook.endpoint.id) is None, "one at a time"
    hooks.clock.tick(61)
    lease = not_none(other_deliverer.reserve(hook.endpoint.id))
    assert not_none(other_deliverer.deliver(hook.endpoint.id, lease)).status == 204
    (delivery,) = hooks.log(hook.endpoint)
    assert [(attempt.status, attempt.error) for attempt in delivery.tries] == [
        (None, "the process that sent it ended"),
        (204, None),
    ]


def test_waiting_delivery_is_not_sent_to_a_removed_endpoint(hooks: Hooks, receiver: Receiver) -> None:
    hook = add_hook_with_delivery(hooks, receiver)
    feeder = webhooks.Feeder(hooks.client, clock=hooks.clock)
    feeder.feed()
    lease = not_none(hooks.deliverer.reserve(hook.endpoint.id))
    assert [delivery.state for delivery in hooks.log(hook.endpoint)] == ["sending"]
    hooks.endpoints.remove(hook.endpoint.id)
    assert hooks.deliverer.deliver(hook.endpoint.id, lease) is None
    hooks.deliveries.add([("made-meanwhile", hook.endpoint.id, {})])
    feeder.feed()
    assert hooks.log(hook.endpoint) == []
    assert receiver.requests == []
    with raises(webhooks.EndpointNotFound, "not_found", what="endpoint") as error:
        hooks.endpoints.secrets(hook.endpoint.id, hooks.now())
    assert error.value.id == hook.endpoint.id


def test_slow_endpoint_does_not_block_another_endpoint(hooks: Hooks, receiver: Receiver) -> None:
    """The first endpoint has its maximum of deliveries in progress; the second gets its own immediately."""
    go_on = threading.Event()

    def fail_later(handler: BaseHTTPRequestHandler) -> None:
        go_on.wait(60)
        handler.send_error(500)

    with Receiver() as slow_receiver:
        for n in range(3):
            hooks.finish(f"early-{n}")
        stuck_endpoint = hooks.add(slow_receiver.url).endpoint
        quick_endpoint = hooks.add(receiver.url).endpoint
        hooks.clock.tick(1)
        for n in range(3):
            slow_receiver.responses.append(fail_later)
            hooks.finish(f"n{n}")
        hooks.feed()
        sender = Sender(hooks.deliverer, 2, threading.Event())
        while sender.loop.round():
            pass
        eventually(lambda: [delivery.state for delivery in hooks.log(quick_endpoint)] == ["delivered"] * 3)
        eventually(lambda: len(slow_receiver.requests) == 2)
        assert sorted(delivery.state for delivery in hooks.log(stuck_endpoint)) == [
            "sending",
            "sending",
            "waiting",
        ]
        go_on.set()
        sender.join()
        assert [delivery.state for delivery in hooks.log(stuck_endpoint) if delivery.state == "sending"] == []


def test_test_is_sent_before_other_deliveries_and_once(hooks: Hooks, receiver: Receiver) -> None:
    hook = add_hook_with_delivery(hooks, receiver)
    hooks.endpoints.disable(hook.endpoint.id, "it failed")
    receiver.responses.append((500, {}, b"broken"))
    delivery = hooks.test(hook.endpoint)
    assert (delivery.type, delivery.state) == ("webhook.test", "failed")
    assert [(attempt.status, attempt.excerpt) for attempt in delivery.tries] == [(500, "broken")]
    assert hooks.test(hook.endpoint).state == "delivered"
    body = receiver.requests[-1].verify(hook.secret)
    assert (body["type"], body["data"]) == ("webhook.test", {"endpoint": hook.endpoint.id})
    assert len(receiver.requests) == 2, "a test does not send waiting deliveries"


def test_test_is_sent_by_the_process_that_sends_webhooks(
    server: Server, receiver: Receiver, hooks: Hooks
) -> None:
    """So it succeeds only where deliveries do: with the sender's settings, from the sender's machine."""
    forget_webhooks(server.redis)
    new_secret = webhooks.Endpoints(server.client).add(
        receiver.url, events=["item.*"], queues=[hooks.queue.name], by="ann", allow=LOOPBACK
    )
    deliveries = webhooks.Deliveries(server.client)
    for is_disabled in (False, True):
        if is_disabled:
            webhooks.Endpoints(server.client).disable(new_secret.endpoint.id, "to see a test of it")
        assert deliveries.test(new_secret.endpoint, seconds=0).state == "waiting", "no process takes it"
        with sending(server.client):
            assert deliveries.test(new_secret.endpoint).state == "delivered"
            assert len(receiver.requests) == 2, "the one before it, too"
        with sending(server.client, allow=""):
            refused = deliveries.test(new_secret.endpoint)
        assert (refused.state, refused.tries[0].status) == ("failed", None)
        assert "LEASEQ_WEBHOOK_ALLOW" in (refused.tries[0].error or "")
        receiver.requests.clear()


def test_log_contains_the_latest_deliveries_of_its_endpoint(hooks: Hooks, receiver: Receiver) -> None:
    hook, other_hook = hooks.add(receiver.url), hooks.add(receiver.url)
    for id in ("a", "b", "c"):
        hooks.finish(id)
        hooks.run(hook.endpoint)
    assert [delivery.body["data"]["id"] for delivery in hooks.deliveries.log(hook.endpoint.id, 2)] == [
        "c",
        "b",
    ]
    hooks.deliveries.purge(hook.endpoint.id)
    assert hooks.log(hook.endpoint) == []
    assert {delivery.state for delivery in hooks.log(other_hook.endpoint)} == {"waiting"}
    assert len(hooks.log(other_hook.endpoint)) == 3


def test_endpoint_removed_during_delivery_receives_nothing(
    hooks: Hooks, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = add_hook_with_delivery(hooks, receiver)
    lease = not_none(hooks.deliverer.reserve(hook.endpoint.id))
    find_secrets = hooks.deliverer.endpoints.secrets

    def remove_and_find_secrets(id: str, at: datetime) -> Any:
        hooks.endpoints.remove(id)
        return find_secrets(id, at)

    monkeypatch.setattr(hooks.deliverer.endpoints, "secrets", remove_and_find_secrets)
    hooks.deliverer.deliver(hook.endpoint.id, lease)
    assert receiver.requests == []
