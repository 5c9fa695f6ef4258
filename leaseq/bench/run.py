"""Takes the figures of ``docs/benchmarks.md``."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

from leaseq import Queue
from leaseq.bench import floor, people, waiting
from leaseq.bench.setting import FOREVER, PAYLOAD, RESULT, Bench, Figure, opened
from leaseq.keys import Keys
from leaseq.moves import SCRIPTS
from leaseq.scripts import Bound, pack


def run(*, quick: bool = False, tell: Callable[[str], None] = lambda _: None) -> list[Figure]:
    """All figures. ``quick`` takes a tenth of the items and cycles: a check that it runs, not a figure."""
    with opened(quick, tell) as bench:
        return [
            *_against_the_floor(bench),
            *_flatness(bench),
            *_clear(bench),
            *_filling(bench),
            *people.figures(bench),
            *waiting.figures(bench),
        ]


def _two_calls(queue: Queue, count: int) -> float:
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


def _measured_two_calls(bench: Bench, queue: Queue) -> tuple[float, float]:
    """Seconds for all cycles, and the server's microseconds for one."""
    seconds = 0.0

    def work() -> None:
        nonlocal seconds
        seconds = _two_calls(queue, bench.cycles)

    server = bench.server_microseconds(work, bench.cycles)
    return seconds, server


def _many_at_once(bench: Bench) -> float:
    """The server's microseconds for a reserve + finish while 50 people's calls arrive together.

    This is what a busy queue can do; with one client on the same core, the client's own work pushes the
    server's out of the caches between two calls.
    """
    name = bench.queue("busy", bench.cycles).name
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
        for _ in range(bench.cycles // 50):
            leases = send([pack((*reserve.words, "", person, "request")) for person in people])
            send([finishing(lease, person) for lease, person in zip(leases, people, strict=True)])

    connection.connect()
    try:
        return bench.server_microseconds(work, bench.cycles)
    finally:
        connection.disconnect()


def _against_the_floor(bench: Bench) -> list[Figure]:
    two: list[float] = []
    one: list[float] = []
    both: list[float] = []
    busy: list[float] = []
    for n in range(bench.rounds):
        bench.tell(f"against the floor, {n + 1} of {bench.rounds}")
        bench.empty()
        floor.fill(bench.server, bench.cycles)
        base = floor.cycles(bench.server, bench.cycles)
        queue = bench.queue("two", bench.cycles)
        ours, server = _measured_two_calls(bench, queue)
        two.append(base / ours)
        both.append(server)
        busy.append(_many_at_once(bench))
        one.append(base / _one_call(bench.queue("one", bench.cycles + 1), bench.cycles))
    return [
        Figure("reserve + finish, two calls, against the floor", median(two), "x", 0.60, 0.8, True),
        Figure("finish with then_reserve, against the floor", median(one), "x", 1.0, 1.3, True),
        Figure("server time of a reserve + finish, one client on its core", median(both), "µs", 28, 16),
        Figure("server time of a reserve + finish, 50 people at once", median(busy), "µs", 28, 16),
    ]


def _flatness(bench: Bench) -> list[Figure]:
    cycles = bench.cycles // 5
    ratios: list[float] = []
    bench.tell(f"{bench.large:,} items against 1,000")
    large = bench.queue("large", bench.large)
    small = Queue(bench.client, "small")
    small.configure(lease_seconds=FOREVER)
    _two_calls(large, cycles)
    for _ in range(bench.rounds):
        seconds = 0.0
        for _ in range(cycles // 200):
            small.enqueue_many(PAYLOAD for _ in range(1_000 - small.stats().inbound))
            seconds += _two_calls(small, 200)
        ratios.append(_two_calls(large, cycles // 200 * 200) / seconds)

    bench.tell("100,000 open leases against 1,000")
    held = bench.large // 10
    few, many = _with_leases(bench, "few", held // 100), _with_leases(bench, "many", held)
    for queue in (few, many):
        queue.enqueue_many(PAYLOAD for _ in range(cycles * (bench.rounds + 1)))
        _two_calls(queue, cycles)
    leases = [_two_calls(many, cycles) / _two_calls(few, cycles) for _ in range(bench.rounds)]
    return [
        Figure("reserve + finish, 1,000,000 inbound against 1,000", median(ratios), "x", 1.2, 1.0),
        Figure("reserve + finish, 100,000 open leases against 1,000", median(leases), "x", 1.2, 1.0),
    ]


def _with_leases(bench: Bench, name: str, count: int) -> Queue:
    queue = Queue(bench.client, name)
    queue.configure(lease_seconds=FOREVER)
    queue.enqueue_many(PAYLOAD for _ in range(count))
    for n in range(count):
        queue.reserve(f"person-{n}")
    return queue


def _clear(bench: Bench) -> list[Figure]:
    bench.tell("clear, with nothing and with much to do")
    bench.empty()
    queue = _with_leases(bench, "held", bench.large // 10)
    queue.clear()

    idle = bench.server_microseconds(lambda: [queue.clear() for _ in range(200)], 200)
    queue.configure(lease_seconds=0.1)
    queue.enqueue_many(PAYLOAD for _ in range(2_000))
    for n in range(2_000):
        queue.reserve(f"short-{n}")
    time.sleep(0.2)
    payloads = [PAYLOAD] * 250
    kinds: list[tuple[int, Callable[[], object]]] = [
        (8, lambda: queue.clear(250)),
        (20, lambda: queue.enqueue_many(payloads)),
        (20, lambda: queue.items("inbound", limit=50)),
        (20, lambda: queue.items("reserved", limit=50)),
    ]
    # The median of each kind: the machine's own pauses are not the script's.
    longest = max(median([bench.longest_call(call) for _ in range(times)]) for times, call in kinds)
    return [
        Figure("clear that finds nothing, 100,000 open leases", idle / 1000, "ms", 0.15, 0.05),
        Figure("longest block of any script", longest / 1000, "ms", 5, 1),
    ]


def _filling(bench: Bench) -> list[Figure]:
    bench.tell("bytes and items a second")
    count = bench.large // 10
    rates: list[float] = []
    for _ in range(3):
        bench.empty()
        queue = bench.queue("filled", 1)
        payloads = [PAYLOAD] * count
        before = bench.server.info("memory")["used_memory"]
        started = time.perf_counter()
        queue.enqueue_many(payloads)
        rates.append(count / (time.perf_counter() - started))
        size = (bench.server.info("memory")["used_memory"] - before) / count
    return [
        Figure("bytes of a waiting item, 200-byte payload", size, "bytes", 380, 330),
        Figure("enqueue_many", median(rates), "items/s", 60_000, 120_000, True),
    ]
