"""Connections to a primary behind sentinels: finds the primary, and checks it again if it stops answering."""

from __future__ import annotations

from functools import partial
from random import random
from time import monotonic
from typing import Any

from redis import exceptions as rx
from redis.sentinel import (
    MasterNotFoundError,
    Sentinel,
    SentinelManagedConnection,
    SentinelManagedSSLConnection,
)
from redis.utils import SENTINEL as UNSET

from leaseq.engine.silence import read_reply
from leaseq.engine.transport import FAILURES, TIMEOUT


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
        for sentinel in sorted(self.sentinels, key=lambda one: (self._failed_at.get(one, 0.0), random())):  # noqa: S311
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
