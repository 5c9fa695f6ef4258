"""Connections to a primary behind sentinels: how it is found, and checked again where it stops answering."""

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
from redis.utils import SENTINEL as UNSAID

from leaseq.engine.transport import FAILURES, TIMEOUT, answer


class Sentinels(Sentinel):
    """Asks the sentinels in any order, those that did not answer last. redis-py moves the one that
    answered to the front of its list, a race by which concurrent threads lose others from it, for good."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)  # type: ignore[no-untyped-call]
        self._silent: dict[Any, float] = {}  # since when

    def discover_master(self, service_name: str) -> tuple[str, int]:
        state = self._state(service_name)
        return state["ip"], state["port"]

    def replica_count(self, service_name: str) -> int:
        """The number of replicas that the sentinels know, unreachable ones included."""
        return int(self._state(service_name)["num-slaves"])

    def _state(self, service_name: str) -> Any:
        """The service's state, by the first sentinel that knows a primary which is reachable."""
        for sentinel in sorted(self.sentinels, key=lambda one: (self._silent.get(one, 0.0), random())):  # noqa: S311
            try:
                masters: Any = sentinel.sentinel_masters()
            except (rx.ConnectionError, rx.TimeoutError):
                self._silent[sentinel] = monotonic()
                continue
            self._silent.pop(sentinel, None)
            state = masters.get(service_name)
            if state and self.check_master_state(state, service_name):  # type: ignore[no-untyped-call]
                return state
        known, silent = len(self.sentinels), len(self._silent)
        raise MasterNotFoundError(f"{silent} of {known} sentinels are silent, no other knows a primary")


class Watched(SentinelManagedConnection):
    def read_response(self, *args: Any, timeout: Any = UNSAID, **more: Any) -> Any:
        read = partial(super().read_response, *args, **more)
        if timeout is not UNSAID:  # who listens looks after a silent link itself
            return read(timeout=timeout)
        return answer(read, self.socket_timeout or TIMEOUT, self._is_replaced)

    def _is_replaced(self) -> bool:
        """Whether a sentinel names another primary; one that names none says nothing."""
        try:
            return bool(self.connection_pool.get_master_address() != (self.host, self.port))
        except FAILURES:
            return False


class WatchedTLS(Watched, SentinelManagedSSLConnection):
    """The same with TLS."""
