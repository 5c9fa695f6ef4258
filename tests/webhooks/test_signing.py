"""Signatures: two secrets during a rotation, and the signed time."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from tests.support.receiver import Receiver
from tests.webhooks.conftest import Hooks, add_hook_with_delivery

HOUR = 3_600


def test_both_secrets_sign_during_a_rotation(hooks: Hooks, receiver: Receiver) -> None:
    hook = add_hook_with_delivery(hooks, receiver)
    second_secret = hooks.endpoints.rotate(hook.endpoint.id)
    assert second_secret.secret != hook.secret
    assert second_secret.endpoint.rotating_until == hooks.now() + timedelta(hours=24)
    hooks.deliver(hook.endpoint)
    request = receiver.requests[0]
    assert len(request.headers["webhook-signature"].split(" ")) == 2
    request.verify(hook.secret)
    request.verify(second_secret.secret)
    assert len(hooks.endpoints.secrets(hook.endpoint.id, hooks.now())) == 2
    later = hooks.now() + timedelta(hours=24)
    assert hooks.endpoints.secrets(hook.endpoint.id, later) == [second_secret.secret]
    third_secret = hooks.endpoints.rotate(hook.endpoint.id)
    assert hooks.endpoints.secrets(hook.endpoint.id, hooks.now()) == [
        third_secret.secret,
        second_secret.secret,
    ]


def test_list_of_endpoints_contains_no_secret(hooks: Hooks, receiver: Receiver) -> None:
    hook = hooks.add(receiver.url)
    assert hook.secret not in repr(hooks.endpoints.all())
    assert len(hook.secret) == len("whsec_") + 44


def test_timestamp_is_server_time_if_the_local_clock_is_wrong(
    hooks: Hooks, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = add_hook_with_delivery(hooks, receiver)
    real_time = time.time
    with monkeypatch.context() as patch:
        patch.setattr(time, "time", lambda: real_time() - 3 * HOUR)
        hooks.deliver(hook.endpoint)
    receiver.requests[0].verify(hook.secret)
    assert receiver.requests[0].headers["webhook-timestamp"] == str(int(hooks.now().timestamp()))


def test_receiver_refuses_timestamp_of_a_wrong_server_clock(hooks: Hooks, receiver: Receiver) -> None:
    hook = add_hook_with_delivery(hooks, receiver)
    hooks.clock.tick(HOUR)
    hooks.deliver(hook.endpoint)
    with pytest.raises(WebhookVerificationError, match="too new"):
        receiver.requests[0].verify(hook.secret)


def test_secret_is_accepted_by_the_standardwebhooks_library(hooks: Hooks, receiver: Receiver) -> None:
    hook = add_hook_with_delivery(hooks, receiver)
    hooks.deliver(hook.endpoint)
    with pytest.raises(WebhookVerificationError, match="No matching signature"):
        receiver.requests[0].verify(hooks.endpoints.rotate(hook.endpoint.id).secret)
    assert Webhook(hook.secret).sign("x", hooks.now(), "y").startswith("v1,")
