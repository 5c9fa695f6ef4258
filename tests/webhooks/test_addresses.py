"""Nothing is sent to a non-public address, whatever its notation, unless the setting lists it."""

from __future__ import annotations

import ipaddress
from typing import Any

import pytest

from leaseq import Invalid, webhooks
from leaseq.webhooks.sending import is_public, post
from tests.support.receiver import Receiver
from tests.support.refused import refused
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
@pytest.mark.guard("webhook-address", "webhook-inside")
def test_an_address_that_is_not_public_is_refused(host: str, hooks: Hooks) -> None:
    for scheme in ("http", "https"):
        with refused("address", "url", what="private", setting="LEASEQ_WEBHOOK_ALLOW"):
            hooks.endpoints.add(f"{scheme}://{host}:9/hook", by="ann")
        response = post(f"{scheme}://{host}:9/hook", {}, b"{}", NO_NETWORKS)
        assert response.status is None
        assert "a public address" in (response.error or "")


# iana-ipv4-special-registry-1.csv and iana-ipv6-special-registry-1.csv, updated 2025-10-09: all blocks but
# those whose addresses embed another (::ffff:0:0/96, 64:ff9b::/96, 2002::/16). And multicast.
SPECIAL_BLOCKS = [
    *("0.0.0.0/8", "0.0.0.0/32", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
    *("172.16.0.0/12", "192.0.0.0/24", "192.0.0.0/29", "192.0.0.8/32", "192.0.0.9/32", "192.0.0.10/32"),
    *("192.0.0.170/32", "192.0.0.171/32", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24"),
    *("192.88.99.0/24", "192.88.99.2/32", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15"),
    *("198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "255.255.255.255/32", "224.0.0.0/4"),
    *("::1/128", "::/128", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23", "2001::/32"),
    *("2001:1::1/128", "2001:1::2/128", "2001:1::3/128", "2001:2::/48", "2001:3::/32", "2001:4:112::/48"),
    *("2001:10::/28", "2001:20::/28", "2001:30::/28", "2001:db8::/32", "2620:4f:8000::/48", "3fff::/20"),
    *("5f00::/16", "fc00::/7", "fe80::/10", "ff00::/8"),
]
NEIGHBOURS = [
    *("9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0"),
    *("192.0.1.0", "198.20.0.0", "223.255.255.255", "2001:200::", "2001:db7:ffff::", "2001:db9::"),
    *("2620:4f:7fff::", "2620:4f:8001::", "3ffe:ffff::", "3fff:1000::"),
]


@pytest.mark.parametrize("block", SPECIAL_BLOCKS)
def test_no_address_of_a_special_block_is_public(block: str) -> None:
    network = ipaddress.ip_network(block)
    assert not is_public(network[0])
    assert not is_public(network[-1])
    assert not is_public(network[network.num_addresses // 2])


@pytest.mark.parametrize("address", NEIGHBOURS)
def test_address_beside_a_special_block_is_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "2001:4860:4860::8888", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"],
)
def test_internet_address_is_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.guard("webhook-tls")
def test_public_address_requires_https(hooks: Hooks) -> None:
    with refused("address", "url", what="plain"):
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
    with refused("maximum", what="endpoints"):
        hooks.endpoints.add("https://8.8.8.8/", by="ann")


@pytest.mark.parametrize(
    "text", ["10.0.0.0/8, 127.0.0.1", "10.0.0.0/8 127.0.0.1", "\n127.0.0.1/32\t10.0.0.0/8"]
)
def test_allow_setting_accepts_addresses_and_networks(text: str) -> None:
    assert sorted(map(str, webhooks.networks(text))) == ["10.0.0.0/8", "127.0.0.1/32"]


@pytest.mark.parametrize("text", ["here", "10.0.0.1/8", "300.1.1.1", "127.0.0.1:80", "0177.0.0.1"])
def test_invalid_allow_setting_is_refused(text: str) -> None:
    with refused("address", "LEASEQ_WEBHOOK_ALLOW", what="networks"):
        webhooks.networks(text)


@pytest.mark.parametrize("host", ["127.0.0.1", "2130706433", "[::ffff:127.0.0.1]"])
def test_non_public_address_is_sent_to_only_if_allowed(host: str, receiver: Receiver) -> None:
    response = post(f"http://{host}:{receiver.port}/hook", {}, b"{}", LOOPBACK)
    assert response.status == 204
    assert (
        post(f"http://{host}:{receiver.port}/hook", {}, b"{}", webhooks.networks("10.0.0.0/8")).status is None
    )
