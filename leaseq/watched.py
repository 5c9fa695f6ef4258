"""Connections to a primary that sentinels watch: a silent one asks them whether another took its place."""

from __future__ import annotations

from functools import partial
from typing import Any

from redis.sentinel import SentinelManagedConnection, SentinelManagedSSLConnection
from redis.utils import SENTINEL as UNSAID

from leaseq.links import FAILURES, TIMEOUT, answer


class Watched(SentinelManagedConnection):
    def read_response(self, *args: Any, timeout: Any = UNSAID, **more: Any) -> Any:
        read = partial(super().read_response, *args, **more)
        if timeout is not UNSAID:  # who listens looks after a silent link itself
            return read(timeout=timeout)
        return answer(read, self.socket_timeout or TIMEOUT, self._is_replaced)

    def _is_replaced(self) -> bool:
        """As far as a sentinel says; one that names nobody says nothing."""
        try:
            return bool(self.connection_pool.get_master_address() != (self.host, self.port))
        except FAILURES:
            return False


class WatchedTLS(Watched, SentinelManagedSSLConnection):
    """The same with TLS."""
