"""delete: all data of the queue are removed, and a new queue of that name starts empty."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import leaseq
from leaseq import NewItem
from leaseq.engine import codec
from leaseq.engine.keys import WEBHOOK_STATE, Keys
from leaseq.queue import base
from tests.conftest import Clock, Server
from tests.engine import server_contents
from tests.engine.waiters import Start
from tests.support.leases import take
from tests.support.refused import raises, unavailable
from tests.support.script_calls import replace_calls
from tests.support.waiting import eventually


class MissingPart:
    """An entry point that can't be imported because a module is not installed."""

    def __init__(self, module_name: str) -> None:
        self._module_name = module_name

    def load(self) -> None:
        raise ModuleNotFoundError(f"No module named {self._module_name!r}", name=self._module_name)


@pytest.mark.parametrize("module_name", ["flask", "leaseq.webapp"])
def test_delete_ignores_packages_that_are_not_installed(
    timed_queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch, module_name: str
) -> None:
    monkeypatch.setattr("leaseq.engine.parts.entry_points", lambda **_: [MissingPart(module_name)])
    timed_queue.configure()
    if module_name == "flask":
        timed_queue.delete()
        assert not timed_queue.exists()
    else:  # leaseq itself is incomplete
        with pytest.raises(ModuleNotFoundError):
            timed_queue.delete()


@pytest.fixture
def full(timed_queue: leaseq.Queue, clock: Clock) -> leaseq.Queue:
    """A queue that uses every kind of key."""
    timed_queue.configure(
        answers=2, holds=9, dedupe_seconds=60, keep_finished_seconds=9_000, alerts=("waiting>1",)
    )
    skilled_item = NewItem({"n": "skilled"}, id="skilled", requires=("fr",), due=codec.to_datetime(clock.now))
    timed_queue.enqueue_many(
        [skilled_item, NewItem({}, delay=9), NewItem({"n": 1}, id="high", priority=1), {"n": 2}]
    )
    anns = take(timed_queue, "ann")
    timed_queue.save_draft(anns, {"half": 1})
    timed_queue.abandon(anns)
    timed_queue.finish(take(timed_queue, "bob"), {"v": 1})
    cyds = take(timed_queue, "cyd")
    clock.tick(301)
    timed_queue.clear()
    timed_queue.finish(take(timed_queue, "dan"), {"v": 2})
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.finish(cyds, {"v": 3})
    timed_queue.fail(take(timed_queue, "eva"), "no")
    timed_queue.assign("skilled", "fay")
    timed_queue.follow("archive")
    timed_queue._commands.run("reserve", "gus", "request", "", "waiter", 0)
    timed_queue.reserve("hal")
    return timed_queue


def keys_of(server: Server, name: str) -> set[str]:
    return {key.decode().rpartition(":")[2] for key in server_contents.everything(server.redis, name)}


def test_delete_leaves_only_last_token(full: leaseq.Queue, server: Server) -> None:
    server.redis.hset(WEBHOOK_STATE, f"follows {full.name}", 1)
    assert len(keys_of(server, full.name)) >= 15
    token = take(full, "ivy").token
    full.delete()
    keys = [key for key in server.redis.scan_iter(count=10_000) if full.name in key.decode()]
    assert keys == [Keys(full.name).deleted.encode()]
    assert server.redis.hgetall(keys[0]) == {b"token": str(token).encode()}
    assert full.name not in leaseq.queues(server.client)
    assert not server.redis.sismember("leaseq:queues", full.name)
    assert not server.redis.hexists(WEBHOOK_STATE, f"follows {full.name}")


def test_delete_of_queue_without_leases_leaves_nothing(queue: leaseq.Queue, server: Server) -> None:
    queue.enqueue({})
    queue.delete()
    assert not server_contents.everything(server.redis, queue.name)
    assert not queue.exists()


def test_delete_of_missing_queue_is_refused(queue: leaseq.Queue, server: Server) -> None:
    with pytest.raises(leaseq.QueueNotFound) as first_error:
        queue.delete()
    assert not first_error.value.deleted
    queue.enqueue({})
    take(queue, "ann")
    queue.delete()
    with raises(leaseq.QueueNotFound, "not_found", what="deleted_queue") as second_error:
        queue.delete()
    assert second_error.value.deleted


def test_calls_with_lease_of_deleted_queue_are_refused(full: leaseq.Queue) -> None:
    lease = take(full, "ivy")
    full.delete()
    calls: list[Callable[[], object]] = [
        lambda: full.finish(lease, {"v": 1}),
        lambda: full.renew(lease),
        lambda: full.save_draft(lease, {}),
        lambda: full.abandon(lease),
        lambda: full.fail(lease, "no"),
    ]
    for call in calls:
        with raises(leaseq.QueueNotFound, "not_found", what="deleted_queue") as error:
            call()
        assert error.value.deleted
    assert full.reserve("ivy") is None


def test_new_queue_of_same_name_starts_empty_with_higher_tokens(full: leaseq.Queue, server: Server) -> None:
    old_lease = take(full, "ivy")
    full.delete()
    full.enqueue({"n": 2}, id="high")
    assert full.policy == leaseq.Policy()
    assert [event.what for event in full.journal()] == ["created", "enqueued"]
    assert {kind: n for kind, n in full.stats().counters.items() if n} == {"enqueued": 1}
    new_lease = take(full, "ann")
    assert new_lease.token == old_lease.token + 1
    assert (new_lease.attempt, new_lease.draft) == (1, None)
    assert full.stats().counters["reserved"] == 1
    with pytest.raises((leaseq.LeaseLost, leaseq.ItemNotFound)):
        full.finish(old_lease, {})
    assert not server.redis.exists(Keys(full.name).deleted)
    full.delete()
    full.enqueue({})
    assert take(full, "ann").token == new_lease.token + 1


def test_delete_with_outdated_expected_policy_is_refused(queue: leaseq.Queue) -> None:
    before = queue.configure(lease_seconds=5)
    after = queue.configure(title="Other")
    with pytest.raises(leaseq.PolicyChanged) as error:
        queue.delete(expected=before)
    assert error.value.policy == after
    assert queue.exists()
    queue.delete(expected=after.version)
    with pytest.raises(leaseq.QueueNotFound):
        queue.delete(expected=after)


def test_delete_keeps_other_queues(queue: leaseq.Queue, server: Server) -> None:
    """A name is no pattern, and names that begin or end alike are different queues."""
    other_queues = [leaseq.Queue(server.client, name) for name in (f"{queue.name}2", f"a{queue.name}")]
    for any_queue in (queue, *other_queues):
        any_queue.enqueue({}, id="it")
        take(any_queue, "ann")
    before = [server_contents.everything(server.redis, any_queue.name) for any_queue in other_queues]
    queue.delete()
    assert [server_contents.everything(server.redis, any_queue.name) for any_queue in other_queues] == before


def test_delete_ends_waiting_reserves(queue: leaseq.Queue, start: Start) -> None:
    queue.configure()
    futures = [start(f"p{n}") for n in range(3)]
    queue.delete()
    for future in futures:
        with raises(leaseq.QueueNotFound, "not_found", what="deleted_queue"):
            future.result(5)


def test_delete_wakes_waiters_in_batches(queue: leaseq.Queue, server: Server) -> None:
    queue.configure()
    channel = Keys(queue.name).wake
    subscription = server.pubsub(channel)
    subscription.subscribe(channel)
    eventually(lambda: subscription.get_message(timeout=1))
    server.redis.zadd(Keys(queue.name).waiters, {f"w{n}": n for n in range(600)})
    messages: list[list[bytes]] = []
    queue.delete()
    while message := subscription.get_message(timeout=1):
        messages.append(message["data"].split())
    assert [len(waiter_ids) for waiter_ids in messages] == [250, 250, 100], "a call wakes a bounded number"
    assert [waiter_id for waiter_ids in messages for waiter_id in waiter_ids] == [
        f"w{n}".encode() for n in range(600)
    ]
    subscription.close()


@pytest.fixture
def half_deleted_queue(queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch) -> leaseq.Queue:
    """A queue whose deletion stopped after the first few keys."""
    queue.enqueue_many([{"n": n} for n in range(30)])
    take(queue, "ann")
    monkeypatch.setattr(base, "_UNLINK_COUNT", 2)
    calls = 0

    def fail_second_call(run: Callable[..., Any], *arguments: str) -> Any:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise unavailable()
        return run(*arguments)

    with monkeypatch.context() as patch:
        replace_calls(patch, "delete_keys", fail_second_call)
        with pytest.raises(leaseq.ServerUnavailable):
            queue.delete()
    return queue


def test_interrupted_delete_is_completed_by_next_delete(
    half_deleted_queue: leaseq.Queue, server: Server
) -> None:
    assert len(server_contents.everything(server.redis, half_deleted_queue.name)) > 2
    assert not half_deleted_queue.exists()
    assert half_deleted_queue.reserve("bob") is None
    with raises(leaseq.QueueNotFound, "not_found", what="deleted_queue"):
        half_deleted_queue.stats()
    half_deleted_queue.delete()
    assert [*server_contents.everything(server.redis, half_deleted_queue.name)] == [
        Keys(half_deleted_queue.name).deleted.encode()
    ]
    with pytest.raises(leaseq.QueueNotFound):
        half_deleted_queue.delete()


def test_restart_during_key_scan_leaves_no_keys(
    full: leaseq.Queue, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a restart, the cursor of SCAN means another place, so keys could be missed."""
    scan_keys, scan_count = full._scan_keys, 0

    def scan(cursor: int) -> tuple[int, list[str]]:
        nonlocal scan_count
        scan_count += 1
        if scan_count != 2:
            return scan_keys(cursor)
        server.redis.script_flush()
        return 0, []

    monkeypatch.setattr(full, "_scan_keys", scan)
    full.delete()
    assert [*server_contents.everything(server.redis, full.name)] == [Keys(full.name).deleted.encode()]


def test_enqueue_completes_interrupted_delete_first(half_deleted_queue: leaseq.Queue, server: Server) -> None:
    half_deleted_queue.enqueue({"n": "new"}, id="new")
    assert [item.id for item in half_deleted_queue.items("inbound")] == ["new"]
    assert take(half_deleted_queue, "ann").token == 2
    assert half_deleted_queue.name in leaseq.queues(server.client)


def test_delayed_delete_step_does_not_affect_new_queue(half_deleted_queue: leaseq.Queue) -> None:
    """The caller was delayed while another one completed the deletion and created the queue again."""
    half_deleted_queue.configure(title="New")
    half_deleted_queue.enqueue({}, id="new")
    for end in ("", "end"):
        with pytest.raises(leaseq.QueueNotFound):
            half_deleted_queue._commands.run("delete_keys", end, "items", "inbound", "journal")
    assert half_deleted_queue.get("new").state == "inbound"


def test_unreadable_queue_is_not_deleted(unreadable_queue: leaseq.Queue, server: Server) -> None:
    before = server_contents.everything(server.redis, unreadable_queue.name)
    with pytest.raises(leaseq.QueueUnreadable):
        unreadable_queue.delete()
    assert server_contents.everything(server.redis, unreadable_queue.name) == before
