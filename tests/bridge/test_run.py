"""A running bridge logs once that the server or the database is unavailable, and retries until it is back."""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import leaseq
from leaseq.bridge import schema
from leaseq.bridge.database import DatabaseRefused, DatabaseUnavailable, listening, open_database
from leaseq.bridge.registry import Window
from leaseq.bridge.run import Bridge, Settings
from leaseq.bridge.tables import CHANNEL
from leaseq.server.embedded import EmbeddedServer
from tests.bridge.conftest import Database, Make, finish, only_postgresql, only_sqlite, settle
from tests.conftest import Clock, Server
from tests.support.waiting import TIMEOUT, eventually


@contextmanager
def run_in_thread(bridge: Bridge) -> Iterator[None]:
    stop = threading.Event()
    thread = threading.Thread(target=bridge.run, args=(stop,))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def watch_log(caplog: pytest.LogCaptureFixture) -> Callable[[str], bool]:
    caplog.set_level(logging.WARNING, logger="leaseq.bridge")
    return lambda text: any(text in record.getMessage() for record in caplog.records)


@only_sqlite
def test_unavailable_database_is_logged_once_and_retried(
    server: Server, tmp_path: Path, queue: leaseq.Queue, caplog: pytest.LogCaptureFixture, database: Database
) -> None:
    has_logged = watch_log(caplog)
    folder = tmp_path / "later"
    engine = open_database(f"sqlite:///{folder / 'work.db'}")
    queue.enqueue({}, id="a")
    with run_in_thread(Bridge(server.client, engine, Settings(Window(10, 5), (queue.name,)))):
        eventually(lambda: has_logged("the database does not answer: unable to open"), "it is logged")
        finish(queue)  # people can still work
        folder.mkdir()
        schema.upgrade(open_database(str(engine.url), create=True))
        eventually(lambda: has_logged("the bridge goes on"), "the bridge goes on")
        new_database = Database(engine, str(engine.url))
        eventually(lambda: new_database.statuses() == {"a": "finished"}, "the bridge catches up")
    assert sum("does not answer" in record.getMessage() for record in caplog.records) == 1
    engine.dispose()


def test_unavailable_server_is_logged_and_retried(
    database: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    has_logged = watch_log(caplog)
    database.add("reviews", "a")
    server = EmbeddedServer(tmp_path / "server")
    client = leaseq.connect(server.url)
    with run_in_thread(Bridge(client, database.engine, Settings(Window(10, 5)))):
        eventually(lambda: has_logged("no answer from"), "it is logged")
        assert database.statuses() == {"a": "waiting"}
        with server:
            eventually(lambda: database.statuses() == {"a": "queued"}, "the bridge goes on")
    client.close()


def test_bridge_refuses_a_database_without_its_tables(server: Server, tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    engine = open_database(f"sqlite:///{tmp_path / 'empty.db'}")
    bridge = Bridge(server.client, engine, Settings(Window(10, 5)))
    with pytest.raises(DatabaseRefused, match="got none: run `leaseq bridge init`"):
        bridge.run(threading.Event())
    engine.dispose()


@only_postgresql
def test_new_and_changed_rows_wake_the_bridge(
    database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    with listening(database.engine, CHANNEL) as wait:
        database.add(queue.name, "a")
        assert wait(TIMEOUT)
        settle(bridge)  # the bridge's own writes send no notification
        assert not wait(0.05)
        database.change("a", priority=1)
        assert wait(TIMEOUT)
        database.change("a", status="cancelled")
        assert wait(TIMEOUT)


@pytest.mark.parametrize("hours", [-5, 5])
def test_archiving_works_with_a_wrong_server_clock(
    database: Database, make: Make, server: Server, queue_name: str, hours: int
) -> None:
    queue = leaseq.Queue(server.client, queue_name, clock=Clock.from_now(3600 * hours))
    queue.configure()
    bridge = make(queue_name)
    database.add(queue_name, "a", "b")
    settle(bridge)
    finish(queue)
    settle(bridge)
    finish(queue)
    settle(bridge)
    assert database.statuses() == {"a": "finished", "b": "finished"}
    assert [row[0] for row in database.answers()] == ["a", "b"]
    assert len(database.events()) == len(queue.journal())


def test_step_returns_whether_there_was_work(database: Database, bridge: Bridge, queue: leaseq.Queue) -> None:
    settle(bridge)
    assert not bridge.step()
    database.add(queue.name, "a")
    assert bridge.step()


def test_heartbeat_is_not_written_at_each_step(
    database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    """There are five steps a second."""
    database.add(queue.name, "a")
    rows = set()
    for _ in range(3):
        bridge.step()
        rows |= set(database.run("SELECT seen_at FROM leaseq_bridge"))
    assert len(rows) == 1


@only_postgresql
def test_wait_for_notification_raises_if_connection_is_lost(database: Database) -> None:
    with listening(database.engine, CHANNEL) as wait:
        statement = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
        assert database.run(statement) == [(True,)]
        with pytest.raises(DatabaseUnavailable, match="does not answer"):
            wait(TIMEOUT)


def test_queue_that_fails_stops_no_other_and_is_tried_again(
    server: Server, database: Database, queue: leaseq.Queue, caplog: pytest.LogCaptureFixture
) -> None:
    bad_queue = leaseq.Queue(server.client, f"a-{queue.name}")
    now = [0.0]
    settings = Settings(Window(10, 5), (bad_queue.name, queue.name))
    bridge = Bridge(server.client, database.engine, settings, lambda: now[0])
    bad_key = f"leaseq:{{{bad_queue.name}}}:ledger"
    server.redis.set(bad_key, "not a queue")
    database.add(bad_queue.name, "bad")
    for number, seconds in enumerate((0.0, 0.5, 1.0, 1.0)):
        now[0] += seconds
        database.add(queue.name, f"good-{number}")
        bridge.step()
    assert {id for id, status in database.statuses().items() if status == "queued"} == {
        f"good-{number}" for number in range(4)
    }
    assert caplog.text.count(f"queue {bad_queue.name} is tried again later") == 1
    server.redis.delete(bad_key)
    bridge.step()
    assert database.statuses()["bad"] == "waiting", "it is tried again after a while"
    now[0] += 60
    bridge.step()
    assert database.statuses()["bad"] == "queued"
    assert f"queue {bad_queue.name}: the bridge goes on with it" in caplog.text


def test_queue_whose_rows_were_all_deleted_is_worked_on(
    server: Server, database: Database, queue: leaseq.Queue
) -> None:
    """By the running bridge, and by the next one."""
    times = itertools.count(step=60)  # each look at the clock: time for the next check of names
    bridge = Bridge(server.client, database.engine, Settings(Window(10, 5)), lambda: next(times))
    database.add(queue.name, "a")
    settle(bridge)
    database.run("DELETE FROM leaseq_item")
    settle(bridge)
    assert queue.items("inbound") == []
    assert database.run("SELECT * FROM leaseq_change") == []

    queue.enqueue({}, id="b")
    finish(queue)
    settle(bridge)
    assert database.statuses() == {"b": "finished"}
    database.run("DELETE FROM leaseq_item")
    queue.enqueue({}, id="c")
    finish(queue)
    settle(Bridge(server.client, database.engine, Settings(Window(10, 5))))
    assert [id for id, *_ in database.answers()] == ["b", "c"]
