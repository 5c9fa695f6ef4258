"""The addresses of servers: URLs, and the masters that Sentinels name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from random import random
from time import monotonic
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from redis import exceptions as rx
from redis.backoff import NoBackoff
from redis.maint_notifications import MaintNotificationsConfig
from redis.sentinel import (
    MasterNotFoundError,
    Sentinel,
    SentinelManagedConnection,
    SentinelManagedSSLConnection,
)
from redis.utils import SENTINEL as UNSET

from leaseq.engine.transport import FAILURES, TIMEOUT, read_reply
from leaseq.errors import Invalid, ServerUnavailable
from leaseq.names import nearest

SCHEMES = "redis://, rediss://, unix://, redis+sentinel:// or redis+cluster://"
TIMEOUTS = ("socket_timeout", "socket_connect_timeout")
# The most useful of redis-py's options, which errors list.
OPTIONS = (
    *TIMEOUTS,
    "db",
    "username",
    "password",
    "client_name",
    "socket_keepalive",
    "health_check_interval",
)
TLS_OPTIONS = (*OPTIONS, "ssl_ca_certs", "ssl_certfile", "ssl_keyfile", "ssl_cert_reqs", "ssl_check_hostname")
SENTINEL_OPTIONS = ("sentinel_username", "sentinel_password", *TIMEOUTS)
# Short, since a sentinel does nothing but answer: one that hangs, perhaps along with the primary, is skipped.
_SENTINEL_TIMEOUT = 1.0  # seconds


class Classes(NamedTuple):
    """The classes from which clients are built."""

    redis: Any
    cluster: Any
    sentinel: Any
    sentinel_connection: Any
    sentinel_tls_connection: Any
    retry: Any


def redis_of(url: object, classes: Classes) -> tuple[str, Any]:
    """Parse the URL, and create a client for it. Raises Invalid (field ``url``)."""
    if not isinstance(url, str):
        raise Invalid("url", "format", what="url", schemes=SCHEMES)
    scheme = url.partition("://")[0]
    try:
        if scheme in ("redis", "rediss", "unix"):
            return url, _standalone(url, classes)
        if scheme in ("redis+sentinel", "rediss+sentinel"):
            return url, _sentinel(url, classes)
        if scheme in ("redis+cluster", "rediss+cluster"):
            return url, _cluster(url, classes)
    except (ValueError, TypeError) as error:
        raise _refusal(url, error) from None
    raise Invalid("url", "format", what="url", schemes=SCHEMES)


def _options(classes: Classes) -> dict[str, Any]:
    return {
        "protocol": 2,
        "retry": classes.retry(NoBackoff(), 0),
        "socket_timeout": TIMEOUT,
        "socket_connect_timeout": TIMEOUT,
        # Valkey has no CLIENT MAINT_NOTIFICATIONS, and they need RESP 3.
        "maint_notifications_config": MaintNotificationsConfig(enabled=False),
    }


def _standalone(url: str, classes: Classes) -> Any:
    parts = urlsplit(url)
    if parts.scheme == "unix" and (parts.hostname or not parts.path):  # redis-py would ignore the host
        raise Invalid("url", "format", what="socket")
    client = classes.redis.from_url(url, **_options(classes))
    client.connection_pool.make_connection()  # does no I/O, but raises for an unknown option
    return client


def _refusal(url: str, error: Exception) -> Invalid:
    """The error for a URL that redis-py refused. Its message may contain a piece of the password, which may
    contain a question mark, so only text that can't be anything but an option's name is quoted."""
    query = url.partition("?")[2]
    for name, _ in parse_qsl(query):
        if "@" not in query and re.fullmatch("[a-z_]+", name) and repr(name) in str(error):
            options = TLS_OPTIONS if url.startswith("rediss") else OPTIONS
            is_unknown = isinstance(error, TypeError)
            return _unknown_option(name, options) if is_unknown else Invalid("url", "url_value", name=name)
    return Invalid("url", "format", what="url_syntax")


def _unknown_option(name: str, options: Sequence[str]) -> Invalid:
    return Invalid("url", "one_of", choices=options, value=name, near=nearest(name, options))


def _sentinel(url: str, classes: Classes) -> Any:
    parts = urlsplit(url)
    addresses = parts.netloc.rpartition("@")[2].split(",")
    hosts = [
        (host or "localhost", int(port or 26379)) for host, _, port in (w.partition(":") for w in addresses)
    ]
    service, _, database = parts.path.strip("/").partition("/")
    if not service:
        raise Invalid("url", "format", what="sentinel")
    login = {
        "username": unquote(parts.username or "") or None,
        "password": unquote(parts.password or "") or None,
    }
    query = dict(parse_qsl(parts.query))
    sentinel_login = {
        name.removeprefix("sentinel_"): query.pop(name)
        for name in ("sentinel_username", "sentinel_password")
        if name in query
    }
    timeouts = {name: _seconds(name, query.pop(name)) for name in TIMEOUTS if name in query}
    tls_options: dict[str, Any] = {"ssl": True} if parts.scheme.startswith("rediss") else {}
    if tls_options and "ssl_ca_certs" in query:
        tls_options["ssl_ca_certs"] = query.pop("ssl_ca_certs")
    for name in query:
        raise _unknown_option(name, (*SENTINEL_OPTIONS, "ssl_ca_certs") if tls_options else SENTINEL_OPTIONS)
    shared_options = {**_options(classes), **timeouts, **tls_options}
    options = {**shared_options, "db": int(database or 0), **{k: v for k, v in login.items() if v}}
    sentinel_timeouts = dict.fromkeys(TIMEOUTS, _SENTINEL_TIMEOUT)
    sentinel_options = {**shared_options, **sentinel_timeouts, **timeouts, **sentinel_login}
    sentinel = classes.sentinel(hosts, sentinel_kwargs=sentinel_options, **options)
    connection = classes.sentinel_tls_connection if tls_options else classes.sentinel_connection
    return sentinel.master_for(service, connection_class=connection)


def _seconds(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise Invalid("url", "url_value", name=name) from None


def _cluster(url: str, classes: Classes) -> Any:
    plain_url = url.replace("+cluster", "", 1)
    _standalone(plain_url, classes)  # raises for an error in the URL, before any I/O
    try:
        return classes.cluster.from_url(plain_url, **_options(classes))
    except FAILURES as error:  # redis-py asks a cluster for its slots immediately
        address = without_password(url)
        raise ServerUnavailable("no_answer", what="server", address=address, why=str(error)) from error


def without_password(url: str) -> str:
    scheme, _, rest = url.partition("?")[0].partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"


class SentinelClient(Sentinel):
    """Asks the sentinels in random order. Those that have ever failed to answer come last, the longest ago
    first. redis-py's own class moves the sentinel that answered to the front of a list, from which concurrent
    threads can lose others."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)  # type: ignore[no-untyped-call]
        self._failed_at: dict[Any, float] = {}  # sentinel -> when it last failed to answer

    def discover_master(self, service_name: str) -> tuple[str, int]:
        state = self._state(service_name)
        return state["ip"], state["port"]

    def replica_count(self, service_name: str) -> int:
        """The number of replicas that the sentinels know, including unreachable ones."""
        return int(self._state(service_name)["num-slaves"])

    def _state(self, service_name: str) -> Any:
        """The service's state, from the first sentinel that knows a reachable primary."""
        silent_count = 0
        for sentinel in sorted(self.sentinels, key=lambda s: (self._failed_at.get(s, 0.0), random())):  # noqa: S311
            try:
                masters: Any = sentinel.sentinel_masters()
            except (rx.ConnectionError, rx.TimeoutError):
                self._failed_at[sentinel] = monotonic()
                silent_count += 1
                continue
            state = masters.get(service_name)
            if state and self.check_master_state(state, service_name):  # type: ignore[no-untyped-call]
                return state
        raise MasterNotFoundError(
            f"{silent_count} of {len(self.sentinels)} sentinels did not answer, no other knows a primary"
        )


class SentinelConnection(SentinelManagedConnection):
    """A connection that asks the sentinels for the primary if its server does not answer."""

    def read_response(self, *args: Any, timeout: Any = UNSET, **options: Any) -> Any:
        read = partial(super().read_response, *args, **options)
        if timeout is not UNSET:  # the listener checks its own connection
            return read(timeout=timeout)
        return read_reply(read, self.socket_timeout or TIMEOUT, self._is_replaced)

    def _is_replaced(self) -> bool:
        """Whether a sentinel names another primary; False if none is named."""
        try:
            return bool(self.connection_pool.get_master_address() != (self.host, self.port))
        except FAILURES:
            return False


class SentinelTLSConnection(SentinelConnection, SentinelManagedSSLConnection):
    """The same with TLS."""
