"""Nothing is sent to a non-public address, whatever its notation, unless the setting lists it."""

from __future__ import annotations

import ipaddress
from typing import Any

import pytest

from leaseq import Invalid, webhooks
from leaseq.webhooks.addresses import is_public
from leaseq.webhooks.sending import post
from tests.support.receiver import Receiver
from tests.webhooks.conftest import LOOPBACK, Hooks

NO_NETWORKS = webhooks.networks("")

PRIVATE_HOSTS = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0177.0.0.1",
    "0x7f.1",
    "0x7f000001",
    "localhost",
    "0.0.0.0",
    "[::]",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b:1::7f00:1]",
    "[64:ff9b:1::808:808]",
    "[64:ff9b:1:a00:1:2::]",
    "[64:ff9b:1:ffff:a9fe:a9fe:8.8.8.8]",
    "192.175.48.1",
    "192.31.196.1",
    "192.52.193.1",
    "[2620:4f:8000::1]",
    "[5f00::1]",
    "[100:0:0:1::1]",
    "[2002:7f00:1::]",
    "[2001:0:7f00:1::]",
    "[2001:0:808:808::80ff:fffe]",
    "169.254.169.254",
    "168.63.129.16",
    "100.100.100.200",
    "192.0.0.192",
    "[fd00:ec2::254]",
    "[fc00::1]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
    "[3fff::1]",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "224.0.0.1",
    "255.255.255.255",
]


@pytest.mark.parametrize("host", PRIVATE_HOSTS)
def test_an_address_that_is_not_public_is_refused(host: str, hooks: Hooks) -> None:
    for scheme in ("http", "https"):
        with pytest.raises(
            Invalid, match=r"is not public: .* adds it or its network to LEASEQ_WEBHOOK_ALLOW"
        ):
            hooks.endpoints.add(f"{scheme}://{host}:9/hook", by="ann")
        response = post(f"{scheme}://{host}:9/hook", {}, b"{}", NO_NETWORKS)
        assert response.status is None
        assert "is not public" in (response.error or "")


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "2001:4860:4860::8888", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"],
)
def test_internet_address_is_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


def test_public_address_requires_https(hooks: Hooks) -> None:
    with pytest.raises(Invalid, match="use https://"):
        hooks.endpoints.add("http://8.8.8.8/", by="ann")
    hook = hooks.endpoints.add("https://8.8.8.8/hook?key=1", by="ann")
    assert hook.endpoint.url == "https://8.8.8.8/hook?key=1"


@pytest.mark.parametrize(
    "url",
    [
        "",
        None,
        7,
        "example.org/hook",
        "ftp://example.org/",
        "file:///etc/passwd",
        "https:///path",
        "https://",
        "https://user@example.org/",
        "https://user:secret@example.org/",
        "https://example.org@127.0.0.1/",
        "https://example.org/#part",
        "https://example.org:0x50/",
        "https://example.org:99999/",
        "https://[::1/",
        "https://a..b/",
        "https://.example.org/",
        "https://" + "a" * 64 + ".org/",
        "https://exa mple.org/",
        "https://example.org/\r\nHost: other",
        "https://example.org/é",
        "https://example.org/" + "a" * 2_000,
    ],
)
def test_invalid_url_is_refused(url: Any, hooks: Hooks) -> None:
    with pytest.raises(Invalid) as error:
        hooks.endpoints.add(url, by="ann")
    assert error.value.field == "url"
    assert post(str(url), {}, b"{}", LOOPBACK).status is None


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("events", {"events": []}),
        ("events", {"events": "item.finished"}),
        ("events", {"events": ["item.gone"]}),
        ("events", {"events": ["*"]}),
        ("events", {"events": ["webhook.test"]}),
        ("events", {"events": [7]}),
        ("events", {"events": 7}),
        ("queues", {"queues": "reviews"}),
        ("queues", {"queues": ["A queue"]}),
        ("queues", {"queues": [7]}),
        ("queues", {"queues": ["q"] * 101}),
    ],
)
def test_invalid_events_or_queues_are_refused(field: str, options: Any, hooks: Hooks) -> None:
    with pytest.raises(Invalid) as error:
        hooks.endpoints.add("https://8.8.8.8/", by="ann", **options)
    assert error.value.field == field
    assert hooks.endpoints.all() == []


def test_endpoint_may_have_a_hundred_queues(hooks: Hooks) -> None:
    names = [f"q{number}" for number in range(100)]
    assert hooks.endpoints.add("https://8.8.8.8/", by="ann", queues=names).endpoint.queues == tuple(
        sorted(names)
    )


def test_endpoint_number_101_is_refused(hooks: Hooks) -> None:
    for _ in range(100):
        hooks.endpoints.add("https://8.8.8.8/", by="ann")
    with pytest.raises(Invalid, match="at most 100 endpoints: remove one"):
        hooks.endpoints.add("https://8.8.8.8/", by="ann")


@pytest.mark.parametrize(
    "text", ["10.0.0.0/8, 127.0.0.1", "10.0.0.0/8 127.0.0.1", "\n127.0.0.1/32\t10.0.0.0/8"]
)
def test_allow_setting_accepts_addresses_and_networks(text: str) -> None:
    assert sorted(map(str, webhooks.networks(text))) == ["10.0.0.0/8", "127.0.0.1/32"]


@pytest.mark.parametrize("text", ["here", "10.0.0.1/8", "300.1.1.1", "127.0.0.1:80", "0177.0.0.1"])
def test_invalid_allow_setting_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match="LEASEQ_WEBHOOK_ALLOW: addresses or networks such as"):
        webhooks.networks(text)


@pytest.mark.parametrize("host", ["127.0.0.1", "2130706433", "[::ffff:127.0.0.1]"])
def test_non_public_address_is_sent_to_only_if_allowed(host: str, receiver: Receiver) -> None:
    response = post(f"http://{host}:{receiver.port}/hook", {}, b"{}", LOOPBACK)
    assert response.status == 204
    assert (
        post(f"http://{host}:{receiver.port}/hook", {}, b"{}", webhooks.networks("10.0.0.0/8")).status is None
    )
