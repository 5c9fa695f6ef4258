"""Origins of addresses: scheme, host and port, parsed.

A comparison of texts would accept ``https://ok.example.evil.org`` and ``https://ok.example@evil.org`` as
``https://ok.example``.
"""

from __future__ import annotations

import re
from ipaddress import IPv6Address, ip_address
from urllib.parse import SplitResult, urlsplit

_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")


def origin_of(address: str) -> str | None:
    """The origin of an http or https address as a browser writes it, such as ``https://cdn.example.org``.

    None if the address has no host, or if a browser may parse a different host from it than Python does.
    """
    parts = _split(address)
    if parts is None or parts.scheme not in _PORTS or "@" in parts.netloc or "\\" in address:
        return None
    try:
        host, port = _host(parts.hostname or ""), parts.port
    except ValueError:
        return None
    if host is None or port == 0 or parts.netloc.endswith(":"):
        return None
    suffix = "" if port in (None, _PORTS[parts.scheme]) else f":{port}"
    return f"{parts.scheme}://{host}{suffix}"


def is_confidential(address: str) -> bool:
    """Whether requests to it can't be read on the way: https, or http to this machine itself."""
    origin = origin_of(address)
    if origin is None:
        return False
    parts = urlsplit(origin)
    return parts.scheme == "https" or _is_loopback(parts.hostname or "")


def _split(address: str) -> SplitResult | None:
    if not address.isprintable() or " " in address:
        return None
    try:
        return urlsplit(address)
    except ValueError:
        return None


def _host(name: str) -> str | None:
    """The host as browsers spell it. None if it ends with a dot, which would make it a different origin."""
    if ":" in name:
        address = ip_address(name)
        return f"[{address}]" if isinstance(address, IPv6Address) and address.scope_id is None else None
    return name if _HOST.fullmatch(name) else None


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
