"""Reading the reply of a silent server, while sentinels are asked whether it was replaced."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from redis import exceptions as rx
from redis.sentinel import MasterNotFoundError, SentinelManagedConnection

from leaseq.engine import transport
from leaseq.engine.aio import pooled_connection
from leaseq.engine.urls import SentinelConnection

ReadReply = Callable[..., Any]


def read_in_event_loop(read: Callable[..., Any], seconds: float, is_replaced: Callable[[], bool]) -> Any:
    """The same function of `leaseq.aio`, with the same arguments."""

    async def async_read(seconds: float) -> Any:
        return read(timeout=seconds)

    async def async_is_replaced() -> bool:
        return is_replaced()

    return asyncio.run(pooled_connection.read_reply(async_read, seconds, async_is_replaced))


@pytest.fixture(params=[transport.read_reply, read_in_event_loop], ids=["thread", "task"])
def read_reply(request: pytest.FixtureRequest) -> ReadReply:
    reader: ReadReply = request.param
    return reader


def silent_reader(times: int) -> Callable[..., str]:
    remaining = iter(range(times))

    def read(timeout: float) -> str:
        if next(remaining, None) is None:
            return "an answer"
        raise rx.TimeoutError

    return read


def test_reply_of_silent_server_is_awaited_if_not_replaced(read_reply: ReadReply) -> None:
    assert read_reply(silent_reader(3), 5, lambda: False) == "an answer"


def test_replaced_server_raises_connection_error(read_reply: ReadReply) -> None:
    with pytest.raises(rx.ConnectionError):
        read_reply(silent_reader(3), 5, lambda: True)


def test_call_waits_no_longer_than_timeout(read_reply: ReadReply) -> None:
    with pytest.raises(rx.TimeoutError):
        read_reply(silent_reader(3), 0, lambda: False)


@pytest.mark.parametrize(("timeout", "shortest"), [(0.3, 0.0), (0, 0.001)])
def test_last_read_ends_at_timeout(read_reply: ReadReply, timeout: float, shortest: float) -> None:
    timeouts: list[float] = []

    def read(timeout: float) -> str:
        assert not timeouts, "it read again after the timeout"
        timeouts.append(timeout)
        raise rx.TimeoutError

    with pytest.raises(rx.TimeoutError):
        read_reply(read, timeout, lambda: False)
    assert shortest <= timeouts[0] <= max(timeout, shortest)


def test_later_checks_have_shorter_interval(read_reply: ReadReply) -> None:
    timeouts: list[float] = []

    def read(timeout: float) -> str:
        timeouts.append(timeout)
        raise rx.TimeoutError

    with pytest.raises(rx.ConnectionError):
        read_reply(read, 5, lambda: len(timeouts) == 3)
    assert timeouts == [0.5, 0.2, 0.2]


class UnknownPrimary:
    """A pool whose sentinels name no primary."""

    def get_master_address(self) -> tuple[str, int]:
        raise MasterNotFoundError("no sentinel answers")


def test_reply_is_awaited_when_no_sentinel_names_primary(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read = silent_reader(3)

    def read_response(self: SentinelManagedConnection, timeout: float) -> Any:
        return read(timeout=timeout)

    monkeypatch.setattr(SentinelManagedConnection, "read_response", read_response)
    options: dict[str, Any] = {"host": "127.0.0.1", "port": 6379, "connection_pool": UnknownPrimary()}
    connection = SentinelConnection(**options)  # type: ignore[no-untyped-call]
    assert connection.read_response() == "an answer"
