"""``leaseq webhook``."""

from __future__ import annotations

import json
import re
import signal
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import leaseq
from tests.cli.conftest import Call, Spawn
from tests.support.leases import not_none
from tests.support.receiver import Receiver, open_receiver, sending
from tests.support.waiting import eventually

HERE = ("--allow", "127.0.0.0/8")


@pytest.fixture
def receiver(server: Any) -> Iterator[Receiver]:
    """A receiver on this machine; endpoints of this and of other tests are removed."""
    with open_receiver(server.redis) as receiver:
        yield receiver


def add_endpoint(call: Call, receiver: Receiver, *options: str) -> tuple[str, str]:
    """Add an endpoint; return its id and secret."""
    endpoint = json.loads(call("webhook", "add", receiver.url, "--json", *HERE, *options).stdout)
    return endpoint["id"], endpoint["secret"]


def list_endpoints(call: Call) -> list[Any]:
    rows: list[Any] = json.loads(call("webhook", "list", "--json").stdout)["webhooks"]
    return rows


def test_an_endpoint_is_added_and_its_secret_shown_once(
    call: Call, receiver: Receiver, queue: leaseq.Queue
) -> None:
    assert "there are no endpoints; add one" in call("webhook", "list").stderr
    queue.configure()
    result = call("webhook", "add", receiver.url, "--event", "item.finished", "--queue", queue.name, *HERE)
    match = not_none(re.fullmatch(r"id      (wh-\w+)\nsecret  (whsec_\S+)\n", result.stdout))
    assert "not shown again" in result.stderr
    (row,) = list_endpoints(call)
    assert (row["id"], row["url"], row["events"]) == (match[1], receiver.url, ["item.finished"])
    assert (row["queues"], row["created_by"]) == ([queue.name], "the command line")
    output = call("webhook", "list").stdout + call("webhook", "list", "--json").stdout
    assert match[2] not in output


def test_endpoint_subscribes_to_item_queue_and_alert_events_by_default(
    call: Call, receiver: Receiver
) -> None:
    add_endpoint(call, receiver)
    assert (list_endpoints(call)[0]["events"], list_endpoints(call)[0]["queues"]) == (
        ["alert.*", "item.*", "queue.empty"],
        [],
    )


def test_webhook_test_prints_response_of_receiver(
    call: Call, receiver: Receiver, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    id, secret = add_endpoint(call, receiver)
    receiver.responses.extend([204, (500, {}, b"broken")])
    with sending(server.client):
        result = call("webhook", "test", id)
        assert result.exit_code == 0
        assert re.fullmatch(r"delivered: 204 in \d\.\d\d s\n", result.stdout)
        assert receiver.requests[0].verify(secret)["type"] == "webhook.test"
        failed_result = call("webhook", "test", id)
        assert failed_result.exit_code == 1
        assert re.fullmatch(r"leaseq: not delivered: 500 in \d\.\d\d s: broken\n", failed_result.stderr)
    with sending(server.client, allow=""):
        refused_result = call("webhook", "test", id)
    assert (refused_result.exit_code, "LEASEQ_WEBHOOK_ALLOW" in refused_result.stderr) == (1, True)
    monkeypatch.setattr("leaseq.webhooks.deliveries.TAKE_SECONDS", 0)
    unsent_result = call("webhook", "test", id)
    assert (unsent_result.exit_code, "leaseq webhook run" in unsent_result.stderr) == (1, True)


def test_rotate_prints_new_secret(call: Call, receiver: Receiver) -> None:
    id, secret = add_endpoint(call, receiver)
    endpoint = json.loads(call("webhook", "rotate", id, "--json").stdout)
    assert (endpoint["id"], endpoint["secret"] != secret) == (id, True)
    assert list_endpoints(call)[0]["rotating_until"] is not None


def test_endpoint_is_disabled_enabled_and_removed(call: Call, receiver: Receiver) -> None:
    id, _ = add_endpoint(call, receiver)
    assert call("webhook", "disable", id).stdout == f"{id} is disabled\n"
    assert re.search(r"disabled since .* UTC: disabled by the command line", call("webhook", "list").stdout)
    assert call("webhook", "enable", id).stdout == f"{id} is enabled\n"
    assert call("webhook", "list").stdout.rstrip().endswith("enabled")
    assert call("webhook", "remove", id).stdout == f"{id} is removed\n"
    assert list_endpoints(call) == []


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("add", "http://127.0.0.1:9/"), 2, "LEASEQ_WEBHOOK_ALLOW"),
        (("add", "ftp://example.org/"), 2, "url: expected http:// or https://"),
        (("add", "https://8.8.8.8/", "--event", "item.gone"), 2, "events: expected a list"),
        (("add", "https://8.8.8.8/", "--queue", "none-such"), 1, "there is no queue 'none-such'"),
        (
            ("add", "https://8.8.8.8/", "--allow", "here"),
            2,
            "LEASEQ_WEBHOOK_ALLOW: expected addresses or networks",
        ),
        (("test", "wh-none"), 1, "no webhook endpoint 'wh-none'"),
        (("log", "wh-none"), 1, "no webhook endpoint"),
        (("rotate", "wh-none"), 1, "no webhook endpoint"),
        (("enable", "wh-none"), 1, "no webhook endpoint"),
        (("disable", "wh-none"), 1, "no webhook endpoint"),
        (("remove", "wh-none"), 1, "no webhook endpoint"),
        (("replay", "wh-none", "--failed"), 1, "no webhook endpoint"),
        (("replay", "wh-none"), 2, "--since TIME, --delivery DELIVERY or --failed"),
        (("replay", "wh-none", "--failed", "--delivery", "x"), 2, "leave out"),
        (("replay", "wh-none", "--since", "yesterday"), 2, "since: expected a day such as"),
    ],
)
def test_invalid_webhook_command_is_refused_with_reason(
    call: Call, words: tuple[str, ...], code: int, message: str
) -> None:
    result = call("webhook", *words)
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr


def test_missing_standardwebhooks_package_is_reported(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "standardwebhooks", None)
    result = call("webhook", "run")
    assert result.exit_code == 1
    assert result.stderr == (
        "leaseq: the package standardwebhooks is not installed: pip install 'leaseq[webhooks]'\n"
    )


def test_run_delivers_events_and_stops_on_sigterm(
    call: Call, spawn: Spawn, receiver: Receiver, queue: leaseq.Queue
) -> None:
    queue.configure()
    id, secret = add_endpoint(call, receiver, "--queue", queue.name, "--event", "item.*")
    process = spawn("webhook", "run", *HERE)
    queue.enqueue({"n": 1}, id="a")
    lease = not_none(queue.reserve("ann"))
    queue.finish(lease, {"v": 2})
    eventually(lambda: receiver.requests)
    event = receiver.requests[0].verify(secret)
    assert (event["type"], event["data"]["id"], event["data"]["result"]) == ("item.finished", "a", {"v": 2})
    eventually(lambda: "delivered" in call("webhook", "log", id).stdout)
    (delivery,) = json.loads(call("webhook", "log", id, "--json").stdout)["deliveries"]
    assert [attempt["status"] for attempt in delivery["tries"]] == [204]
    assert call("webhook", "replay", id, "--delivery", delivery["id"]).stdout == "1 sent again\n"
    eventually(lambda: len(receiver.requests) == 2)
    assert receiver.requests[0].id == receiver.requests[1].id
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b""), "leaseq up shows the standard error of its processes"
    assert out == b"sending webhooks. Ctrl-C stops it.\n"
