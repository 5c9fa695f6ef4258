"""Whose word counts for where a request came from: our own proxies' X-Forwarded-*, nobody else's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import TYPE_CHECKING

from werkzeug.middleware.proxy_fix import ProxyFix

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

Network = IPv4Network | IPv6Network

_CAME_BY_PROXY = "leaseq.by_proxy"


def came_by_proxy(environ: WSGIEnvironment) -> bool:
    return bool(environ.get(_CAME_BY_PROXY))


class Proxies:
    """Lets ``hops`` proxies that connect from ``networks`` say who asks. The headers of others do nothing."""

    def __init__(self, app: WSGIApplication, hops: int, networks: Sequence[Network]) -> None:
        self._app = app
        self._networks = networks if hops else ()
        self._fixed = ProxyFix(app, x_for=hops, x_proto=hops, x_host=hops)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if not self._ours(environ.get("REMOTE_ADDR", "")):
            return self._app(environ, start_response)
        environ[_CAME_BY_PROXY] = True
        return self._fixed(environ, start_response)

    def _ours(self, address: str) -> bool:
        """A unix socket has no address: whoever reaches it is on this machine."""
        try:
            found = ip_address(address or "127.0.0.1")
        except ValueError:
            return False
        return any(found in network for network in self._networks)
