"""A backup made during work: each item is consistent, and no answer acknowledged before the backup is
missing."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

import leaseq
from leaseq import NewItem, backup
from leaseq.engine.keys import Keys
from leaseq.engine.replies import Reply
from tests.backup.conftest import MakeBackup
from tests.conftest import Clock, Server
from tests.engine import server_contents
from tests.support.leases import take
from tests.support.script_calls import replace_calls
from tests.support.waiting import eventually

ITEMS = 1_500
RunAfterState = Callable[[Callable[[], object]], None]


def members_of_sets(client: leaseq.Client, name: str) -> list[bytes]:
    """Return the members of each state's set and each shelf, with repetitions."""
    parts = ("inbound", "reserved", "scheduled", "finished", "dead")
    members: list[bytes] = []
    for key, value in server_contents.everything(client.redis, name).items():  # type: ignore[arg-type]
        part = key.decode().removeprefix(Keys(name).ledger.removesuffix("ledger"))
        if part.partition(":")[0] in parts:
            assert isinstance(value, list)
            members += [member for member, _ in value]
    return members


def test_items_larger_than_reply_limit_are_all_backed_up(
    queue: leaseq.Queue, make_backup: MakeBackup, other: leaseq.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaseq.backup.queue_lines._MAX_ITEMS", 2)
    monkeypatch.setattr("leaseq.backup.queue_lines._LARGE_REPLY", 1)
    queue.enqueue_many({"text": "x" * 100} for _ in range(30))
    assert backup.restore(other, make_backup()).items == 30


def test_steps_grow_back_gradually_after_large_items(
    queue: leaseq.Queue, make_backup: MakeBackup, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server reads a step's records at once, so after a small step the next must not be a full one."""
    counts = list[int]()

    def note_count(run: Callable[..., Reply], cursor: str, count: int, *ids: str) -> Reply:
        counts.append(count)
        return run(cursor, count, *ids)

    replace_calls(monkeypatch, "dump_items", note_count)
    monkeypatch.setattr("leaseq.backup.queue_lines._MAX_ITEMS", 16)
    monkeypatch.setattr("leaseq.backup.queue_lines._LARGE_REPLY", 2_000)
    queue.enqueue_many({"text": "x" * 500} for _ in range(100))
    make_backup()
    steps = list(filter(None, counts))
    assert (steps[0], min(steps) < 8) == (16, True)
    assert all(after <= 2 * before for before, after in pairwise(steps))


def test_backup_during_work_is_consistent(
    server: Server, queue: leaseq.Queue, make_backup: MakeBackup, other: leaseq.Client
) -> None:
    queue.configure(answers=2, lease_seconds=600)
    queue.enqueue_many(NewItem({"n": n}, id=f"{n}") for n in range(ITEMS))
    is_over, given_answers = threading.Event(), list[tuple[str, str]]()

    def work(person: str) -> None:
        own_queue = leaseq.Queue(server.client, queue.name)
        lease = own_queue.reserve(person)
        while lease and not is_over.is_set():
            id = lease.id
            lease = own_queue.finish(lease, {"by": person}, then_reserve=True).next
            given_answers.append((person, id))

    with ThreadPoolExecutor(3) as pool:
        futures = [pool.submit(work, person) for person in ("ann", "bob", "cyd")]
        eventually(lambda: len(given_answers) > 200)
        before = list(given_answers)
        file = make_backup()
        is_over.set()
        for future in futures:
            future.result()
    assert len(given_answers) > len(before) + 10, "work went on during the backup"
    result = backup.restore(other, file)
    target_queue = leaseq.Queue(other, queue.name)
    answers = {(answer.person, answer.id) for answer in target_queue.answers()}
    assert set(before) <= answers <= set(given_answers)
    assert result.held == target_queue.stats().reserved
    members = members_of_sets(other, queue.name)
    assert len(set(members)) == len(members), "each assignment is in exactly one state"
    assert set(members) == set(other.redis.hkeys(Keys(queue.name).items))
    assert {member.partition(b"\a")[0] for member in members} == {b"%d" % n for n in range(ITEMS)}


@pytest.fixture
def run_after_state(monkeypatch: pytest.MonkeyPatch) -> RunAfterState:
    """Call a function after the backup has read a queue's state and before it reads the items."""

    def schedule(action: Callable[[], object]) -> None:
        def dump(run: Callable[..., Reply], *counters: str) -> Reply:
            reply = run(*counters)
            action()
            return reply

        replace_calls(monkeypatch, "dump", dump)

    return schedule


def test_item_order_is_restored_if_target_clock_is_behind(
    timed_queue: leaseq.Queue,
    clock: Clock,
    make_backup: MakeBackup,
    other: leaseq.Client,
    run_after_state: RunAfterState,
) -> None:
    timed_queue.enqueue({}, id="first")

    def enqueue_second() -> None:
        clock.tick(60)
        timed_queue.enqueue({}, id="second")

    run_after_state(enqueue_second)
    file = make_backup()
    clock.tick(-50)
    backup.restore(other, file, clock=clock)
    target_queue = leaseq.Queue(other, timed_queue.name, clock=clock)
    target_queue.enqueue({}, id="third")
    assert [item.id for item in target_queue.items("inbound")] == ["first", "second", "third"]


def test_second_assignment_reserved_during_backup_is_restored(
    timed_queue: leaseq.Queue,
    clock: Clock,
    make_backup: MakeBackup,
    other: leaseq.Client,
    run_after_state: RunAfterState,
) -> None:
    timed_queue.enqueue({}, id="one")

    def reserve_twice() -> None:
        timed_queue.configure(answers=2)
        take(timed_queue, "ann")
        take(timed_queue, "bob")

    run_after_state(reserve_twice)
    backup.restore(other, make_backup(), clock=clock)
    target_queue = leaseq.Queue(other, timed_queue.name, clock=clock)
    assert [lease.person for lease in target_queue.get("one").leases] == ["ann", "bob"]
    assert target_queue.reserve("ann") == target_queue.mine("ann")[0]
