"""Check for a reverse proxy that the web app's settings do not declare.

The web app detects one from its requests, and leaves a note in the server for the doctor.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from leaseq.doctor.checks import Check, Finding
from leaseq.engine.client import Client
from leaseq.engine.keys import UNDECLARED_PROXY
from leaseq.engine.urls import without_password

NOTED_SECONDS = 7_200
"""How long a note is valid. The web app renews it each hour while the proxy is in use."""

UNDECLARED = Check(
    "proxy-not-declared",
    "warning",
    "has a note from the web app: the app is reached through an undeclared proxy at {address} (which sends "
    "{header}), "
    "so all people appear to have the proxy's address, and share one limit on failed sign-ins",
    "set LEASEQ_TRUSTED_PROXIES to the number of proxies, and LEASEQ_PROXY_ADDRESSES to the address that the "
    "last "
    "one connects from, such as {address}",
)
PASSED = "in the last two hours the web app was not reached through an undeclared proxy"


def note_undeclared_proxy(client: Client, address: str, header: str) -> None:
    """Leave a note for the doctor, which expires after two hours."""
    redis: Any = client.redis
    with client.translating():
        redis.hset(UNDECLARED_PROXY, mapping={"address": address, "header": header})
        redis.expire(UNDECLARED_PROXY, NOTED_SECONDS)


def find_problems(client: Client) -> Iterator[Finding]:
    redis: Any = client.redis
    with client.translating():
        note = {name.decode(): value.decode() for name, value in redis.hgetall(UNDECLARED_PROXY).items()}
    if note:
        yield UNDECLARED.finding(without_password(client.url), address=note["address"], header=note["header"])
