"""A server does not answer, and the sentinels are asked whether another one replaced it."""

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
    """`leaseq.aio`'s, called as the other."""

    async def reading(seconds: float) -> Any:
        return read(timeout=seconds)

    async def replaced() -> bool:
        return is_replaced()

    return asyncio.run(links.read_reply(reading, seconds, replaced))


@pytest.fixture(params=[silence.read_reply, in_loop], ids=["thread", "task"])
def answer(request: pytest.FixtureRequest) -> Answer:
    found: Answer = request.param
    return found


def silent(times: int) -> Callable[..., str]:
    left = iter(range(times))

    def read(timeout: float) -> str:
        if next(left, None) is None:
            return "an answer"
        raise rx.TimeoutError

    return read


def test_whose_place_nobody_took_is_waited_for(answer: Answer) -> None:
    assert answer(silent(3), 5, lambda: False) == "an answer"


def test_whose_place_another_took_is_left(answer: Answer) -> None:
    with pytest.raises(rx.ConnectionError):
        answer(silent(3), 5, lambda: True)


def test_a_call_waits_for_its_timeout_and_no_longer(answer: Answer) -> None:
    with pytest.raises(rx.TimeoutError):
        answer(silent(3), 0, lambda: False)


@pytest.mark.parametrize(("timeout", "shortest"), [(0.3, 0.0), (0, 0.001)])
def test_the_last_wait_ends_with_the_timeout(answer: Answer, timeout: float, shortest: float) -> None:
    waited: list[float] = []

    def read(timeout: float) -> str:
        assert not waited, "the timeout was over"
        waited.append(timeout)
        raise rx.TimeoutError

    with pytest.raises(rx.TimeoutError):
        answer(read, timeout, lambda: False)
    assert shortest <= waited[0] <= max(timeout, shortest)


def test_who_was_asked_once_is_asked_again_sooner(answer: Answer) -> None:
    waited: list[float] = []

    def read(timeout: float) -> str:
        waited.append(timeout)
        raise rx.TimeoutError

    with pytest.raises(rx.ConnectionError):
        answer(read, 5, lambda: len(waited) == 3)
    assert waited == [0.5, 0.2, 0.2]


class UnknownPrimary:
    """A pool whose sentinels name no primary."""

    def get_master_address(self) -> tuple[str, int]:
        raise MasterNotFoundError("no sentinel answers")


def test_where_no_sentinel_names_a_primary_the_present_one_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read = silent(3)

    def read_response(self: SentinelManagedConnection, timeout: float) -> Any:
        return read(timeout=timeout)

    monkeypatch.setattr(SentinelManagedConnection, "read_response", read_response)
    at: dict[str, Any] = {"host": "127.0.0.1", "port": 6379, "connection_pool": UnknownPrimary()}
    connection = SentinelConnection(**at)  # type: ignore[no-untyped-call]
    assert connection.read_response() == "an answer"
