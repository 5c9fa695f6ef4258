"""Trusted proxies: X-Forwarded-* headers are used only if they come from our own proxies."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import TYPE_CHECKING

from flask import Response, request
from werkzeug.middleware.proxy_fix import ProxyFix

from leaseq import Client, LeaseqError
from leaseq.doctor import note_undeclared_proxy
from leaseq.webapp.serving.hosts import PROBES

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

Network = IPv4Network | IPv6Network

_CAME_BY_PROXY = "leaseq.by_proxy"


def came_by_proxy(environ: WSGIEnvironment) -> bool:
    return bool(environ.get(_CAME_BY_PROXY))


_FORWARDED = {  # by their names in an environ
    f"HTTP_{name.upper().replace('-', '_')}": name
    for name in ("X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "Forwarded")
}
_NOTE_SECONDS = 3_600  # seconds; `leaseq doctor` forgets after two hours

log = logging.getLogger(__name__)


class UndeclaredProxies:
    """Leaves a note for `leaseq doctor` if requests come through a proxy that the settings do not declare.

    Any client can send such a header, but one with an address in a private network rarely does.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._noted_at: float | None = None

    def check_response(self, response: Response) -> Response:
        environ = request.environ
        headers = _FORWARDED.keys() & environ.keys()
        if not headers or came_by_proxy(environ) or request.endpoint in PROBES:
            return response
        if _is_private(request.remote_addr):
            self._note(request.remote_addr or "a unix socket", _FORWARDED[min(headers)])
        return response

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


def _is_private(address: str | None) -> bool:
    """Whether the address is of this machine or a private network. A unix socket has none."""
    try:
        return ip_address(address or "127.0.0.1").is_private
    except ValueError:
        return False


class Proxies:
    """Middleware that trusts the X-Forwarded-* headers of ``proxy_count`` proxies in ``networks``. Other
    headers are ignored."""

    def __init__(self, app: WSGIApplication, proxy_count: int, networks: Sequence[Network]) -> None:
        self._app = app
        self._networks = networks if proxy_count else ()
        self._proxy_fix = ProxyFix(app, x_for=proxy_count, x_proto=proxy_count, x_host=proxy_count)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if not self._networks or not self._is_trusted(environ.get("REMOTE_ADDR", "")):
            return self._app(environ, start_response)
        environ[_CAME_BY_PROXY] = True
        return self._proxy_fix(environ, start_response)

    def _is_trusted(self, address: str) -> bool:
        """Whether to trust an address. A unix socket has none: its clients are on this machine."""
        try:
            ip = ip_address(address or "127.0.0.1")
        except ValueError:
            return False
        return any(ip in network for network in self._networks)
