"""A server does not answer, and the sentinels are asked whether it was replaced."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from redis import exceptions as rx
from redis.sentinel import MasterNotFoundError, SentinelManagedConnection

from leaseq.engine import silence
from leaseq.engine.aio import links
from leaseq.engine.sentinel import SentinelConnection

Answer = Callable[..., Any]


def in_loop(read: Callable[..., Any], seconds: float, is_replaced: Callable[[], bool]) -> Any:
    """The same function of `leaseq.aio`, with the same arguments."""

    async def async_read(seconds: float) -> Any:
        return read(timeout=seconds)

    async def async_is_replaced() -> bool:
        return is_replaced()

    return asyncio.run(links.read_reply(async_read, seconds, async_is_replaced))


@pytest.fixture(params=[silence.read_reply, in_loop], ids=["thread", "task"])
def answer(request: pytest.FixtureRequest) -> Answer:
    reader: Answer = request.param
    return reader


def silent_reader(times: int) -> Callable[..., str]:
    remaining = iter(range(times))

    def read(timeout: float) -> str:
        if next(remaining, None) is None:
            return "an answer"
        raise rx.TimeoutError

    return read


def test_whose_place_nobody_took_is_waited_for(answer: Answer) -> None:
    assert answer(silent_reader(3), 5, lambda: False) == "an answer"


def test_whose_place_another_took_is_left(answer: Answer) -> None:
    with pytest.raises(rx.ConnectionError):
        answer(silent_reader(3), 5, lambda: True)


def test_a_call_waits_for_its_timeout_and_no_longer(answer: Answer) -> None:
    with pytest.raises(rx.TimeoutError):
        answer(silent_reader(3), 0, lambda: False)


@pytest.mark.parametrize(("timeout", "shortest"), [(0.3, 0.0), (0, 0.001)])
def test_the_last_wait_ends_with_the_timeout(answer: Answer, timeout: float, shortest: float) -> None:
    timeouts: list[float] = []

    def read(timeout: float) -> str:
        assert not timeouts, "it read again after the timeout"
        timeouts.append(timeout)
        raise rx.TimeoutError

    with pytest.raises(rx.TimeoutError):
        answer(read, timeout, lambda: False)
    assert shortest <= timeouts[0] <= max(timeout, shortest)


def test_who_was_asked_once_is_asked_again_sooner(answer: Answer) -> None:
    timeouts: list[float] = []

    def read(timeout: float) -> str:
        timeouts.append(timeout)
        raise rx.TimeoutError

    with pytest.raises(rx.ConnectionError):
        answer(read, 5, lambda: len(timeouts) == 3)
    assert timeouts == [0.5, 0.2, 0.2]


class UnknownPrimary:
    """A pool whose sentinels name no primary."""

    def get_master_address(self) -> tuple[str, int]:
        raise MasterNotFoundError("no sentinel answers")


def test_where_no_sentinel_names_a_primary_the_present_one_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read = silent_reader(3)

    def read_response(self: SentinelManagedConnection, timeout: float) -> Any:
        return read(timeout=timeout)

    monkeypatch.setattr(SentinelManagedConnection, "read_response", read_response)
    options: dict[str, Any] = {"host": "127.0.0.1", "port": 6379, "connection_pool": UnknownPrimary()}
    connection = SentinelConnection(**options)  # type: ignore[no-untyped-call]
    assert connection.read_response() == "an answer"
