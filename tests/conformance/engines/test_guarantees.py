"""The eleven guarantees on every engine. tests/engine has many more tests of each, on one engine."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable

import pytest

import leaseq
from leaseq import NewItem
from tests.conftest import Clock
from tests.support.engines import Engine

Take = Callable[[str], leaseq.Lease]
MAX_COMMANDS = 1_500  # commands of one script; each takes about a microsecond


def test_guarantee_1_no_item_is_lost_or_duplicated(
    timed_queue: leaseq.Queue, clock: Clock, take: Take
) -> None:
    timed_queue.configure(retry_seconds=5, max_attempts=2)
    timed_queue.enqueue_many(NewItem({}, f"{n:02}", priority=(1, 100, 200)[n % 3]) for n in range(12))
    for n, move in enumerate(
        (timed_queue.abandon, timed_queue.fail, lambda lease: timed_queue.finish(lease, {}), None) * 3
    ):
        lease = take(f"p{n}")
        if move:
            move(lease)
        clock.tick(60)
    clock.tick(301)
    timed_queue.clear()
    ids_in_states = [item.id for state in leaseq.STATES for item in timed_queue.items(state)]
    assert sorted(ids_in_states) == [f"{n:02}" for n in range(12)]


def test_guarantee_2_each_item_is_granted_to_one_person(engine: Engine, queue: leaseq.Queue) -> None:
    queue.enqueue_many(NewItem({}, str(n)) for n in range(60))
    ids: list[str] = []
    start = threading.Barrier(4)

    def work(person: str) -> None:
        own_queue = leaseq.Queue(leaseq.connect(engine.url), queue.name)
        start.wait()
        lease = own_queue.reserve(person)
        while lease is not None:
            ids.append(lease.id)
            lease = own_queue.finish(lease, {}, then_reserve=True).next
        own_queue._client.close()

    threads = [threading.Thread(target=work, args=(f"p{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert Counter(ids) == dict.fromkeys(map(str, range(60)), 1)


def test_guarantee_3_stale_token_is_refused(timed_queue: leaseq.Queue, take: Take, clock: Clock) -> None:
    timed_queue.enqueue({}, id="one")
    old_lease = take("ann")
    clock.tick(301)
    new_lease = take("bob")
    assert new_lease.token > old_lease.token
    for move in (timed_queue.renew, timed_queue.abandon, timed_queue.fail):
        with pytest.raises(leaseq.LeaseLost):
            move(old_lease)
        with pytest.raises(leaseq.LeaseLost):
            move(id="one", token=new_lease.token, person="ann")
    assert timed_queue.mine("bob") == [new_lease]


def test_guarantee_4_items_of_expired_leases_return(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    timed_queue.enqueue_many([{}] * 20)
    for n in range(20):
        take(f"gone {n}")
    assert timed_queue.reserve("ann") is None
    clock.tick(301)
    assert len({take(f"here {n}").id for n in range(20)}) == 20


def test_guarantee_5_items_are_reserved_by_priority_and_age(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    for n in range(6):
        timed_queue.enqueue({}, id=str(n))
        clock.tick(-50)
    timed_queue.enqueue({}, id="urgent", priority=1)
    timed_queue.release(take("ann").id)
    assert [take(f"p{n}").id for n in range(7)] == ["urgent", "0", "1", "2", "3", "4", "5"]


def test_guarantee_6_no_answer_is_lost(timed_queue: leaseq.Queue, take: Take, clock: Clock) -> None:
    timed_queue.enqueue({}, id="one")
    first = take("ann")
    timed_queue.save_draft(first, {"typed": "half"})
    clock.tick(301)
    timed_queue.clear()
    second = take("bob")
    with pytest.raises(leaseq.LeaseLost) as error:
        timed_queue.finish(first, {"by": "ann"})
    assert error.value.answer_kept
    clock.tick(301)
    assert timed_queue.finish(second, {"by": "bob"}).late
    assert [answer.result["by"] for answer in timed_queue.answers(with_late=True)] == ["bob", "ann"]


def test_guarantee_7_repeated_calls_are_idempotent(timed_queue: leaseq.Queue, take: Take) -> None:
    assert [timed_queue.enqueue({}, id="one").added for _ in range(2)] == [True, False]
    lease = take("ann")
    assert take("ann") == lease
    assert [timed_queue.finish(lease, {}).replayed for _ in range(2)] == [False, True]
    counters = timed_queue.stats().counters
    assert (counters["enqueued"], counters["reserved"], counters["finished"]) == (1, 1, 1)


def test_guarantee_8_leases_use_server_time(
    engine: Engine, queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("time.time", lambda: 5.0)
        queue.enqueue({})
        lease = queue.reserve("ann")
    assert lease is not None
    seconds, _ = engine.primaries[0].time()
    assert abs(lease.reserved_at.timestamp() - seconds) < 60


def commands(engine: Engine, call: Callable[[], object]) -> tuple[int, int]:
    """Return how many data commands the primaries ran for a call, and how many scripts."""
    for node in engine.primaries:
        node.config_resetstat()
    call()
    counts = Counter[str]()
    for node in engine.primaries:
        for name, figures in node.info("commandstats").items():
            counts[name.removeprefix("cmdstat_")] += figures["calls"]
    data = sum(n for name, n in counts.items() if name[0] in "hzx" or name in ("time", "del", "exists"))
    return data - counts["hello"], counts["evalsha"]


def test_guarantee_9_commands_per_script_are_bounded(
    engine: Engine, timed_queue: leaseq.Queue, clock: Clock
) -> None:
    timed_queue.configure(max_attempts=100)
    timed_queue.enqueue_many([{}] * 300)
    for n in range(300):
        timed_queue.reserve(f"p{n}")
    clock.tick(301)
    for call in (
        lambda: timed_queue.reserve("ann"),
        lambda: timed_queue.clear(limit=1_000),
        timed_queue.stats,
    ):
        count, scripts = commands(engine, call)
        assert count <= MAX_COMMANDS * scripts
    assert timed_queue.stats().inbound == 299


def test_guarantee_10_cost_does_not_grow_with_the_queue(engine: Engine, timed_queue: leaseq.Queue) -> None:
    def work_once() -> None:
        lease = timed_queue.reserve("ann")
        assert lease is not None
        next_lease = timed_queue.finish(timed_queue.renew(lease), {}, then_reserve=True).next
        assert next_lease is not None
        timed_queue.finish(next_lease, {})
        timed_queue.clear()

    timed_queue.enqueue_many([{}] * 10)
    work_once()
    small_cost = commands(engine, work_once)[0]
    timed_queue.enqueue_many([{}] * 3_000)
    assert abs(commands(engine, work_once)[0] - small_cost) <= 3, (
        "except for an occasional read of the policy"
    )


def test_guarantee_11_invalid_argument_is_named_and_changes_nothing(queue: leaseq.Queue) -> None:
    queue.enqueue({}, id="one")
    before = queue.journal()
    calls: dict[str, Callable[[], object]] = {
        "id": lambda: queue.enqueue({}, id=""),
        "priority": lambda: queue.enqueue({}, priority=-1),
        "person": lambda: queue.reserve("a" * 65),
        "payload": lambda: queue.enqueue("x" * 262_144),
        "limit": lambda: queue.items("dead", limit=0),
    }
    for field, call in calls.items():
        with pytest.raises(leaseq.Invalid) as error:
            call()
        assert (error.value.field, bool(error.value.limit)) == (field, True)
    assert queue.journal() == before
