"""Signatures: two secrets during a rotation, and the time that is signed."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from tests.support.receiver import Receiver
from tests.webhooks.conftest import Hooks, with_one_waiting

HOUR = 3_600


def test_both_secrets_sign_during_a_rotation(hooks: Hooks, receiver: Receiver) -> None:
    made = with_one_waiting(hooks, receiver)
    renewed = hooks.endpoints.rotate(made.endpoint.id)
    assert renewed.secret != made.secret
    assert renewed.endpoint.rotating_until == hooks.now() + timedelta(hours=24)
    hooks.deliver(made.endpoint)
    request = receiver.requests[0]
    assert len(request.headers["webhook-signature"].split(" ")) == 2
    request.verified(made.secret)
    request.verified(renewed.secret)
    assert len(hooks.endpoints.secrets(made.endpoint.id, hooks.now())) == 2
    later = hooks.now() + timedelta(hours=24)
    assert hooks.endpoints.secrets(made.endpoint.id, later) == [renewed.secret]
    third = hooks.endpoints.rotate(made.endpoint.id)
    assert hooks.endpoints.secrets(made.endpoint.id, hooks.now()) == [third.secret, renewed.secret]


def test_no_secret_is_in_what_lists_the_endpoints(hooks: Hooks, receiver: Receiver) -> None:
    made = hooks.add(receiver.url)
    assert made.secret not in repr(hooks.endpoints.all())
    assert len(made.secret) == len("whsec_") + 44


def test_the_timestamp_is_the_servers_though_this_clock_is_off(
    hooks: Hooks, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = with_one_waiting(hooks, receiver)
    real = time.time
    with monkeypatch.context() as off:
        off.setattr(time, "time", lambda: real() - 3 * HOUR)
        hooks.deliver(made.endpoint)
    receiver.requests[0].verified(made.secret)
    assert receiver.requests[0].headers["webhook-timestamp"] == str(int(hooks.now().timestamp()))


def test_where_the_servers_clock_is_off_receivers_refuse_by_the_timestamp(
    hooks: Hooks, receiver: Receiver
) -> None:
    made = with_one_waiting(hooks, receiver)
    hooks.clock.tick(HOUR)
    hooks.deliver(made.endpoint)
    with pytest.raises(WebhookVerificationError, match="too new"):
        receiver.requests[0].verified(made.secret)


def test_the_secret_is_one_that_the_library_takes(hooks: Hooks, receiver: Receiver) -> None:
    made = with_one_waiting(hooks, receiver)
    hooks.deliver(made.endpoint)
    with pytest.raises(WebhookVerificationError, match="No matching signature"):
        receiver.requests[0].verified(hooks.endpoints.rotate(made.endpoint.id).secret)
    assert Webhook(made.secret).sign("x", hooks.now(), "y").startswith("v1,")
