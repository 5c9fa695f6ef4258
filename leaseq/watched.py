"""Connections to a primary that sentinels watch: one that is silent asks them whether another took its place.

Without that, whoever speaks to a machine that hangs, or to a primary that was cut off from its replicas,
would find out only when the whole timeout is over, though another one has been at work for long.
"""

from __future__ import annotations

from time import monotonic
from typing import Any

from redis import exceptions as rx
from redis.sentinel import SentinelManagedConnection, SentinelManagedSSLConnection
from redis.utils import SENTINEL as UNSAID

from leaseq.links import FAILURES, TIMEOUT

_SILENCE = 0.5  # seconds after which it asks, and again each time


class Watched(SentinelManagedConnection):
    def read_response(self, *args: Any, timeout: Any = UNSAID, **more: Any) -> Any:
        """As ever; a ConnectionError where the sentinels name another primary meanwhile."""
        if timeout is not UNSAID:  # who listens looks after a silent link itself
            return super().read_response(*args, timeout=timeout, **more)
        until = monotonic() + (self.socket_timeout or TIMEOUT)
        while True:
            left = max(until - monotonic(), 0.001)
            try:
                return super().read_response(*args, timeout=min(_SILENCE, left), **more)
            except rx.TimeoutError:
                if left <= _SILENCE:
                    raise
                if self._is_replaced():
                    raise rx.ConnectionError("another server took this primary's place") from None

    def _is_replaced(self) -> bool:
        """As far as a sentinel says; one that names nobody says nothing."""
        try:
            return bool(self.connection_pool.get_master_address() != (self.host, self.port))
        except FAILURES:
            return False


class WatchedTLS(Watched, SentinelManagedSSLConnection):
    """The same with TLS."""
