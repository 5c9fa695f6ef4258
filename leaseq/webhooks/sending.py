"""Requests to endpoints, and the addresses that they may reach."""

from __future__ import annotations

import ipaddress
import os
import queue
import re
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from http.client import HTTPConnection, HTTPException, HTTPResponse
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from time import monotonic
from typing import TypeAlias
from urllib.parse import urlsplit

from leaseq.errors import Invalid

SETTING = "LEASEQ_WEBHOOK_ALLOW"
MAX_URL = 2_000
_MAX_LABEL = 63  # characters between two dots of a name
Networks: TypeAlias = tuple[IPv4Network | IPv6Network, ...]
NO_NETWORKS: Networks = ()

_Address: TypeAlias = IPv4Address | IPv6Address
_RESOLVE_SECONDS = 3.0
_UNICAST = IPv6Network("2000::/3")  # all addresses that are routed on the internet
# All blocks of IANA's iana-ipv4-special-registry and iana-ipv6-special-registry of 2025-10-09, rather than
# `is_global`, whose tables differ between Python versions. Left out are blocks within others, and those whose
# addresses embed another, which is checked instead. Globally reachable blocks are in the list, too: they are
# for protocols, and no webhook receiver is there.
_SPECIAL: Networks = tuple(
    map(
        ipaddress.ip_network,
        (
            "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
            "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24",
            "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
            "240.0.0.0/4",
            "::/128", "::1/128", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23", "2001:db8::/32",
            "2620:4f:8000::/48", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10",
            # Not in these registries: multicast, and an address of Azure's services in each virtual machine.
            # The metadata addresses of other clouds are in the blocks above.
            "224.0.0.0/4", "ff00::/8", "168.63.129.16/32",
        ),
    )
)  # fmt: skip
_LAST_32 = tuple(map(IPv6Network, ("::/96", "64:ff9b::/96")))
_PRINTABLE = re.compile(r"[!-~]+\Z")  # ASCII without spaces and control characters


class AddressRefused(Invalid):
    """A URL to which nothing is sent; the message has the reason and the advice."""


@dataclass(frozen=True, slots=True)
class Target:
    """A URL, split into the parts that a request needs."""

    https: bool
    host: str  # a name or an address, without brackets
    port: int
    authority: str  # the value of the Host header
    path: str  # with the query


def networks(text: str) -> Networks:
    """Parse the setting's value: addresses or networks, separated by spaces or commas."""
    try:
        return tuple(ipaddress.ip_network(word) for word in re.split(r"[\s,]+", text) if word)
    except ValueError as error:
        raise Invalid(SETTING, "address", what="networks", why=str(error)) from None


def target_of(url: object) -> Target:
    """Parse a URL. Raises Invalid if webhooks can't be sent to it, whatever its address."""
    if not isinstance(url, str) or len(url) > MAX_URL or not _PRINTABLE.match(url):
        raise Invalid("url", "address", what="url", maximum=MAX_URL)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise Invalid("url", "address", what="url", maximum=MAX_URL, why=str(error)) from None
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or "#" in url:
        raise Invalid("url", "address", what="url", maximum=MAX_URL)
    if not all(0 < len(label) <= _MAX_LABEL for label in parts.hostname.removesuffix(".").split(".")):
        raise Invalid("url", "format", what="webhook_host", maximum=_MAX_LABEL)
    https = parts.scheme == "https"
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(https, parts.hostname, port or (443 if https else 80), parts.netloc, path)


def refuse_url(url: str, allow: Networks) -> None:
    """Raise Invalid for a URL that would be refused now. An https name without an address is accepted: it may
    get one."""
    target = target_of(url)
    try:
        check(target, resolve(target), allow)
    except OSError:
        if not target.https:
            raise Invalid("url", "format", what="webhook_https", setting=SETTING) from None


def resolve(target: Target) -> list[str]:
    """All addresses of the target's host, in the resolver's order. Raises OSError if there is none in time.
    The resolver also accepts other forms of an address, such as 0x7f.1."""
    answers: queue.SimpleQueue[list[str] | OSError] = queue.SimpleQueue()

    def ask() -> None:
        try:
            infos = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
            answers.put([str(info[4][0]) for info in infos])
        except (OSError, ValueError) as error:  # a ValueError for names that no resolver is asked for
            answers.put(OSError(f"the name {target.host!r} could not be resolved: {error}"))

    # The resolver has no time limit. A thread that it blocks ends when it returns, or with the program.
    threading.Thread(target=ask, name="leaseq-resolve", daemon=True).start()
    try:
        answer = answers.get(timeout=_RESOLVE_SECONDS)
    except queue.Empty:
        answer = OSError(f"the name {target.host!r} was not resolved within {_RESOLVE_SECONDS:g} s")
    if isinstance(answer, OSError):
        raise answer
    return list(dict.fromkeys(answer))


def check(target: Target, addresses: Sequence[str], allow: Networks) -> None:
    """Raise AddressRefused if one of the addresses may not be sent to, or not by this scheme."""
    for text in addresses:
        address = ipaddress.ip_address(text)
        if is_allowed(address, allow):
            continue
        if not is_public(address):
            raise AddressRefused(
                "url", "address", what="private", host=target.host, address=text, setting=SETTING
            )
        if not target.https:
            raise AddressRefused("url", "address", what="plain", host=target.host, address=text)


def is_allowed(address: _Address, allow: Networks) -> bool:
    """Whether a network in the setting contains the address, or the IPv4 address that it is mapped from."""
    ipv4 = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return any((ipv4 or address) in network for network in allow)


def is_public(address: _Address) -> bool:
    """Whether the address is on the public internet, not on this machine, its network or its cloud."""
    if isinstance(address, IPv6Address):
        inner_addresses = list(_embedded_addresses(address))
        if inner_addresses:
            return all(map(is_public, inner_addresses))
    if any(address in network for network in _SPECIAL):
        return False
    return address.version == 4 or address in _UNICAST


def _embedded_addresses(address: IPv6Address) -> Iterator[IPv4Address]:
    """The IPv4 addresses that the packets may finally reach: mapped, compatible, 6to4, Teredo, NAT64."""
    if address.ipv4_mapped:
        yield address.ipv4_mapped
    if address.sixtofour:
        yield address.sixtofour
    if address.teredo:
        yield from address.teredo
    if any(address in network for network in _LAST_32):
        yield IPv4Address(int(address) & 0xFFFFFFFF)


CONNECT_SECONDS = 3.0
TOTAL_SECONDS = 10.0
_READ = 1_024  # bytes read of a response's body
_EXCERPT = 400  # characters of it that are kept
_UNPRINTABLE = re.compile(r"[^\x20-\x7e\xa0-\ufffd]+")
GONE = 410


@dataclass(frozen=True, slots=True)
class Response:
    """The outcome of a request: the response's status and beginning, or why there was no response."""

    status: int | None
    seconds: float
    excerpt: str = ""
    error: str | None = None

    @property
    def ok(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


class _Deadline:
    """A time at which a connection is ended. A receiver that sends single bytes never exceeds a socket
    timeout."""

    def __init__(self, seconds: float) -> None:
        self._until = monotonic() + seconds
        self.is_over = False

    def seconds_left(self) -> float:
        return max(0.001, self._until - monotonic())

    @contextmanager
    def enforced(self, connection: socket.socket) -> Iterator[None]:
        # A separate descriptor: TLS takes over the other one.
        line = socket.socket(fileno=os.dup(connection.fileno()))

        def shut_down() -> None:
            self.is_over = True
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

        timer = threading.Timer(self.seconds_left(), shut_down)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()
            line.close()


def post(
    url: str, headers: Mapping[str, str], body: bytes, allow: Networks, *, seconds: float = TOTAL_SECONDS
) -> Response:
    """POST a body to a URL whose addresses are all allowed. Redirects are not followed, and a proxy set in
    the environment is not used. ``seconds``: the limit for the whole request."""
    start = monotonic()
    deadline = _Deadline(seconds)
    try:
        target = target_of(url)
        addresses = resolve(target)
        check(target, addresses, allow)
        with _connected(addresses, target, min(CONNECT_SECONDS, seconds)) as line, deadline.enforced(line):
            status, excerpt = _exchange(line, target, headers, body, deadline)
    except (Invalid, OSError, HTTPException) as error:
        is_late = deadline.is_over or isinstance(error, TimeoutError)
        reason = f"no answer within {seconds:g} s" if is_late else _error_text(error)
        return Response(None, monotonic() - start, error=reason)
    return Response(status, monotonic() - start, excerpt)


@contextmanager
def _connected(addresses: list[str], target: Target, seconds: float) -> Iterator[socket.socket]:
    """Connect to the first address that accepts a connection; no name is looked up here. An address that does
    not answer leaves the others their share of the time."""
    until = monotonic() + seconds
    failure = OSError(f"{target.host!r} has no address")
    for index, address in enumerate(addresses):
        line = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
        with line:
            line.settimeout(max(0.001, (until - monotonic()) / (len(addresses) - index)))
            try:
                line.connect((address, target.port))
            except TimeoutError:
                failure = OSError(f"no connection to {address} port {target.port} within {seconds:g} s")
                continue
            except OSError as error:
                failure = OSError(f"no connection to {address} port {target.port}: {error.strerror or error}")
                continue
            yield line
            return
    raise failure


def _exchange(
    line: socket.socket, target: Target, headers: Mapping[str, str], body: bytes, deadline: _Deadline
) -> tuple[int, str]:
    line.settimeout(deadline.seconds_left())
    if target.https:
        line = _tls().wrap_socket(line, server_hostname=target.host)
    with line:
        connection = HTTPConnection(target.host, target.port)
        connection.sock = line
        connection.request("POST", target.path, body, {"Host": target.authority, **headers})
        response = connection.getresponse()
        if deadline.is_over:  # truncated headers look like complete ones
            raise TimeoutError
        return response.status, _excerpt(response)


def _excerpt(response: HTTPResponse) -> str:
    """The beginning of the response's body, in one line. A body that breaks off doesn't fail the request."""
    data = b""
    with suppress(OSError, HTTPException):
        while len(data) < _READ and (chunk := response.read1(_READ - len(data))):
            data += chunk
    return _UNPRINTABLE.sub(" ", data.decode("utf-8", "replace")).strip()[:_EXCERPT]


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    """The TLS context: certificates are checked against the system's, or those in SSL_CERT_FILE."""
    return ssl.create_default_context()


def _error_text(error: Exception) -> str:
    text = error.verify_message if isinstance(error, ssl.SSLCertVerificationError) else str(error)
    return _UNPRINTABLE.sub(" ", text)[:_EXCERPT] or type(error).__name__


def signature_headers(id: str, at: datetime, text: str, keys: Sequence[str]) -> Mapping[str, str]:
    """The headers of Standard Webhooks, with one signature for each secret."""
    from standardwebhooks import Webhook  # noqa: PLC0415 - everything except sending works without it

    signatures = " ".join(Webhook(key).sign(id, at, text) for key in keys)
    return {"webhook-id": id, "webhook-timestamp": str(int(at.timestamp())), "webhook-signature": signatures}
