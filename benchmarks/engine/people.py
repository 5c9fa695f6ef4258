"""The cost of the rules for people, each as a ratio to the same call without the rule."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

from benchmarks.engine.environment import PAYLOAD, RESULT, Bench, Figure, require_lease
from leaseq import Lease, NewItem, Queue

_SAMPLES = 200


def figures(bench: Bench) -> list[Figure]:
    return [_skips(bench), _skills(bench), _answers(bench)]


def _reserve_time(bench: Bench, queue: Queue, reserve: Callable[[], Lease | None]) -> float:
    """The server's microseconds for a reserve. Each item is then finished, which is not timed."""
    microseconds: list[float] = []
    for _ in range(_SAMPLES):
        leases: list[Lease | None] = []
        microseconds.append(bench.longest_call(lambda leases=leases: leases.append(reserve())))  # type: ignore[misc]
        queue.finish(require_lease(leases[0]), RESULT)
    return median(microseconds)


def _skips(bench: Bench) -> Figure:
    """A reserve by a person who passed over 100,000 items, against one by a new person."""
    count = bench.large // 10
    bench.announce(f"a person who passed over {count:,} items")
    queue = bench.queue("skips", count + 2 * _SAMPLES + 10)
    for _ in range(count):
        queue.abandon(require_lease(queue.reserve("skipper")), again=False)
    newcomers = iter(range(_SAMPLES))
    skipper = _reserve_time(bench, queue, lambda: queue.reserve("skipper"))
    newcomer = _reserve_time(bench, queue, lambda: queue.reserve(f"newcomer-{next(newcomers)}"))
    return Figure(f"reserve after {count:,} skips, against a newcomer's", skipper / newcomer, "x", 2.0, 1.5)


def _skills(bench: Bench) -> Figure:
    """A reserve by a person with three skills, with a hundred sets of skills waiting, against a queue without
    skills."""
    bench.announce("a hundred sets of skills")
    queue = bench.queue("skilled", 1)
    each = 2 * _SAMPLES // 100 + 5
    names = [f"skill-{n:02}" for n in range(100)]
    queue.enqueue_many(NewItem(PAYLOAD, requires=(name,)) for name in names for _ in range(each * 40))
    own_skills = names[10:13]
    skilled = _reserve_time(bench, queue, lambda: queue.reserve("polyglot", skills=own_skills))
    plain = bench.queue("plain", 3 * _SAMPLES)
    base = _reserve_time(bench, plain, lambda: plain.reserve("anybody"))
    return Figure("reserve with 100 skill rows in use, against none", skilled / base, "x", 5.0, 2.0)


def _answers(bench: Bench) -> Figure:
    """The server's time for a reserve + finish with three answers an item, against one answer an item."""
    bench.announce("three answers an item")
    count = bench.cycles // 10

    def work(queue: Queue) -> float:
        people = [f"person-{n}" for n in range(5)]

        def cycle() -> None:
            for n in range(count):
                queue.finish(require_lease(queue.reserve(people[n % 5])), RESULT)

        return bench.server_microseconds(cycle, count)

    single = work(bench.queue("one-answer", count))
    queue = bench.queue("three-answers", count // 2)
    queue.configure(answers=3)
    return Figure(
        "reserve + finish with three answers an item, against one", work(queue) / single, "x", 4.0, 2.0
    )
