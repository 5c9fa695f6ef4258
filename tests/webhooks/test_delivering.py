"""Deliveries: tries, back-off, disabled endpoints, the log."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from leaseq import webhooks
from leaseq.webhooks.deliverer import Slots
from leaseq.webhooks.runner import send_round
from tests.support.patience import eventually
from tests.support.receiver import Receiver
from tests.support.taking import not_none
from tests.webhooks.conftest import Hooks, with_one_waiting

HOUR = 3_600
Redirect = tuple[int, dict[str, str], bytes]


@pytest.mark.parametrize("status", [500, 503, 404, 401, 301, 304])
def test_what_is_not_2xx_is_tried_again_with_the_same_id(
    hooks: Hooks, receiver: Receiver, status: int
) -> None:
    made = with_one_waiting(hooks, receiver)
    receiver.answers.extend([(status, {}, b"not <now>\r\n\x00please"), status])
    for _ in range(3):
        (waiting,) = hooks.log(made.endpoint)
        assert waiting.state == "waiting"
        assert (waiting.next_at is None) == (waiting.tries == ())
        assert len(hooks.deliver(made.endpoint)) == 1
        assert hooks.deliver(made.endpoint) == []
        hooks.clock.tick(11)
    assert hooks.deliver(made.endpoint) == []
    assert len({request.id for request in receiver.requests}) == 1
    assert len({request.headers["webhook-timestamp"] for request in receiver.requests}) == 3
    for request in receiver.requests:
        request.verified(made.secret)
    (delivery,) = hooks.log(made.endpoint)
    assert (delivery.state, delivery.type) == ("delivered", "item.finished")
    assert [(one.status, one.excerpt) for one in delivery.tries] == [
        (status, "" if status == 304 else "not <now> please"),
        (status, ""),
        (204, ""),
    ]
    assert hooks.endpoints.get(made.endpoint.id).failing_since is None


def test_a_redirect_is_not_followed(hooks: Hooks, receiver: Receiver) -> None:
    made = with_one_waiting(hooks, receiver)
    redirect: Redirect = (302, {"Location": f"http://127.0.0.1:{receiver.port}/elsewhere"}, b"")
    receiver.answers.append(redirect)
    (response,) = hooks.deliver(made.endpoint)
    assert not_none(response).status == 302
    assert [request.path for request in receiver.requests] == ["/hook"]
    assert hooks.log(made.endpoint)[0].state == "waiting"


def test_410_disables_at_once_and_tells_those_who_ask(hooks: Hooks, receiver: Receiver) -> None:
    hooks.clock.tick(-60)  # the stream that has this event is by the server's time
    watching = hooks.add(receiver.url, "webhook.disabled")
    hooks.clock.now = hooks.clock.start
    gone = with_one_waiting(hooks, receiver)
    receiver.answers.append(410)
    hooks.deliver(gone.endpoint)
    now = hooks.endpoints.get(gone.endpoint.id)
    assert (now.disabled_at is None, now.disabled_why) == (False, "the receiver answered 410 Gone")
    assert send_round(hooks.deliverer, Slots(hooks.deliverer, 1, threading.Event())) is False
    hooks.run(watching.endpoint)
    told = receiver.requests[-1].verified(watching.secret)
    assert (told["type"], told["data"]["id"]) == ("webhook.disabled", gone.endpoint.id)


def test_a_dead_receiver_is_disabled_after_a_day_of_failures(hooks: Hooks, receiver: Receiver) -> None:
    made = with_one_waiting(hooks, receiver)
    first = hooks.now()
    tries = 0
    while hooks.endpoints.get(made.endpoint.id).disabled_at is None:
        receiver.answers.append(500)
        tries += len(hooks.deliver(made.endpoint))
        assert hooks.now() - first < timedelta(hours=26)
        hooks.clock.tick(600)
    known = hooks.endpoints.get(made.endpoint.id)
    assert not_none(known.failing_since) - first < timedelta(milliseconds=1)
    assert not_none(known.disabled_at) - first >= timedelta(hours=24)
    assert "every try since" in not_none(known.disabled_why)
    assert 30 < tries < 48
    hooks.finish("while disabled")
    hooks.feed()
    assert len(hooks.log(made.endpoint)) == 1, "what happens meanwhile is not kept for it"


def test_one_success_ends_the_failing(hooks: Hooks, receiver: Receiver) -> None:
    made = with_one_waiting(hooks, receiver)
    receiver.answers.append(500)
    hooks.deliver(made.endpoint)
    hooks.clock.tick(23 * HOUR)
    hooks.deliver(made.endpoint)
    receiver.answers.append(500)
    hooks.finish("b")
    hooks.clock.tick(2 * HOUR)
    hooks.run(made.endpoint)
    assert hooks.endpoints.get(made.endpoint.id).disabled_at is None


def test_what_waits_goes_out_once_the_endpoint_is_enabled(hooks: Hooks, receiver: Receiver) -> None:
    made = with_one_waiting(hooks, receiver)
    hooks.endpoints.disable(made.endpoint.id, "a test")
    lease = not_none(hooks.deliverer.take(made.endpoint.id))
    assert hooks.deliverer.deliver(made.endpoint.id, lease) is None
    assert receiver.requests == []
    hooks.finish("meanwhile")
    hooks.clock.tick(1)
    hooks.endpoints.enable(made.endpoint.id)
    hooks.finish("after")
    hooks.run(made.endpoint)
    told = [request.verified(made.secret)["data"]["id"] for request in receiver.requests]
    assert told == ["a", "after"]


@pytest.mark.parametrize("stage", ["silent", "headers", "status"])
def test_a_slow_receiver_is_cut_off(hooks: Hooks, receiver: Receiver, stage: str) -> None:
    made = with_one_waiting(hooks, receiver)
    over = threading.Event()

    def drip(handler: BaseHTTPRequestHandler) -> None:
        """A byte now and then, so that no timeout of a socket is ever over."""
        words = {"silent": b"", "headers": b"HTTP/1.1 200 OK\r\nX-Long: ", "status": b"HT"}[stage]
        handler.wfile.write(words)
        while not over.wait(0.02):
            try:
                handler.wfile.write(b"" if stage == "silent" else b"x")
                handler.wfile.flush()
            except OSError:
                return

    receiver.answers.append(drip)
    hooks.deliverer = hooks.sender(seconds=0.3)
    (response,) = hooks.deliver(made.endpoint)
    over.set()
    assert (not_none(response).status, not_none(response).ok) == (None, False)
    assert not_none(response).error == "no answer within 0.3 s"


def test_a_long_answer_is_read_in_part(hooks: Hooks, receiver: Receiver) -> None:
    made = with_one_waiting(hooks, receiver)
    receiver.answers.append((500, {}, b"x" * 5_000_000))
    (response,) = hooks.deliver(made.endpoint)
    assert not_none(response).excerpt == "x" * 400


def test_a_receiver_that_is_down_says_so_in_the_log(hooks: Hooks) -> None:
    with Receiver() as down:
        url = down.url
    made = hooks.add(url)
    hooks.finish("a")
    hooks.run(made.endpoint)
    (tried,) = hooks.log(made.endpoint)[0].tries
    assert tried.status is None
    assert "no connection to 127.0.0.1" in not_none(tried.error)


def test_what_a_killed_deliverer_had_is_sent_by_another(hooks: Hooks, receiver: Receiver) -> None:
    made = with_one_waiting(hooks, receiver)
    assert hooks.deliverer.take(made.endpoint.id) is not None
    other = hooks.sender()
    assert other.take(made.endpoint.id) is None, "one at a time"
    hooks.clock.tick(61)
    lease = not_none(other.take(made.endpoint.id))
    assert not_none(other.deliver(made.endpoint.id, lease)).status == 204
    (delivery,) = hooks.log(made.endpoint)
    assert [(one.status, one.error) for one in delivery.tries] == [
        (None, "the process that sent it ended"),
        (204, None),
    ]


def test_a_removed_endpoint_is_sent_nothing_of_what_waits(hooks: Hooks, receiver: Receiver) -> None:
    made = with_one_waiting(hooks, receiver)
    feeder = webhooks.Feeder(hooks.client, clock=hooks.clock)
    feeder.feed()
    lease = not_none(hooks.deliverer.take(made.endpoint.id))
    assert [one.state for one in hooks.log(made.endpoint)] == ["sending"]
    hooks.endpoints.remove(made.endpoint.id)
    assert hooks.deliverer.deliver(made.endpoint.id, lease) is None
    hooks.deliveries.add([("made-meanwhile", made.endpoint.id, {})])
    feeder.feed()
    assert hooks.log(made.endpoint) == []
    assert receiver.requests == []
    with pytest.raises(webhooks.EndpointNotFound, match="leaseq webhook list") as refused:
        hooks.endpoints.secrets(made.endpoint.id, hooks.now())
    assert refused.value.id == made.endpoint.id


def test_one_endpoint_does_not_wait_for_another(hooks: Hooks, receiver: Receiver) -> None:
    """The first one holds all that it may have; the second one gets its own at once."""
    answered = threading.Event()

    def after(handler: BaseHTTPRequestHandler) -> None:
        answered.wait(60)
        handler.send_error(500)

    with Receiver() as slow:
        for n in range(3):
            hooks.finish(f"early-{n}")
        stuck = hooks.add(slow.url).endpoint
        quick = hooks.add(receiver.url).endpoint
        hooks.clock.tick(1)
        for n in range(3):
            slow.answers.append(after)
            hooks.finish(f"n{n}")
        hooks.feed()
        slots = Slots(hooks.deliverer, 2, threading.Event())
        while send_round(hooks.deliverer, slots):
            pass
        eventually(lambda: [one.state for one in hooks.log(quick)] == ["delivered"] * 3)
        eventually(lambda: len(slow.requests) == 2)
        assert sorted(one.state for one in hooks.log(stuck)) == ["sending", "sending", "waiting"]
        answered.set()
        slots.join()
        assert [one.state for one in hooks.log(stuck) if one.state == "sending"] == []


def test_a_test_is_sent_now_and_tried_once(hooks: Hooks, receiver: Receiver) -> None:
    made = with_one_waiting(hooks, receiver)
    hooks.endpoints.disable(made.endpoint.id, "it failed")
    receiver.answers.append((500, {}, b"broken"))
    test = hooks.deliverer.test(made.endpoint.id)
    assert (test.type, test.state) == ("webhook.test", "failed")
    assert [(one.status, one.excerpt) for one in test.tries] == [(500, "broken")]
    assert hooks.deliverer.test(made.endpoint.id).state == "delivered"
    told = receiver.requests[-1].verified(made.secret)
    assert (told["type"], told["data"]) == ("webhook.test", {"endpoint": made.endpoint.id})
    assert len(receiver.requests) == 2, "what waits is not sent by a test"
    with pytest.raises(webhooks.EndpointNotFound):
        hooks.deliverer.test("wh-none")


def test_the_log_has_the_latest_of_this_endpoint(hooks: Hooks, receiver: Receiver) -> None:
    made, other = hooks.add(receiver.url), hooks.add(receiver.url)
    for id in ("a", "b", "c"):
        hooks.finish(id)
        hooks.run(made.endpoint)
    assert [one.body["data"]["id"] for one in hooks.deliveries.log(made.endpoint.id, 2)] == ["c", "b"]
    hooks.deliveries.purge(made.endpoint.id)
    assert hooks.log(made.endpoint) == []
    assert {one.state for one in hooks.log(other.endpoint)} == {"waiting"}
    assert len(hooks.log(other.endpoint)) == 3


def test_an_endpoint_that_is_removed_as_it_is_sent_to_gets_nothing(
    hooks: Hooks, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = with_one_waiting(hooks, receiver)
    lease = not_none(hooks.deliverer.take(made.endpoint.id))
    secrets = hooks.deliverer.endpoints.secrets

    def removed_meanwhile(id: str, at: datetime) -> Any:
        hooks.endpoints.remove(id)
        return secrets(id, at)

    monkeypatch.setattr(hooks.deliverer.endpoints, "secrets", removed_meanwhile)
    hooks.deliverer.deliver(made.endpoint.id, lease)
    assert receiver.requests == []
