"""Where the server is: what a URL says, as redis-py's client for it."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import redis
from redis.backoff import NoBackoff
from redis.cluster import RedisCluster
from redis.maint_notifications import MaintNotificationsConfig
from redis.retry import Retry

from leaseq.errors import Invalid, ServerUnavailable
from leaseq.links import FAILURES, TIMEOUT
from leaseq.watched import Sentinels, Watched, WatchedTLS

SCHEMES = "redis://, rediss://, unix://, redis+sentinel:// or redis+cluster://"
TIMEOUTS = ("socket_timeout", "socket_connect_timeout")
# A sentinel has nothing to do but to answer; one that hangs, with the primary beside it, is passed over soon.
_SENTINEL_TIMEOUT = 1.0  # seconds


def redis_of(url: object) -> tuple[str, redis.Redis | RedisCluster]:
    """The URL, and a client for it. Raises Invalid (field ``url``)."""
    if not isinstance(url, str):
        raise Invalid("url", f"a URL that begins with {SCHEMES}")
    scheme = url.partition("://")[0]
    try:
        if scheme in ("redis", "rediss", "unix"):
            client = redis.Redis.from_url(url, **_options())
            client.connection_pool.make_connection()  # does no I/O; an option that isn't one shows here
            return url, client
        if scheme in ("redis+sentinel", "rediss+sentinel"):
            return url, _sentinel(url)
        if scheme in ("redis+cluster", "rediss+cluster"):
            return url, _cluster(url)
    except (ValueError, TypeError):  # what they say may have a piece of the password in it
        limit = "a URL that redis-py understands, a password's special characters percent-encoded"
        raise Invalid("url", limit) from None
    raise Invalid("url", f"a URL that begins with {SCHEMES}")


def _options() -> dict[str, Any]:
    return {
        "protocol": 2,
        "retry": Retry(NoBackoff(), 0),
        "socket_timeout": TIMEOUT,
        "socket_connect_timeout": TIMEOUT,
        # Valkey has no CLIENT MAINT_NOTIFICATIONS, and they need RESP 3.
        "maint_notifications_config": MaintNotificationsConfig(enabled=False),
    }


def _sentinel(url: str) -> redis.Redis:
    parts = urlsplit(url)
    where = parts.netloc.rpartition("@")[2].split(",")
    hosts = [(host or "localhost", int(port or 26379)) for host, _, port in (w.partition(":") for w in where)]
    service, _, database = parts.path.strip("/").partition("/")
    if not service:
        raise Invalid("url", "a Sentinel URL that names the service: redis+sentinel://host:26379/mymaster/0")
    login = {
        "username": unquote(parts.username or "") or None,
        "password": unquote(parts.password or "") or None,
    }
    asked = dict(parse_qsl(parts.query))
    sentinel_login = {
        name.removeprefix("sentinel_"): asked.pop(name)
        for name in ("sentinel_username", "sentinel_password")
        if name in asked
    }
    timeouts = {name: float(asked.pop(name)) for name in TIMEOUTS if name in asked}
    secured: dict[str, Any] = {"ssl": True} if parts.scheme.startswith("rediss") else {}
    if secured and "ssl_ca_certs" in asked:
        secured["ssl_ca_certs"] = asked.pop("ssl_ca_certs")
    if asked:
        known = "sentinel_username, sentinel_password, socket_timeout and socket_connect_timeout"
        raise Invalid("url", f"a Sentinel URL with no options but {known}")
    shared = {**_options(), **timeouts, **secured}
    options = {**shared, "db": int(database or 0), **{k: v for k, v in login.items() if v}}
    soon = dict.fromkeys(TIMEOUTS, _SENTINEL_TIMEOUT)
    sentinel_options = {**shared, **soon, **timeouts, **sentinel_login}
    sentinel: Any = Sentinels(hosts, sentinel_kwargs=sentinel_options, **options)
    connection = WatchedTLS if secured else Watched
    found: redis.Redis = sentinel.master_for(service, connection_class=connection)
    return found


def _cluster(url: str) -> RedisCluster:
    try:
        return RedisCluster.from_url(url.replace("+cluster", "", 1), **_options())
    except FAILURES as error:  # a cluster is asked for its slots at once
        raise ServerUnavailable(f"no answer from {without_password(url)}: {error}") from error


def without_password(url: str) -> str:
    scheme, _, rest = url.partition("?")[0].partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"
