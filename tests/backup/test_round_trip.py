"""A restored queue equals the original, and people can work on it."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

import leaseq
from leaseq import NewItem, backup
from leaseq.engine import codec
from leaseq.engine.keys import Keys
from tests.backup.conftest import MakeBackup
from tests.conftest import Clock, Server
from tests.engine import server_contents
from tests.support.leases import not_none, take

PEOPLE = ("ann", "bob", "cyd", "dan")
SKILLS = ("fr", "legal")
FORM, OTHER_FORM = ({"ask": {"type": "object", "title": title}} for title in ("One", "An other"))
STATES: tuple[leaseq.State, ...] = ("inbound", "reserved", "scheduled", "finished", "dead")


def reopen(queue: leaseq.Queue, lease: leaseq.Lease) -> None:
    queue.finish(lease, "wrong")
    queue.reopen(lease.id, lease.token, to="eve")


def take_over(queue: leaseq.Queue, clock: Clock, lease: leaseq.Lease) -> None:
    """Let the lease expire and somebody else finish the item; then send the late answer."""
    clock.tick(61)
    if other := queue.reserve("zoe", skills=SKILLS):
        queue.finish(other, {"by": "zoe"})
    queue.finish(lease, {"late": True})


def act_on_lease(queue: leaseq.Queue, clock: Clock, lease: leaseq.Lease, chance: random.Random) -> None:
    """Call one of the operations that a holder, or a manager, can do with a leased item."""
    calls: list[Callable[[], object]] = [
        lambda: queue.finish(lease, {"at": clock()}),
        lambda: queue.finish(lease, {"at": clock()}),
        lambda: queue.abandon(lease, again=chance.random() < 0.5, reason="later"),
        lambda: queue.fail(lease, "torn\tpage", retry=chance.random() < 0.5),
        lambda: queue.save_draft(lease, {"half": clock()}),
        lambda: queue.renew(lease),
        lambda: queue.release(lease.id),
        lambda: reopen(queue, lease),
        lambda: take_over(queue, clock, lease),
    ]
    with suppress(leaseq.LeaseqError):
        chance.choice(calls)()


def work_at_random(queue: leaseq.Queue, clock: Clock, chance: random.Random, steps: int) -> None:
    """Call random operations on items."""
    leases: list[leaseq.Lease] = []
    for step in range(steps):
        clock.tick(chance.choice((0.001, 1, 5)))
        draw = chance.randrange(16)
        if draw < 4:
            queue.enqueue(
                {"step": step, "text": "Grüße\n"},
                priority=chance.choice((1, 100, 200)),
                requires=chance.choice(((), (), ("fr",), SKILLS)),
                delay=chance.choice((0, 0, 30)),
                due=chance.choice((None, codec.to_datetime(clock() + chance.choice((5, 500)) * 10**6))),
                max_attempts=chance.choice((None, 2)),
                form=chance.choice((None, FORM, OTHER_FORM)),
                expires=chance.choice((None, 10_000)),
            )
        elif draw < 9:
            lease = queue.reserve(chance.choice(PEOPLE), skills=SKILLS)
            leases += [lease] if lease else []
        elif leases:
            act_on_lease(queue, clock, leases.pop(chance.randrange(len(leases))), chance)
    for item in queue.items("finished", limit=3):
        queue.decide(
            item.id, "ä\n", how="reviewed", by="eve", tokens=[answer.token for answer in item.answers]
        )
    for item in queue.items("inbound", limit=2):
        with suppress(leaseq.Invalid):
            queue.assign(item.id, "eve")


def queue_view(queue: leaseq.Queue) -> dict[str, object]:
    """Return everything that the library reports about a queue."""
    items = {state: list(queue.find(state, limit=500).items) for state in STATES}
    stats = queue.stats()
    return {
        "policy": queue.policy,
        "items": items,
        "due": queue.by_due().items,
        "late": sorted(item.id for item in queue.late_items()),
        "answers": list(queue.answers(with_late=True)),
        "stats": replace(stats, answer_seconds=None),  # begins again
        "mine": {person: queue.mine(person) for person in (*PEOPLE, "eve")},
        "why": {person: queue.why_nothing(person, skills=("fr",)).reason for person in PEOPLE},
        "stopped": queue.stopped(),
        "decisions": list(queue.decisions()),
        "schema": queue.schema,
    }


# Not in a backup; `rows` may list rows that are empty.
LEFT_OUT = (
    "journal",
    "cursors",
    "passed",
    "later:",
    "waiters",
    "waiter_times",
    "seen:",
    "rows",
    "answer_times",
)


def stored_contents(redis: Any, name: str) -> dict[str, Any]:
    contents: dict[str, Any] = {}
    for key, value in server_contents.everything(redis, name).items():
        part = key.decode().removeprefix(Keys(name).ledger.removesuffix("ledger"))
        if not part.startswith(LEFT_OUT):
            contents[part] = value
    ledger = {
        field: value
        for field, value in contents["ledger"].items()
        if field not in (b"status", b"n:reserved", b"tidy", b"retention", b"woken", b"rules")
    }
    for field, value in ledger.items():
        if field.startswith(b"p:"):  # without the id of the latest reserve request
            ledger[field] = b"\t" + value.partition(b"\t")[2]
    contents["ledger"] = {field: value for field, value in ledger.items() if value != b"\t"}
    return contents


@pytest.mark.parametrize("seed", range(4))
def test_restored_queue_equals_original(
    server: Server,
    timed_queue: leaseq.Queue,
    clock: Clock,
    make_backup: MakeBackup,
    other: leaseq.Client,
    seed: int,
) -> None:
    chance = random.Random(seed)
    timed_queue.configure(
        answers=chance.choice((1, 3)),
        holds=5,
        lease_seconds=60,
        max_attempts=2,
        keep_finished_count=1_000,
        title="Über",
        alerts=("waiting>5",),
        form={"ask": {"type": "object"}} if seed % 2 else None,
    )
    work_at_random(timed_queue, clock, chance, 250)
    if seed % 2:
        timed_queue.pause("lunch\nand more", by="meg")
        timed_queue.stop(PEOPLE[0], "too fast", by="meg")  # may hold items
        timed_queue.stop("gone b")
    before = queue_view(timed_queue)
    result = backup.restore(other, make_backup(), clock=clock)
    target_queue = leaseq.Queue(other, timed_queue.name, clock=clock)
    assert queue_view(target_queue) == before
    assert (result.queues, result.held) == (1, target_queue.stats().reserved)
    assert stored_contents(other.redis, timed_queue.name) == stored_contents(server.redis, timed_queue.name)


def test_restored_lease_can_be_finished_and_new_tokens_are_higher(
    timed_queue: leaseq.Queue, clock: Clock, make_backup: MakeBackup, other: leaseq.Client
) -> None:
    timed_queue.configure(holds=2, lease_seconds=20_000)
    timed_queue.enqueue_many(NewItem({}, id=f"{n}") for n in range(5))
    first, second = take(timed_queue, "ann"), take(timed_queue, "ann")
    file = make_backup()
    later_lease = take(timed_queue, "bob")  # the original server is still in use
    clock.tick(7_200)
    backup.restore(other, file, clock=clock)
    target_queue = leaseq.Queue(other, timed_queue.name, clock=clock)
    assert target_queue.mine("ann") == [first, second]
    assert not target_queue.finish(first, {"a": 1}).late
    new_lease = take(target_queue, "cyd")
    assert new_lease.id == later_lease.id
    assert new_lease.token > later_lease.token + 7_200_000_000
    counters = target_queue.stats().counters
    assert (counters["reserved"], counters["finished"], counters["enqueued"]) == (3, 1, 5)
    clock.tick(12_801)
    assert target_queue.clear().returned == 1, "a lease that nobody finishes expires"
    assert target_queue.mine("ann") == []


def test_draft_and_abandoned_item_are_restored(
    timed_queue: leaseq.Queue, clock: Clock, make_backup: MakeBackup, other: leaseq.Client
) -> None:
    timed_queue.enqueue_many(NewItem({}, id=f"{n}") for n in range(2))
    lease = take(timed_queue, "ann")
    timed_queue.save_draft(lease, {"half": 1})
    timed_queue.abandon(lease, again=True)
    backup.restore(other, make_backup(), clock=clock)
    target_queue = leaseq.Queue(other, timed_queue.name, clock=clock)
    assert [take(target_queue, "ann").id, target_queue.stats().inbound] == ["1", 1]
    target_queue.finish(target_queue.mine("ann")[0], {})
    assert take(target_queue, "ann").draft == {"half": 1}


def test_partly_answered_item_of_paused_queue_is_restored(
    timed_queue: leaseq.Queue, clock: Clock, make_backup: MakeBackup, other: leaseq.Client
) -> None:
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="one")
    timed_queue.finish(take(timed_queue, "ann"), {"by": "ann"})
    timed_queue.pause("lunch")
    backup.restore(other, make_backup(), clock=clock)
    target_queue = leaseq.Queue(other, timed_queue.name, clock=clock)
    target_queue.resume()
    assert target_queue.reserve("ann") is None
    target_queue.finish(take(target_queue, "bob"), {"by": "bob"})
    assert [answer.result["by"] for answer in target_queue.get("one").answers] == ["ann", "bob"]


def test_restored_scheduled_item_comes_due(
    timed_queue: leaseq.Queue, clock: Clock, make_backup: MakeBackup, other: leaseq.Client
) -> None:
    timed_queue.enqueue({}, id="one", delay=60)
    backup.restore(other, make_backup(), clock=clock)
    target_queue = leaseq.Queue(other, timed_queue.name, clock=clock)
    assert target_queue.reserve("ann") is None
    clock.tick(61)
    assert take(target_queue, "ann").id == "one"


@pytest.mark.parametrize(
    "keep",
    [{"keep_finished_seconds": 60}, {"keep_finished_count": 0}, {"keep_dead_seconds": 60}],
    ids=lambda keep: next(iter(keep)),
)
def test_retention_limits_apply_after_restore(
    timed_queue: leaseq.Queue,
    clock: Clock,
    make_backup: MakeBackup,
    other: leaseq.Client,
    keep: leaseq.PolicyChanges,
) -> None:
    timed_queue.configure(**keep)
    timed_queue.enqueue_many([NewItem({}, max_attempts=1)] * 2)
    timed_queue.finish(take(timed_queue, "ann"), {})
    timed_queue.fail(take(timed_queue, "ann"), "no")
    backup.restore(other, make_backup(), clock=clock)
    clock.tick(61)
    assert leaseq.Queue(other, timed_queue.name, clock=clock).clear().forgotten == 1


def test_tokens_keep_rising_if_target_clock_is_behind(
    timed_queue: leaseq.Queue, clock: Clock, make_backup: MakeBackup, other: leaseq.Client
) -> None:
    timed_queue.enqueue_many([{}, {}])
    lease = take(timed_queue, "ann")
    file = make_backup()
    clock.tick(-600)
    backup.restore(other, file, clock=clock)
    target_queue = leaseq.Queue(other, timed_queue.name, clock=clock)
    new_lease = take(target_queue, "bob")
    assert new_lease.token > lease.token
    assert new_lease.reserved_at > lease.reserved_at
    assert not target_queue.finish(lease, {}).late


def test_repeated_request_id_adds_nothing_after_restore(
    timed_queue: leaseq.Queue, clock: Clock, make_backup: MakeBackup, other: leaseq.Client
) -> None:
    timed_queue.enqueue_many([{"n": 1}, {"n": 2}], request_id="monday")
    backup.restore(other, make_backup(), clock=clock)
    target_queue = leaseq.Queue(other, timed_queue.name, clock=clock)
    target_queue.enqueue_many([{"n": 1}, {"n": 2}], request_id="monday")
    assert target_queue.stats().inbound == 2


def test_tokens_after_restore_exceed_those_of_deleted_queue(
    timed_queue: leaseq.Queue, clock: Clock, make_backup: MakeBackup, other: leaseq.Client
) -> None:
    target_queue = leaseq.Queue(other, timed_queue.name, clock=clock)
    target_queue.raise_tokens(2**51)
    target_queue.delete()
    timed_queue.enqueue({})
    backup.restore(other, make_backup(), clock=clock)
    assert take(target_queue, "ann").token == 2**51 + 1
    assert other.redis.exists(Keys(timed_queue.name).deleted) == 0


def test_large_items_are_restored(
    timed_queue: leaseq.Queue, clock: Clock, make_backup: MakeBackup, other: leaseq.Client
) -> None:
    timed_queue.enqueue_many(NewItem("x" * 200_000, id=f"{n}") for n in range(20))
    backup.restore(other, make_backup(), clock=clock)
    assert leaseq.Queue(other, timed_queue.name, clock=clock).stats().inbound == 20
    assert other.redis.hlen(Keys(timed_queue.name).items) == 20


def test_empty_server_is_backed_up_and_restored(make_backup: MakeBackup, other: leaseq.Client) -> None:
    file = make_backup()
    assert backup.verify(io.BytesIO(file.getvalue())).queues == []
    assert backup.restore(other, file).queues == 0
    assert not_none(other.redis.dbsize()) == 0


def test_restored_queue_with_plain_items_keeps_its_fast_scripts(
    queue: leaseq.Queue, make_backup: MakeBackup, other: leaseq.Client
) -> None:
    """A queue that is marked as mixed reads more for each reserve."""
    queue.enqueue_many([{}, {}])
    take(queue, "ann")
    backup.restore(other, make_backup())
    assert not other.redis.hexists(Keys(queue.name).ledger, "mixed")


def add_all_kinds(queue: leaseq.Queue, clock: Clock) -> None:
    """Items with forms and deadlines of their own: waiting, scheduled, held, late, dead, finished."""
    queue.configure(answers=2, holds=9, lease_seconds=60, max_attempts=1)
    for id in ("held", "late", "failed"):
        queue.enqueue(id, id=id, form=FORM, expires=1_000 if id == "failed" else 10, to="ann")
    leases = {lease.id: lease for lease in (take(queue, "ann") for _ in range(3))}
    queue.fail(leases["failed"], "torn")
    for id in ("waits", "cancelled", "over", "answered"):
        queue.enqueue(id, id=id, form=OTHER_FORM, expires=10 if id == "over" else 1_000)
    queue.enqueue("later", id="later", delay=500, form=FORM, expires=900)
    queue._commands.run("ask", "waits")
    queue.finish(take(queue, "bob"), {"first": True})
    queue.cancel("cancelled", "sold to somebody")
    clock.tick(11)
    queue.clear()
    queue.finish(leases["late"], {})


def test_own_forms_deadlines_and_why_items_ended_are_restored(
    server: Server, timed_queue: leaseq.Queue, clock: Clock, make_backup: MakeBackup, other: leaseq.Client
) -> None:
    add_all_kinds(timed_queue, clock)
    before, file = queue_view(timed_queue), make_backup()
    assert {item.died_of for item in timed_queue.items("dead")} == {"cancelled", "expired", "failed"}
    backup.restore(other, file, clock=clock)
    target = leaseq.Queue(other, timed_queue.name, clock=clock)
    assert queue_view(target) == before
    assert target.get("waits").asked_by == ""
    assert stored_contents(other.redis, target.name) == stored_contents(server.redis, target.name)
    ids = {item.id for state in STATES for item in target.items(state)}
    assert len(ids) == 8
    target.release("held")
    assert target.get("held").died_of == "expired", "nobody needs it since its deadline"
    clock.tick(1_000)
    target.clear()
    assert {id: target.get(id).died_of for id in ("waits", "later")} == dict.fromkeys(
        ("waits", "later"), "expired"
    )
    for id in ids:
        target.remove(id)
    keys = Keys(target.name)
    assert other.redis.exists(keys.forms, keys.expiring, keys.questions) == 0
