"""The sender of a request: proxies, allowed hosts, other origins (CORS)."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import TYPE_CHECKING, Any

from flask import Flask, request
from werkzeug.middleware.proxy_fix import ProxyFix

from leaseq import Client, LeaseqError
from leaseq.doctor import note_undeclared_proxy
from leaseq.webapp.serving.middleware import CAME_BY_PROXY
from leaseq.webapp.serving.problem import Problem

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

PROBE_PATHS = frozenset({"/healthz", "/readyz"})
"""Paths that load balancers and monitors request at the process's own address, with any Host."""

_PORT = re.compile(r":[0-9]*\Z")


def init_hosts(app: Flask, allowed_hosts: Sequence[str]) -> None:
    """Refuse requests for other hosts; ``.example.org`` means that one and all its subdomains.

    Flask's TRUSTED_HOSTS refuses capital letters, IPv6 addresses and probes, and can't show an error page.
    """
    names = tuple(name.lower() for name in allowed_hosts)

    def check() -> None:
        host = _PORT.sub("", request.host).lower()
        if request.path not in PROBE_PATHS and not any(_matches(host, name) for name in names):
            raise Problem.of(400, "invalid", "host", field="Host")

    if names:
        app.before_request(check)


def _matches(host: str, name: str) -> bool:
    return host in (name, name.removeprefix(".")) or (name.startswith(".") and host.endswith(name))


Network = IPv4Network | IPv6Network

_FORWARDED = {  # by their names in an environ
    f"HTTP_{name.upper().replace('-', '_')}": name
    for name in ("X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "Forwarded")
}
_NOTE_SECONDS = 3_600  # seconds; `leaseq doctor` forgets after two hours

log = logging.getLogger(__name__)


def _is_private(address: str | None) -> bool:
    """Whether the address is of this machine or a private network. A unix socket has none."""
    try:
        return ip_address(address or "127.0.0.1").is_private
    except ValueError:
        return False


class Proxies:
    """Middleware that trusts the X-Forwarded-* headers of ``proxy_count`` proxies in ``networks``. Other
    headers are ignored; if the settings may lack a proxy that sends them, `leaseq doctor` gets a note.

    Any client can send such a header, but one with an address in a private network rarely does.
    """

    def __init__(
        self, app: WSGIApplication, client: Client, proxy_count: int, networks: Sequence[Network]
    ) -> None:
        self._app, self._client = app, client
        self._networks = networks if proxy_count else ()
        self._proxy_fix = ProxyFix(app, x_for=proxy_count, x_proto=proxy_count, x_host=proxy_count)
        self._noted_at: float | None = None

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        address = environ.get("REMOTE_ADDR", "")
        if self._networks and self._is_trusted(address):
            environ[CAME_BY_PROXY] = True
            return self._proxy_fix(environ, start_response)
        headers = _FORWARDED.keys() & environ.keys()
        if headers and environ.get("PATH_INFO") not in PROBE_PATHS and _is_private(address):
            self._note(address or "a unix socket", _FORWARDED[min(headers)])
        return self._app(environ, start_response)

    def _note(self, address: str, header: str) -> None:
        now = time.monotonic()
        if self._noted_at is not None and now - self._noted_at < _NOTE_SECONDS:
            return
        self._noted_at = now
        log.warning(
            "requests come through a proxy at %s that is not declared (it sends %s): everybody seems to "
            "have its address. Set LEASEQ_TRUSTED_PROXIES and LEASEQ_PROXY_ADDRESSES",
            address,
            header,
        )
        try:
            note_undeclared_proxy(self._client, address, header)
        except LeaseqError:
            self._noted_at = None  # the next request tries again

    def _is_trusted(self, address: str) -> bool:
        """Whether to trust an address. A unix socket has none: its clients are on this machine."""
        try:
            ip = ip_address(address or "127.0.0.1")
        except ValueError:
            return False
        return any(ip in network for network in self._networks)


METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE"
REQUEST_HEADERS = "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID"
EXPOSED_HEADERS = (
    "Allow, Content-Disposition, ETag, Idempotency-Replayed, Link, Location, RateLimit-Limit, "
    "RateLimit-Remaining, RateLimit-Reset, Retry-After, WWW-Authenticate, X-Leaseq-Erased-As, "
    "X-Leaseq-Reason, X-Leaseq-Unassigned, X-Leaseq-Unmatched, X-Request-Id"
)
MAX_AGE_SECONDS = "600"


class Cors:
    """Middleware that answers preflights, and marks what pages of these origins may read."""

    def __init__(self, app: WSGIApplication, origins: Iterable[str]) -> None:
        self._app = app
        self._origins = frozenset(origins)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if not environ.get("PATH_INFO", "").startswith("/api/"):
            return self._app(environ, start_response)
        origin = environ.get("HTTP_ORIGIN", "")
        allowed_origin = origin if origin in self._origins else None
        if allowed_origin is None:
            return self._app(environ, _with_headers({}, start_response))
        environ.pop("HTTP_COOKIE", None)
        headers = {"Access-Control-Allow-Origin": allowed_origin}
        if environ["REQUEST_METHOD"] == "OPTIONS" and "HTTP_ACCESS_CONTROL_REQUEST_METHOD" in environ:
            headers |= {
                "Access-Control-Allow-Methods": METHODS,
                "Access-Control-Allow-Headers": REQUEST_HEADERS,
                "Access-Control-Max-Age": MAX_AGE_SECONDS,
            }
            _with_headers(headers, start_response)("204 No Content", [])
            return []
        headers["Access-Control-Expose-Headers"] = EXPOSED_HEADERS
        return self._app(environ, _with_headers(headers, start_response))


def _with_headers(extra_headers: dict[str, str], start_response: StartResponse) -> StartResponse:
    """Add headers and ``Vary: Origin``, also to requests without an origin, since a cache may reuse the
    response for one with an origin."""

    def start(status: str, headers: list[tuple[str, str]], *error: Any) -> Any:
        vary_values = [value for name, value in headers if name.lower() == "vary" and value != "Origin"]
        other_headers = [header for header in headers if header[0].lower() != "vary"]
        vary = ("Vary", ", ".join([*vary_values, "Origin"]))
        return start_response(status, [*other_headers, vary, *extra_headers.items()], *error)

    return start
