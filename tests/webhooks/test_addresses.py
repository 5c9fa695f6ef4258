"""Nothing is sent to an address that is not public, unless the setting names it, whatever its spelling."""

from __future__ import annotations

import ipaddress
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from leaseq import Invalid, webhooks
from leaseq.webhooks import sending
from leaseq.webhooks.addresses import is_public, resolve, target_of
from leaseq.webhooks.sending import Response, post
from tests.support.receiver import Receiver
from tests.webhooks.conftest import HERE, Hooks

NOTHING = webhooks.networks("")

PRIVATE = [
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


@pytest.mark.parametrize("host", PRIVATE)
def test_an_address_that_is_not_public_is_refused(host: str, hooks: Hooks) -> None:
    for scheme in ("http", "https"):
        with pytest.raises(
            Invalid, match=r"is not public: .* adds it or its network to LEASEQ_WEBHOOK_ALLOW"
        ):
            hooks.endpoints.add(f"{scheme}://{host}:9/hook", by="ann")
        response = post(f"{scheme}://{host}:9/hook", {}, b"{}", NOTHING)
        assert response.status is None
        assert "is not public" in (response.error or "")


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "2001:4860:4860::8888", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"],
)
def test_an_address_of_the_internet_is_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


def test_a_public_address_is_sent_to_by_https_only(hooks: Hooks) -> None:
    with pytest.raises(Invalid, match="use https://"):
        hooks.endpoints.add("http://8.8.8.8/", by="ann")
    made = hooks.endpoints.add("https://8.8.8.8/hook?key=1", by="ann")
    assert made.endpoint.url == "https://8.8.8.8/hook?key=1"


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
        "https://exa mple.org/",
        "https://example.org/\r\nHost: other",
        "https://example.org/é",
        "https://example.org/" + "a" * 2_000,
    ],
)
def test_what_is_no_url_to_send_to_is_refused(url: Any, hooks: Hooks) -> None:
    with pytest.raises(Invalid) as refused:
        hooks.endpoints.add(url, by="ann")
    assert refused.value.field == "url"
    assert post(str(url), {}, b"{}", HERE).status is None


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("events", {"events": []}),
        ("events", {"events": "item.finished"}),
        ("events", {"events": ["item.gone"]}),
        ("events", {"events": ["*"]}),
        ("events", {"events": ["webhook.test"]}),
        ("events", {"events": [7]}),
        ("queues", {"queues": "reviews"}),
        ("queues", {"queues": ["A queue"]}),
        ("queues", {"queues": [7]}),
        ("queues", {"queues": ["q"] * 101}),
    ],
)
def test_other_arguments_that_are_none_are_refused(field: str, options: Any, hooks: Hooks) -> None:
    with pytest.raises(Invalid) as refused:
        hooks.endpoints.add("https://8.8.8.8/", by="ann", **options)
    assert refused.value.field == field
    assert hooks.endpoints.all() == []


def test_a_hundred_queues_may_be_named(hooks: Hooks) -> None:
    names = [f"q{number}" for number in range(100)]
    assert hooks.endpoints.add("https://8.8.8.8/", by="ann", queues=names).endpoint.queues == tuple(
        sorted(names)
    )


def test_no_more_than_a_hundred_endpoints(hooks: Hooks) -> None:
    for _ in range(100):
        hooks.endpoints.add("https://8.8.8.8/", by="ann")
    with pytest.raises(Invalid, match="at most 100 endpoints: remove one"):
        hooks.endpoints.add("https://8.8.8.8/", by="ann")


@pytest.mark.parametrize(
    "text", ["10.0.0.0/8, 127.0.0.1", "10.0.0.0/8 127.0.0.1", "\n127.0.0.1/32\t10.0.0.0/8"]
)
def test_the_setting_names_addresses_and_networks(text: str) -> None:
    assert sorted(map(str, webhooks.networks(text))) == ["10.0.0.0/8", "127.0.0.1/32"]


@pytest.mark.parametrize("text", ["here", "10.0.0.1/8", "300.1.1.1", "127.0.0.1:80", "0177.0.0.1"])
def test_a_setting_that_names_none_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match="LEASEQ_WEBHOOK_ALLOW: addresses or networks such as"):
        webhooks.networks(text)


@pytest.mark.parametrize("host", ["127.0.0.1", "2130706433", "[::ffff:127.0.0.1]"])
def test_an_address_that_the_setting_names_is_sent_to(host: str, receiver: Receiver) -> None:
    response = post(f"http://{host}:{receiver.port}/hook", {}, b"{}", HERE)
    assert response.status == 204
    assert (
        post(f"http://{host}:{receiver.port}/hook", {}, b"{}", webhooks.networks("10.0.0.0/8")).status is None
    )


class Resolver:
    """Gives one answer after the other, and then fails; literal addresses are not its business."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def __call__(self, host: str, port: int, **_: Any) -> list[Any]:
        self.asked.append(host)
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in self.answers.pop(0)
        ]


def test_a_name_is_resolved_once_and_the_checked_address_is_connected_to(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DNS rebinding: a public address is followed by one of this machine, which must not be asked for."""
    resolver = Resolver(["203.0.113.9"], ["127.0.0.1"])
    connected: list[Any] = []
    monkeypatch.setattr(socket, "getaddrinfo", resolver)
    monkeypatch.setattr(sending, "is_public", lambda _: True, raising=False)
    monkeypatch.setattr("leaseq.webhooks.addresses.is_public", lambda address: str(address) == "203.0.113.9")
    monkeypatch.setattr(sending, "CONNECT_SECONDS", 0.2)

    class Line(socket.socket):
        def connect(self, address: Any) -> None:
            connected.append(address)
            raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr(socket, "socket", Line)
    response = post(f"https://rebinds.example:{receiver.port}/", {}, b"{}", NOTHING)
    assert response.error == f"no connection to 203.0.113.9 port {receiver.port}: Connection refused"
    assert connected == [("203.0.113.9", receiver.port)]
    assert resolver.asked == ["rebinds.example"]
    assert receiver.requests == []


@contextmanager
def silent(address: str, port: int = 0) -> Iterator[int]:
    """The port of a peer that takes no connection."""
    with socket.socket() as listener, ExitStack() as others:
        listener.bind((address, port))
        listener.listen(0)  # and nobody accepts: what comes when its line is full is not answered
        for _ in range(4):
            one = others.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]


def test_a_peer_that_takes_no_connection_has_a_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "CONNECT_SECONDS", 0.2)
    with silent("127.0.0.1") as port:
        response = post(f"http://127.0.0.1:{port}/", {}, b"{}", HERE)
    assert response.error == f"no connection to 127.0.0.1 port {port} within 0.2 s"


def test_where_no_address_takes_a_connection_the_last_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though the first one used up the time."""
    monkeypatch.setattr(sending, "CONNECT_SECONDS", 0.2)
    monkeypatch.setattr(socket, "getaddrinfo", Resolver(["127.0.0.2", "127.0.0.1"]))
    with silent("127.0.0.2") as port, silent("127.0.0.1", port):
        response = post(f"http://two.example:{port}/", {}, b"{}", HERE)
    assert response.error == f"no connection to 127.0.0.1 port {port} within 0.2 s"


def test_all_addresses_of_a_name_are_checked(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", Resolver(["8.8.8.8", "127.0.0.1"]))
    response = post(f"https://both.example:{receiver.port}/", {}, b"{}", NOTHING)
    assert "127.0.0.1 of 'both.example' is not public" in (response.error or "")


def test_where_the_first_address_takes_no_connection_the_next_one_does(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", Resolver(["127.0.0.2", "127.0.0.1"]))
    response = post(f"http://two.example:{receiver.port}/hook", {}, b"{}", HERE)
    assert response.status == 204
    assert receiver.requests[0].headers["host"] == f"two.example:{receiver.port}"


def test_a_name_without_an_address_may_get_one(hooks: Hooks, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: Any, **__: Any) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", none)
    assert hooks.endpoints.add("https://soon.example/", by="ann").endpoint.url == "https://soon.example/"
    with pytest.raises(Invalid, match="https://"):
        hooks.endpoints.add("http://soon.example/", by="ann")
    assert "could not be resolved" in (post("https://soon.example/", {}, b"{}", NOTHING).error or "")


def test_a_resolver_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    from threading import Event

    over = Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: over.wait(60) and [])
    monkeypatch.setattr("leaseq.webhooks.addresses._RESOLVE_SECONDS", 0.05)
    with pytest.raises(OSError, match=r"'slow.example' was not resolved within 0.05 s"):
        resolve(target_of("https://slow.example/"))
    over.set()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for receiver.example, and its key, in one file."""
    folder = tmp_path_factory.mktemp("tls")
    key, made = folder / "key.pem", folder / "cert.pem"
    name = ["-subj", "/CN=receiver.example", "-addext", "subjectAltName=DNS:receiver.example"]
    what = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    command = [*what, "-keyout", str(key), "-out", str(made), "-days", "2", *name]
    subprocess.run(command, check=True, capture_output=True)
    both = folder / "both.pem"
    both.write_text(made.read_text() + key.read_text())
    return both


@pytest.fixture
def by_tls(receiver: Receiver, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    receiver.server.socket = context.wrap_socket(receiver.server.socket, server_side=True)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    sending._tls.cache_clear()
    yield receiver
    sending._tls.cache_clear()


def sent_to(name: str, by_tls: Receiver, monkeypatch: pytest.MonkeyPatch) -> Response:
    monkeypatch.setattr(socket, "getaddrinfo", Resolver(["127.0.0.1"]))
    return post(f"https://{name}:{by_tls.port}/hook", {}, b"{}", HERE)


def test_the_certificate_is_checked_by_the_urls_name(
    by_tls: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    response = sent_to("receiver.example", by_tls, monkeypatch)
    assert (response.status, response.error) == (204, None)
    assert by_tls.requests[0].headers["host"] == f"receiver.example:{by_tls.port}"


def test_a_certificate_of_another_name_is_refused(by_tls: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    response = sent_to("other.example", by_tls, monkeypatch)
    assert response.status is None
    assert "Hostname mismatch" in (response.error or "")
    assert by_tls.requests == []


def test_a_certificate_that_nobody_vouches_for_is_refused(
    by_tls: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    response = sent_to("receiver.example", by_tls, monkeypatch)
    assert "self-signed certificate" in (response.error or "")
    assert by_tls.requests == []
