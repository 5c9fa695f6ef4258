"""A reserve and a finish against the floor, and the server's own time for them.

Where things lie in memory is settled when a process starts, and moves a ratio by a tenth: each round has a
client's process and a server of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from statistics import median
from typing import Any, NamedTuple

from leaseq import Queue
from leaseq.bench import floor
from leaseq.bench.setting import RESULT, Bench, Figure, opened
from leaseq.keys import Keys
from leaseq.moves import SCRIPTS
from leaseq.scripts import Bound, pack

_ROUNDS = 9


class _Round(NamedTuple):
    two: float  # reserve + finish in two calls: cycles for each of the floor's
    one: float  # in one
    alone: float  # the server's microseconds with one client
    busy: float  # and with 50 people at once


def figures(quick: bool, tell: Callable[[str], None]) -> list[Figure]:
    rounds: list[_Round] = []
    for n in range(_ROUNDS):
        tell(f"against the floor, {n + 1} of {_ROUNDS}")
        with ProcessPoolExecutor(1, get_context("spawn")) as fresh:
            rounds.append(fresh.submit(_round, quick).result())
    two, one, alone, busy = (median(values) for values in zip(*rounds, strict=True))
    return [
        Figure("reserve + finish, two calls, against the floor", two, "x", 0.60, 0.8, True),
        Figure("finish with then_reserve, against the floor", one, "x", 1.0, 1.3, True),
        Figure("server time of a reserve + finish, one client on its core", alone, "µs", 28, 16),
        Figure("server time of a reserve + finish, 50 people at once", busy, "µs", 28, 16),
    ]


def _round(quick: bool) -> _Round:
    with opened(quick, lambda _: None) as bench:
        _turn(bench, bench.cycles // 20)  # to be warm
        return _turn(bench, bench.cycles // 2)


def _turn(bench: Bench, cycles: int) -> _Round:
    bench.empty()
    floor.fill(bench.server, cycles)
    base = floor.cycles(bench.server, cycles)
    ours, alone = _measured_two_calls(bench, cycles)
    busy = _many_at_once(bench, cycles)
    one = _one_call(bench.queue("one", cycles + 1), cycles)
    return _Round(base / ours, base / one, alone, busy)


def two_calls(queue: Queue, count: int) -> float:
    started = time.perf_counter()
    for _ in range(count):
        lease = queue.reserve("alice")
        queue.finish(lease, RESULT)
    return time.perf_counter() - started


def _one_call(queue: Queue, count: int) -> float:
    lease = queue.reserve("alice")
    started = time.perf_counter()
    for _ in range(count):
        lease = queue.finish(lease, RESULT, then_reserve=True).next
    return time.perf_counter() - started


def _measured_two_calls(bench: Bench, cycles: int) -> tuple[float, float]:
    """Seconds for all cycles, and the server's microseconds for one."""
    queue, seconds = bench.queue("two", cycles), 0.0

    def work() -> None:
        nonlocal seconds
        seconds = two_calls(queue, cycles)

    server = bench.server_microseconds(work, cycles)
    return seconds, server


def _many_at_once(bench: Bench, cycles: int) -> float:
    """The server's microseconds for a reserve + finish while 50 people's calls arrive together.

    This is what a busy queue can do; with one client on the same core, the client's own work pushes the
    server's out of the caches between two calls.
    """
    name = bench.queue("busy", cycles).name
    reserve, finish = (Bound(SCRIPTS[move], Keys(name)) for move in ("reserve", "finish"))
    connection: Any = bench.server.connection_pool.make_connection()

    def send(commands: list[bytes]) -> list[Any]:
        connection.send_packed_command((b"".join(commands),))
        return [connection.read_response() for _ in commands]

    def finishing(lease: list[bytes], person: str) -> bytes:
        token = lease[2].split(b"\t")[0].decode()
        return pack((*finish.words, "", lease[1].decode(), token, person, "{}", "-"))

    def work() -> None:
        people = [f"person-{n}" for n in range(50)]
        for _ in range(cycles // 50):
            leases = send([pack((*reserve.words, "", person, "request")) for person in people])
            send([finishing(lease, person) for lease, person in zip(leases, people, strict=True)])

    connection.connect()
    try:
        return bench.server_microseconds(work, cycles)
    finally:
        connection.disconnect()
