"""Reserve and finish compared with the baseline, in calls per second and in server time.

Memory layout is fixed when a process starts, and changes a ratio by up to a tenth, so each round has a client
process and a server of its own. The speed of a shared machine changes within seconds, so a round alternates
short turns of the baseline and of leaseq, and the median turn counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from statistics import median
from typing import Any, NamedTuple

from benchmarks.engine import floor
from benchmarks.engine.environment import RESULT, Bench, Figure, open_bench, require_lease
from leaseq import Lease, Queue
from leaseq.engine.keys import Keys
from leaseq.engine.scripts import SCRIPTS, BoundScript, pack

_ROUNDS = 9
_TURN = 250  # cycles
_PEOPLE = 50

FLOOR_MICROSECONDS = 4.7
"""The server time of the baseline's reserve on the machine where the limits of server time were set (limit
28 µs, aim 16). On other machines they are scaled: docs/decisions/0015-server-time.md."""


class _Turn(NamedTuple):
    two_calls: float  # reserve + finish in two calls: cycles per cycle of the floor
    one_call: float  # the same in one call
    floor: float  # the floor's reserve: the server's microseconds
    leaseq: float  # a reserve + finish: the server's microseconds
    busy_floor: float  # the two above, with 50 people at the same time
    busy_leaseq: float


def figures(quick: bool, announce: Callable[[str], None]) -> list[Figure]:
    turns: list[_Turn] = []
    for n in range(_ROUNDS):
        announce(f"against the floor, {n + 1} of {_ROUNDS}")
        with ProcessPoolExecutor(1, get_context("spawn")) as executor:
            turns += executor.submit(_round, quick).result()
    name_pattern = "server time of a reserve + finish, {}, against the floor's reserve"
    return [
        Figure(
            "reserve + finish, two calls, against the floor",
            median(turn.two_calls for turn in turns),
            "x",
            0.6,
            0.8,
            True,
        ),
        Figure(
            "finish with then_reserve, against the floor",
            median(turn.one_call for turn in turns),
            "x",
            1.0,
            1.3,
            True,
        ),
        _server_time_ratio(name_pattern.format("one client"), [(turn.leaseq, turn.floor) for turn in turns]),
        _server_time_ratio(
            name_pattern.format(f"{_PEOPLE} people at once"),
            [(turn.busy_leaseq, turn.busy_floor) for turn in turns],
        ),
    ]


def _server_time_ratio(name: str, pairs: list[tuple[float, float]]) -> Figure:
    ours, base = (median(values) for values in zip(*pairs, strict=True))
    return Figure(
        name,
        median(ours / floor for ours, floor in pairs),
        "x",
        28 / FLOOR_MICROSECONDS,
        16 / FLOOR_MICROSECONDS,
        detail=f"{ours:.1f} µs to {base:.1f} µs",
    )


def _round(quick: bool) -> list[_Turn]:
    with open_bench(quick, lambda _: None) as bench:
        return list(_turns(bench, bench.cycles // 2 // _TURN))


def _turns(bench: Bench, count: int) -> Iterator[_Turn]:
    cycles = (count + 1) * _TURN
    bench.flush()
    floor.fill(bench.server, 2 * cycles)
    two = bench.add_queue("two", cycles)
    call_batch = _CallBatch(bench, bench.add_queue("busy", cycles))
    chained_worker = _ChainedWorker(bench.add_queue("one", cycles + 1))
    for n in range(count + 1):
        base, base_server = _measure_turn(bench, partial(floor.cycles, bench.server))
        ours, ours_server = _measure_turn(bench, partial(two_calls, two))
        chained = chained_worker.finish_and_next(_TURN)
        busy_floor = bench.server_microseconds(partial(call_batch.run_floor, _TURN), _TURN)
        busy = bench.server_microseconds(partial(call_batch.run_leaseq, _TURN), _TURN)
        if n:  # the first turn is a warm-up
            yield _Turn(base / ours, base / chained, base_server, ours_server, busy_floor, busy)


def _measure_turn(bench: Bench, work: Callable[[int], float]) -> tuple[float, float]:
    """Run one turn: the seconds that ``work`` reports, and the server's microseconds per cycle."""
    seconds: list[float] = []
    server = bench.server_microseconds(lambda: seconds.append(work(_TURN)), _TURN)
    return seconds[0], server


def two_calls(queue: Queue, count: int) -> float:
    """Seconds for this many reserves, each followed by its finish."""
    started = time.perf_counter()
    for _ in range(count):
        lease = queue.reserve("alice")
        queue.finish(require_lease(lease), RESULT)
    return time.perf_counter() - started


class _ChainedWorker:
    """A worker whose finish reserves the next item."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self._lease: Lease | None = queue.reserve("alice")

    def finish_and_next(self, count: int) -> float:
        """Seconds for this many finishes that reserve the next item."""
        lease = self._lease
        started = time.perf_counter()
        for _ in range(count):
            lease = self._queue.finish(require_lease(lease), RESULT, then_reserve=True).next
        seconds = time.perf_counter() - started
        self._lease = lease
        return seconds


class _CallBatch:
    """The calls of fifty people, sent together as on a busy queue. With one client on the same core, the
    client's own work would evict the server's data from the caches between two calls."""

    def __init__(self, bench: Bench, queue: Queue) -> None:
        self._reserve, self._finish = (
            BoundScript(SCRIPTS[move], Keys(queue.name)) for move in ("reserve", "finish")
        )
        self._floor = floor.command(bench.server)
        self._people = [f"person-{n}" for n in range(_PEOPLE)]
        self._connection: Any = bench.server.connection_pool.make_connection()

    def run_leaseq(self, count: int) -> None:
        for _ in range(count // _PEOPLE):
            leases = self._send((*self._reserve.words, "", person, "request") for person in self._people)
            self._send(map(self._finish_command, leases, self._people))

    def run_floor(self, count: int) -> None:
        for _ in range(count // _PEOPLE):
            self._send((*self._floor, str(n)) for n in range(_PEOPLE))

    def _finish_command(self, lease: list[bytes], person: str) -> tuple[str, ...]:
        token = lease[2].split(b"\t")[0].decode()
        return (*self._finish.words, "", lease[1].decode(), token, person, "{}", "-")

    def _send(self, commands: Iterable[tuple[str, ...]]) -> list[Any]:
        packed = [pack(words) for words in commands]
        self._connection.send_packed_command((b"".join(packed),))
        return [self._connection.read_response() for _ in packed]
