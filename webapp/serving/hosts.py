"""Checks the Host header against the allowed hosts in the settings."""

from __future__ import annotations

import re
from collections.abc import Sequence

from flask import Flask, request

from leaseq.webapp.serving.problem import Problem

PROBES = frozenset({"health.healthz", "health.readyz"})
"""Endpoints that load balancers and monitors request at the process's own address, with any Host."""

_PORT = re.compile(r":[0-9]*\Z")


def init_hosts(app: Flask, allowed_hosts: Sequence[str]) -> None:
    """Refuse requests for other hosts; ``.example.org`` means that one and all its subdomains.

    Flask's TRUSTED_HOSTS refuses capital letters, IPv6 addresses and probes, and can't show an error page.
    """
    names = tuple(name.lower() for name in allowed_hosts)

    def check() -> None:
        host = _PORT.sub("", request.host).lower()
        if request.endpoint not in PROBES and not any(_matches(host, name) for name in names):
            limit = "a host in LEASEQ_ALLOWED_HOSTS"
            detail = f"Host: {limit}"
            raise Problem(400, "invalid", detail, field="Host", limit=limit)

    if names:
        app.before_request(check)


def _matches(host: str, name: str) -> bool:
    return host in (name, name.removeprefix(".")) or (name.startswith(".") and host.endswith(name))
