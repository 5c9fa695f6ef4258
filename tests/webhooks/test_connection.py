"""Connecting to a receiver: only to checked addresses, within time limits, and with a certificate for its
name."""

from __future__ import annotations

import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from leaseq import webhooks
from leaseq.webhooks import sending
from leaseq.webhooks.sending import Response, post, resolve, target_of
from tests.support.receiver import Receiver
from tests.support.refused import refused
from tests.support.waiting import TIMEOUT
from tests.webhooks.conftest import LOOPBACK, Hooks

NO_NETWORKS = webhooks.networks("")


class Resolver:
    """Returns one reply after the other, and then fails; it does not handle literal addresses."""

    def __init__(self, *replies: list[str]) -> None:
        self.replies = list(replies)
        self.hosts: list[str] = []

    def __call__(self, host: str, port: int, **_: Any) -> list[Any]:
        self.hosts.append(host)
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in self.replies.pop(0)
        ]


def test_host_is_resolved_once_and_only_checked_address_is_connected(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DNS rebinding: after a public address, the name resolves to this machine; there must be no second
    lookup."""
    resolver = Resolver(["203.0.113.9"], ["127.0.0.1"])
    addresses: list[Any] = []
    monkeypatch.setattr(socket, "getaddrinfo", resolver)
    monkeypatch.setattr(sending, "is_public", lambda _: True, raising=False)
    monkeypatch.setattr("leaseq.webhooks.sending.is_public", lambda address: str(address) == "203.0.113.9")
    monkeypatch.setattr(sending, "CONNECT_SECONDS", 0.2)

    class RefusingSocket(socket.socket):
        def connect(self, address: Any) -> None:
            addresses.append(address)
            raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr(socket, "socket", RefusingSocket)
    response = post(f"https://rebinds.example:{receiver.port}/", {}, b"{}", NO_NETWORKS)
    assert response.error == f"no connection to 203.0.113.9 port {receiver.port}: Connection refused"
    assert addresses == [("203.0.113.9", receiver.port)]
    assert resolver.hosts == ["rebinds.example"]
    assert receiver.requests == []


@contextmanager
def listen_silently(address: str, port: int = 0) -> Iterator[int]:
    """Yield the port of a peer that accepts no connection."""
    with socket.socket() as listener, ExitStack() as clients:
        listener.bind((address, port))
        listener.listen(0)  # nobody accepts: with a full backlog, new connections get no reply
        for _ in range(4):
            client = clients.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]


def test_connecting_has_a_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "CONNECT_SECONDS", 0.2)
    with listen_silently("127.0.0.1") as port:
        response = post(f"http://127.0.0.1:{port}/", {}, b"{}", LOOPBACK)
    assert response.error == f"no connection to 127.0.0.1 port {port} within 0.2 s"


def test_total_time_limit_applies_to_connecting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "CONNECT_SECONDS", TIMEOUT / 10)
    with listen_silently("127.0.0.1") as port:
        response = post(f"http://127.0.0.1:{port}/", {}, b"{}", LOOPBACK, seconds=0.2)
    assert response.error == f"no connection to 127.0.0.1 port {port} within 0.2 s"


def test_error_names_last_address_if_all_connections_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "CONNECT_SECONDS", 0.2)
    monkeypatch.setattr(socket, "getaddrinfo", Resolver(["127.0.0.2", "127.0.0.1"]))
    with listen_silently("127.0.0.2") as port, listen_silently("127.0.0.1", port):
        response = post(f"http://two.example:{port}/", {}, b"{}", LOOPBACK)
    assert response.error == f"no connection to 127.0.0.1 port {port} within 0.2 s"


def test_silent_address_leaves_time_for_the_next_address(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    timeouts: list[float | None] = []
    connect = socket.socket.connect

    class RecordingSocket(socket.socket):
        def connect(self, address: Any) -> None:
            timeouts.append(self.gettimeout())
            connect(self, address)

    monkeypatch.setattr(sending, "CONNECT_SECONDS", 2 * TIMEOUT)
    monkeypatch.setattr(socket, "getaddrinfo", Resolver(["127.0.0.2", "127.0.0.1"]))
    monkeypatch.setattr(socket, "socket", RecordingSocket)
    assert (
        post(f"http://two.example:{receiver.port}/hook", {}, b"{}", LOOPBACK, seconds=2 * TIMEOUT).status
        == 204
    )
    assert timeouts[0] is not None
    assert 0.9 * TIMEOUT < timeouts[0] <= TIMEOUT, "half of the time for each of two"


def test_all_addresses_of_a_name_are_checked(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", Resolver(["8.8.8.8", "127.0.0.1"]))
    response = post(f"https://both.example:{receiver.port}/", {}, b"{}", NO_NETWORKS)
    assert "127.0.0.1 of 'both.example'" in (response.error or "")


def test_next_address_is_used_if_the_first_refuses_connection(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", Resolver(["127.0.0.2", "127.0.0.1"]))
    response = post(f"http://two.example:{receiver.port}/hook", {}, b"{}", LOOPBACK)
    assert response.status == 204
    assert receiver.requests[0].headers["host"] == f"two.example:{receiver.port}"


def test_unresolvable_host_is_accepted_with_https_only(hooks: Hooks, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_to_resolve(*_: Any, **__: Any) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", fail_to_resolve)
    assert hooks.endpoints.add("https://soon.example/", by="ann").endpoint.url == "https://soon.example/"
    with refused("format", "url", what="webhook_https"):
        hooks.endpoints.add("http://soon.example/", by="ann")
    assert "could not be resolved" in (post("https://soon.example/", {}, b"{}", NO_NETWORKS).error or "")


def test_hanging_resolver_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from threading import Event

    release = Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: release.wait(60) and [])
    monkeypatch.setattr("leaseq.webhooks.sending._RESOLVE_SECONDS", 0.05)
    with pytest.raises(OSError, match=r"'slow.example' was not resolved within 0.05 s"):
        resolve(target_of("https://slow.example/"))
    release.set()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for receiver.example and its key, in one file."""
    folder = tmp_path_factory.mktemp("tls")
    key, cert = folder / "key.pem", folder / "cert.pem"
    name = ["-subj", "/CN=receiver.example", "-addext", "subjectAltName=DNS:receiver.example"]
    openssl = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    command = [*openssl, "-keyout", str(key), "-out", str(cert), "-days", "2", *name]
    subprocess.run(command, check=True, capture_output=True)
    bundle = folder / "both.pem"
    bundle.write_text(cert.read_text() + key.read_text())
    return bundle


@pytest.fixture
def tls_receiver(
    receiver: Receiver, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Receiver]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    receiver.server.socket = context.wrap_socket(receiver.server.socket, server_side=True)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    sending._tls.cache_clear()
    yield receiver
    sending._tls.cache_clear()


def post_by_tls(name: str, tls_receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> Response:
    monkeypatch.setattr(socket, "getaddrinfo", Resolver(["127.0.0.1"]))
    return post(f"https://{name}:{tls_receiver.port}/hook", {}, b"{}", LOOPBACK)


def test_certificate_is_checked_against_the_host_of_the_url(
    tls_receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    response = post_by_tls("receiver.example", tls_receiver, monkeypatch)
    assert (response.status, response.error) == (204, None)
    assert tls_receiver.requests[0].headers["host"] == f"receiver.example:{tls_receiver.port}"


def test_certificate_of_another_host_is_refused(
    tls_receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    response = post_by_tls("other.example", tls_receiver, monkeypatch)
    assert response.status is None
    assert "Hostname mismatch" in (response.error or "")
    assert tls_receiver.requests == []


def test_untrusted_certificate_is_refused(tls_receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    response = post_by_tls("receiver.example", tls_receiver, monkeypatch)
    assert "self-signed certificate" in (response.error or "")
    assert tls_receiver.requests == []


def test_passed_deadline_gives_a_valid_socket_timeout() -> None:
    with socket.socket() as client:
        client.settimeout(sending._Deadline(-1).seconds_left())
