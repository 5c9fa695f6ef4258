"""An interrupted restore exposes no half-restored queue and can be continued; a backup that may lack items
fails."""

from __future__ import annotations

import io
import itertools
import os
import random
from collections.abc import Callable
from importlib.metadata import EntryPoint
from typing import Any

import pytest

import leaseq
from leaseq import NewItem, backup
from leaseq.backup import stored_keys
from leaseq.engine.commands import Commands
from leaseq.engine.keys import RESTORING, Keys, of_queue
from leaseq.webapp.store.accounts import model as keys_of_accounts
from tests.backup.conftest import MakeBackup
from tests.backup.test_round_trip import queue_view, stored_contents, work_at_random
from tests.conftest import Clock, Server
from tests.support.leases import take
from tests.support.refused import raises
from tests.support.script_calls import replace_calls


class Killed(BaseException):
    """Raised in place of the end of the process."""


@pytest.fixture
def kill_at(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Simulate the death of the process right after the nth call that restores items."""
    original = Commands.run

    def at(number: int) -> None:
        calls = itertools.count(1)

        def load_items(run: Callable[..., Any], *args: str) -> Any:
            reply = run(*args)
            if next(calls) == number:
                raise Killed
            return reply

        monkeypatch.setattr(Commands, "run", original)
        replace_calls(monkeypatch, "load_items", load_items)

    yield at
    monkeypatch.setattr(Commands, "run", original)


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leaseq.backup.queue_lines._WORDS", 60)


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("number", [1, 3, 1_000])
def test_killed_restore_is_completed_by_second_run(
    server: Server,
    timed_queue: leaseq.Queue,
    clock: Clock,
    make_backup: MakeBackup,
    other: leaseq.Client,
    kill_at: Any,
    number: int,
) -> None:

    timed_queue.configure(answers=2, holds=3, lease_seconds=60)
    work_at_random(timed_queue, clock, random.Random(number), 80)
    file, before = make_backup(), queue_view(timed_queue)
    target_queue = leaseq.Queue(other, timed_queue.name, clock=clock)
    kill_at(number)
    if number < 1_000:
        with pytest.raises(Killed):
            backup.restore(other, file, clock=clock)
        assert not target_queue.exists()
        assert leaseq.queues(other) == []
        with pytest.raises(leaseq.QueueNotFound):
            target_queue.stats()
        assert target_queue.find_policy() is None
        with raises(leaseq.ServerRefused, "restoring"):
            target_queue.enqueue({})
        file.seek(0)
    backup.restore(other, file, clock=clock)
    assert queue_view(target_queue) == before
    assert stored_contents(other.redis, timed_queue.name) == stored_contents(server.redis, timed_queue.name)
    assert other.redis.exists(RESTORING) == 0


def test_resumed_restore_keeps_tokens_above_those_of_deleted_queue(
    timed_queue: leaseq.Queue, clock: Clock, make_backup: MakeBackup, other: leaseq.Client, kill_at: Any
) -> None:
    target_queue = leaseq.Queue(other, timed_queue.name, clock=clock)
    target_queue.raise_tokens(2**51)
    target_queue.delete()
    timed_queue.enqueue({})
    file = make_backup()
    kill_at(1)
    with pytest.raises(Killed):
        backup.restore(other, file, clock=clock)
    file.seek(0)
    backup.restore(other, file, clock=clock)
    assert take(target_queue, "ann").token == 2**51 + 1


@pytest.mark.usefixtures("small_steps")
def test_resumed_restore_keeps_work_in_completed_queue(
    server: Server, clock: Clock, make_backup: MakeBackup, other: leaseq.Client, kill_at: Any
) -> None:
    """The restore is killed in the second queue; the first is complete, and people already work on it."""
    for name in ("a", "b"):
        queue = leaseq.Queue(server.client, name, clock=clock)
        queue.enqueue_many(NewItem({"n": n}, id=f"{n}") for n in range(30))
    file = make_backup()
    kill_at(9)
    with pytest.raises(Killed):
        backup.restore(other, file, clock=clock)
    first = leaseq.Queue(other, "a", clock=clock)
    lease = take(first, "ann")
    first.finish(lease, {"done": True})
    leaseq.Queue(server.client, "a", clock=clock).enqueue({})
    with pytest.raises(backup.RestoreRefused, match="run it again with that file, whose SHA-256 begins with"):
        backup.restore(other, make_backup(), clock=clock)
    file.seek(0)
    result = backup.restore(other, file, clock=clock)
    assert (result.queues, result.items) == (2, 60)
    assert first.get(lease.id).answers[0].result == {"done": True}
    assert leaseq.Queue(other, "b").stats().inbound == 30


@pytest.mark.usefixtures("small_steps")
def test_partially_restored_queue_can_be_deleted(
    timed_queue: leaseq.Queue, clock: Clock, make_backup: MakeBackup, other: leaseq.Client, kill_at: Any
) -> None:
    """If the file is lost, the queue's name can still be used again."""
    timed_queue.enqueue_many({"n": n} for n in range(30))
    file = make_backup()
    kill_at(1)
    with pytest.raises(Killed):
        backup.restore(other, file, clock=clock)
    target_queue = leaseq.Queue(other, timed_queue.name, clock=clock)
    with raises(leaseq.ServerRefused, "restoring"):
        target_queue.enqueue({})
    target_queue.delete()
    assert [*other.redis.scan_iter(match=of_queue(timed_queue.name))] == [
        Keys(timed_queue.name).deleted.encode()
    ]
    file.seek(0)
    assert backup.restore(other, file, clock=clock).items == 30


@pytest.mark.usefixtures("small_steps")
def test_resumed_restore_is_refused_if_queue_was_created_meanwhile(
    server: Server, clock: Clock, make_backup: MakeBackup, other: leaseq.Client, kill_at: Any
) -> None:
    """Before a queue is restored, a program creates one of that name by enqueueing into it."""
    for name in ("a", "b"):
        leaseq.Queue(server.client, name, clock=clock).enqueue_many({"n": n} for n in range(30))
    file = make_backup()
    kill_at(1)
    with pytest.raises(Killed):
        backup.restore(other, file, clock=clock)
    second = leaseq.Queue(other, "b")
    second.enqueue({"n": "new"})
    file.seek(0)
    with pytest.raises(backup.RestoreRefused, match=r"'b' was created .* `leaseq queue delete b`, then"):
        backup.restore(other, file, clock=clock)
    assert [item.payload for item in second.items("inbound")] == [{"n": "new"}]
    second.delete()
    file.seek(0)
    assert backup.restore(other, file, clock=clock).items == 60
    assert [leaseq.Queue(other, name).stats().inbound for name in ("a", "b")] == [30, 30]
    assert not [*other.redis.scan_iter(match="leaseq:{@restore}*")]


@pytest.mark.usefixtures("small_steps")
def test_resumed_restore_is_refused_if_restored_queue_was_recreated(
    server: Server, clock: Clock, make_backup: MakeBackup, other: leaseq.Client, kill_at: Any
) -> None:
    for name in ("a", "b"):
        leaseq.Queue(server.client, name, clock=clock).enqueue_many({"n": n} for n in range(30))
    file = make_backup()
    kill_at(9)  # in the second queue
    with pytest.raises(Killed):
        backup.restore(other, file, clock=clock)
    first = leaseq.Queue(other, "a")
    first.delete()
    first.enqueue({"n": "new"})
    file.seek(0)
    with pytest.raises(backup.RestoreRefused, match="'a' was created by another program"):
        backup.restore(other, file, clock=clock)
    assert [item.payload for item in first.items("inbound")] == [{"n": "new"}]


def test_later_line_of_item_replaces_earlier_line(
    timed_queue: leaseq.Queue,
    clock: Clock,
    make_backup: MakeBackup,
    other: leaseq.Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An item can have two lines, for instance if the hash grows while it is read."""
    timed_queue.enqueue({"n": 1}, id="one", requires=("fr",))

    def dump_twice(run: Callable[..., Any], *args: Any) -> Any:
        reply = run(*args)
        lease = take(timed_queue, "ann", "fr")
        timed_queue.finish(lease, {"done": True})
        second_reply = run("", "", "one")
        return reply._replace(rest=[*reply.rest, *second_reply.rest[2:]])

    replace_calls(monkeypatch, "dump_items", dump_twice)
    backup.restore(other, make_backup(), clock=clock)
    target_queue = leaseq.Queue(other, timed_queue.name, clock=clock)
    assert [(item.id, item.state) for item in target_queue.find("finished").items] == [("one", "finished")]
    assert target_queue.stats().inbound == 0


def test_server_restart_during_backup_fails_backup(
    server: Server, timed_queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a restart the server has no scripts, and a SCAN cursor means another position."""
    timed_queue.enqueue({})

    def dump(run: Callable[..., Any], *counters: str) -> Any:
        server.redis.script_flush()
        return run(*counters)

    replace_calls(monkeypatch, "dump", dump)
    with pytest.raises(backup.BackupFailed, match=r"was restarted.*run it again"):
        backup.back_up(server.client, io.BytesIO())


def test_queue_deletion_during_backup_fails_backup(
    server: Server, timed_queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    timed_queue.enqueue({})

    def dump_items(run: Callable[..., Any], *args: Any) -> Any:
        timed_queue.delete()
        return run(*args)

    replace_calls(monkeypatch, "dump_items", dump_items)
    with pytest.raises(backup.BackupFailed, match=f"{timed_queue.name}.* was deleted during the backup"):
        backup.back_up(server.client, io.BytesIO())
    assert server.redis.exists(Keys(timed_queue.name).ledger) == 0


def test_backup_of_unreadable_queue_fails(server: Server, unreadable_queue: leaseq.Queue) -> None:
    with pytest.raises(
        backup.BackupFailed, match=f"{unreadable_queue.name}.* can't be backed up: .*newer version"
    ):
        backup.back_up(server.client, io.BytesIO())


def test_backup_without_permission_for_accounts_fails(server: Server, make_backup: MakeBackup) -> None:
    """The tests use the library's user of the server, which may not read the web app's keys."""
    server.redis.lpush(keys_of_accounts.notices_key("ann"), "{}")
    with raises(leaseq.ServerRefused, "server_refused", "no permissions"):
        make_backup()


def test_restore_from_pipe_succeeds(
    timed_queue: leaseq.Queue, make_backup: MakeBackup, other: leaseq.Client
) -> None:
    timed_queue.enqueue({"n": 1})
    content = make_backup().getvalue()
    read_end, write_end = os.pipe()
    with os.fdopen(write_end, "wb") as pipe:
        pipe.write(content)
    with os.fdopen(read_end, "rb") as stream:
        assert backup.restore(other, stream).items == 1


def test_backup_with_unknown_key_fails(server: Server, make_backup: MakeBackup) -> None:
    server.redis.set("leaseq:{@tomorrow}:x", 1)
    with pytest.raises(backup.BackupFailed, match=r"{@tomorrow}:x, which this version of leaseq does"):
        make_backup()


def test_backup_of_accounts_without_web_package_fails(
    server: Server, make_backup: MakeBackup, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A backup made there would lack the accounts."""
    entry_point = EntryPoint("stores", "no_such_package.keys:KEYS", stored_keys.GROUP)
    monkeypatch.setattr("leaseq.engine.parts.entry_points", lambda **_: [entry_point])
    assert make_backup().getvalue(), "without accounts the web parts are not needed"
    server.redis.hset(keys_of_accounts.PEOPLE, "ann", "{}")
    with pytest.raises(backup.BackupFailed, match="no_such_package is not installed: pip install"):
        make_backup()
