"""The eleven guarantees, each attacked. Some have files of their own: order in reserve/test_reserve.py, lost
replies in test_lost_replies.py, bounds and cost in test_cost.py, errors in enqueue/test_bad_input.py."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

import leaseq
from leaseq import NewItem
from tests.conftest import Clock, Server
from tests.engine.conftest import Sets

Take = Callable[[str], leaseq.Lease]

# 1. Conservation


def test_conservation_random_calls_lose_no_item(timed_queue: leaseq.Queue, clock: Clock) -> None:
    chance = random.Random(7)
    timed_queue.configure(holds=2, lease_seconds=30, retry_seconds=5, max_attempts=2)
    ids = [f"{n:03}" for n in range(80)]
    timed_queue.enqueue_many(NewItem({}, id=id, priority=chance.choice((1, 100, 999))) for id in ids)
    for _ in range(1_000):
        person = f"p{chance.randrange(6)}"
        lease = timed_queue.reserve(person)
        clock.tick(chance.choice((0, 1, 20)))
        if lease:
            move = chance.choice((timed_queue.finish, timed_queue.abandon, timed_queue.fail, None, None))
            try:
                if move == timed_queue.finish:
                    timed_queue.finish(lease, {})
                elif move:
                    move(lease, "why")
            except leaseq.LeaseLost:
                pass
    stats = timed_queue.stats()
    ids_in_states = [item.id for state in leaseq.STATES for item in timed_queue.items(state, limit=1000)]
    assert sorted(ids_in_states) == ids
    assert stats.inbound + stats.reserved + stats.scheduled + stats.finished + stats.dead == 80
    assert stats.counters["finished"] == stats.finished > 0


# 2. One holder


WORKER = """
import json, sys, leaseq
url, name, worker = sys.argv[1:]
queue, mine = leaseq.Queue(leaseq.connect(url), name), []
while lease := queue.reserve(worker):
    if lease.attempt == 1 and lease.token % 7 == 0:
        queue.abandon(lease)
    else:
        queue.finish(lease, {"by": worker})
        mine.append([lease.id, lease.token])
print(json.dumps(mine))
"""


def test_one_holder_competing_processes_finish_each_item_once(queue: leaseq.Queue, server: Server) -> None:
    queue.enqueue_many(NewItem({}, id=str(n)) for n in range(2_000))
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, server.url, queue.name, f"p{n}"], stdout=subprocess.PIPE
        )
        for n in range(3)
    ]
    pairs = [pair for worker in workers for pair in json.loads(worker.communicate(timeout=60)[0])]
    assert Counter(id for id, _ in pairs) == dict.fromkeys(map(str, range(2_000)), 1)
    assert len({token for _, token in pairs}) == 2_000
    assert queue.stats().counters["finished"] == 2_000


def test_one_holder_threads_of_one_client_get_distinct_items(queue: leaseq.Queue) -> None:
    queue.enqueue_many(NewItem({}, id=str(n)) for n in range(50))
    ids: list[str] = []
    start = threading.Barrier(8)

    def take(person: str) -> None:
        start.wait()
        for n in range(10):
            lease = queue.reserve(f"{person}.{n}")
            if lease:
                ids.append(lease.id)

    threads = [threading.Thread(target=take, args=(f"t{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ids, key=int) == [str(n) for n in range(50)]


def test_one_holder_concurrent_reserves_of_one_person_get_one_item(queue: leaseq.Queue) -> None:
    queue.enqueue_many([{}] * 20)
    leases: list[leaseq.Lease | None] = []
    threads = [threading.Thread(target=lambda: leases.append(queue.reserve("ann"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({lease.id for lease in leases if lease}) == 1
    assert queue.stats().reserved == 1


# 3. Fencing


@pytest.mark.parametrize("move", ["renew", "finish", "abandon", "fail", "save_draft"])
def test_fencing_stale_token_or_wrong_person_is_refused(
    timed_queue: leaseq.Queue, take: Take, clock: Clock, sets: Sets, move: str
) -> None:
    timed_queue.enqueue({}, id="one")
    old_lease = take("ann")
    clock.tick(301)
    new_lease = take("bob")
    arguments: dict[str, Any] = {"finish": {"result": {}}, "save_draft": {"draft": {}}}.get(move, {})
    wrong_pairs = [
        (old_lease.token, "ann"),
        (old_lease.token, "bob"),
        (new_lease.token, "ann"),
        (new_lease.token + 1, "bob"),
    ]
    before = sets()
    for token, person in wrong_pairs:
        with pytest.raises(leaseq.LeaseLost) as error:
            getattr(timed_queue, move)(id="one", token=token, person=person, **arguments)
        assert error.value.item.leases[0].token == new_lease.token
    assert sets() == before
    assert timed_queue.mine("bob") == [new_lease]


def test_fencing_tokens_grow_in_order_of_granting(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.enqueue_many([{}] * 5)
    leases = [take(f"p{n}") for n in range(5)]
    timed_queue.remove(leases[0].id)
    timed_queue.release(leases[1].id)
    last = timed_queue.finish(leases[2], {}, then_reserve=True).next
    assert [lease.token for lease in leases] == [1, 2, 3, 4, 5]
    assert last is not None
    assert last.token == 6


# 4. Return


def test_return_of_many_expired_items_needs_no_clear_job(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.enqueue_many(NewItem({}, id=f"{n:03}") for n in range(200))
    for n in range(200):
        timed_queue.reserve(f"gone {n}")
    clock.tick(301)
    leases = [timed_queue.reserve(f"here {n}") for n in range(200)]
    assert [lease.id for lease in leases if lease] == [f"{n:03}" for n in range(200)]


@pytest.mark.parametrize("step", [0.05, 0.5, 60, 86_400])
def test_return_is_on_time_if_server_clock_steps_back(
    timed_queue: leaseq.Queue, take: Take, clock: Clock, step: float
) -> None:
    """The step hides the time since the queue's last move, which is zero here."""
    timed_queue.configure(lease_seconds=100)
    timed_queue.enqueue({}, id="one")
    take("ann")
    for _ in range(2):
        clock.tick(40)
        timed_queue.enqueue({}, delay=1e6)
        clock.tick(-step)
        timed_queue.enqueue({}, delay=1e6)
    clock.tick(19.8)
    assert timed_queue.reserve("bob") is None
    assert len(timed_queue.mine("ann")) == 1
    clock.tick(0.4)
    assert take("bob").attempt == 2


def nothing_reserved(queue: leaseq.Queue) -> None:
    assert queue.reserve("bob") is None


def nothing_cleared(queue: leaseq.Queue) -> None:
    assert queue.clear().returned == 0


def nothing_renewed(queue: leaseq.Queue) -> None:
    with pytest.raises(leaseq.LeaseLost):
        queue.renew(id="one", token=99, person="bob")


@pytest.mark.parametrize("look", [nothing_reserved, nothing_cleared, nothing_renewed])
def test_return_is_on_time_if_clock_steps_back_in_unchanged_queue(
    timed_queue: leaseq.Queue, take: Take, clock: Clock, look: Callable[[leaseq.Queue], None]
) -> None:
    """A call that changes nothing must not stop the queue's time at the step."""
    timed_queue.configure(lease_seconds=100)
    timed_queue.enqueue({}, id="one")
    take("ann")
    assert timed_queue.reserve("bob") is None
    clock.tick(-3600)
    for _ in range(10):
        look(timed_queue)
        clock.tick(10)
    clock.tick(0.2)
    assert take("bob").attempt == 2


def test_return_is_early_if_clock_steps_forward_and_late_answer_counts(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    timed_queue.enqueue({}, id="one")
    lease = take("ann")
    clock.tick(3600)
    timed_queue.clear()
    clock.tick(-3600)
    assert timed_queue.finish(lease, {}).late
    timed_queue.enqueue({}, id="two")
    take("bob")
    clock.tick(299)
    assert timed_queue.reserve("cyd") is None
    clock.tick(1.1)
    assert take("cyd").id == "two"


# 5. Order


def test_order_is_kept_if_clock_steps_back(timed_queue: leaseq.Queue, clock: Clock, take: Take) -> None:
    for n in range(6):
        timed_queue.enqueue({}, id=str(n))
        clock.tick(-0.03 if n % 2 else -100)
    assert [take(f"p{n}").id for n in range(6)] == [str(n) for n in range(6)]
    times = [event.at for event in timed_queue.journal()]
    assert times == sorted(times)


# 6. No answer lost: finish/, adopt/ and renew/test_drafts.py have the rest.


def test_no_answer_lost_of_three_released_leases_of_one_item(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    timed_queue.enqueue({}, id="one")
    leases = []
    for person in ("ann", "bob", "cyd"):
        leases.append(take(person))
        clock.tick(10)
        timed_queue.release("one")
    current = take("dan")
    for lease in leases:
        with pytest.raises(leaseq.LeaseLost):
            timed_queue.finish(lease, {"by": lease.person})
    timed_queue.finish(current, {"by": "dan"})
    names = [answer.result["by"] for answer in timed_queue.answers(with_late=True)]
    assert sorted(names) == ["ann", "bob", "cyd", "dan"]


# 8. Server time


def test_server_time_is_used_instead_of_client_time(
    queue: leaseq.Queue, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.time", lambda: 5.0)
    queue.enqueue({})
    lease = queue.reserve("ann")
    assert lease is not None
    seconds, _ = server.redis.time()
    assert abs(lease.reserved_at.timestamp() - seconds) < 60
    monkeypatch.setattr("time.time", lambda: 4e9)
    assert queue.clear().returned == 0
    assert queue.mine("ann") == [lease]
