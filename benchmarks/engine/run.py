"""Run the benchmarks of ``docs/benchmarks.md``."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

from benchmarks.engine import comparison, people, waiting
from benchmarks.engine.comparison import two_calls
from benchmarks.engine.environment import FOREVER, PAYLOAD, Bench, Figure, open_bench
from leaseq import Queue


def run(*, quick: bool = False, announce: Callable[[str], None] = lambda _: None) -> list[Figure]:
    """Run all benchmarks. ``quick`` uses a tenth of the items and cycles, to check that they run; the figures
    then mean nothing."""
    comparisons = comparison.figures(quick, announce)
    with open_bench(quick, announce) as bench:
        return [
            *comparisons,
            *_size_ratios(bench),
            *_clear(bench),
            *_enqueue_rates(bench),
            *people.figures(bench),
            *waiting.figures(bench),
        ]


def _size_ratios(bench: Bench) -> list[Figure]:
    cycles = bench.cycles // 5
    ratios: list[float] = []
    bench.announce(f"{bench.large:,} items against 1,000")
    large = bench.queue("large", bench.large)
    small = Queue(bench.client, "small")
    small.configure(lease_seconds=FOREVER)
    two_calls(large, cycles)
    for _ in range(bench.rounds):
        seconds = 0.0
        for _ in range(cycles // 200):
            small.enqueue_many(PAYLOAD for _ in range(1_000 - small.stats().inbound))
            seconds += two_calls(small, 200)
        ratios.append(two_calls(large, cycles // 200 * 200) / seconds)

    bench.announce("100,000 open leases against 1,000")
    held = bench.large // 10
    few, many = _queue_with_leases(bench, "few", held // 100), _queue_with_leases(bench, "many", held)
    for queue in (few, many):
        queue.enqueue_many(PAYLOAD for _ in range(cycles * (bench.rounds + 1)))
        two_calls(queue, cycles)
    leases = [two_calls(many, cycles) / two_calls(few, cycles) for _ in range(bench.rounds)]
    return [
        Figure("reserve + finish, 1,000,000 inbound against 1,000", median(ratios), "x", 1.2, 1.0),
        Figure("reserve + finish, 100,000 open leases against 1,000", median(leases), "x", 1.2, 1.0),
    ]


def _queue_with_leases(bench: Bench, name: str, count: int) -> Queue:
    queue = Queue(bench.client, name)
    queue.configure(lease_seconds=FOREVER)
    queue.enqueue_many(PAYLOAD for _ in range(count))
    for n in range(count):
        queue.reserve(f"person-{n}")
    return queue


def _clear(bench: Bench) -> list[Figure]:
    bench.announce("clear, with nothing and with much to do")
    bench.flush()
    queue = _queue_with_leases(bench, "held", bench.large // 10)
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
    # The median of each kind, so that the machine's own pauses do not count.
    longest = max(median([bench.longest_call(call) for _ in range(times)]) for times, call in kinds)
    return [
        Figure("clear that finds nothing, 100,000 open leases", idle / 1000, "ms", 0.15, 0.05),
        Figure("longest block of any script", longest / 1000, "ms", 5, 1),
    ]


def _enqueue_rates(bench: Bench) -> list[Figure]:
    bench.announce("bytes and items a second")
    count = bench.large // 10
    rates: list[float] = []
    for _ in range(3):
        bench.flush()
        queue = bench.queue("filled", 1)
        payloads = [PAYLOAD] * count
        before = _data_bytes(bench)
        rates.append(count / bench.core_seconds(lambda: queue.enqueue_many(payloads)))  # noqa: B023 - called immediately
        size = (_data_bytes(bench) - before) / count
    return [
        Figure("bytes of a waiting item, 200-byte payload", size, "bytes", 380, 330),
        Figure("enqueue_many", median(rates), "items/s", 60_000, 120_000, True),
    ]


def _data_bytes(bench: Bench) -> int:
    """The memory of the stored data, without the buffers of the connection that stores it."""
    return int(bench.server.info("memory")["used_memory_dataset"])
