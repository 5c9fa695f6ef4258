"""A change of a row in the database is applied to its item in the queue."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import leaseq
from leaseq.bridge.migrator import Migrator
from leaseq.bridge.registry import Window
from leaseq.bridge.run import Bridge
from leaseq.bridge.statements import statements_on
from leaseq.bridge.tables import ChangeRow
from leaseq.bridge.verify import verify
from tests.bridge.conftest import Database, Make, finish, settle
from tests.conftest import Server
from tests.support.leases import not_none

DUE = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)


def count_changes(database: Database) -> int:
    return int(database.run("SELECT count(*) FROM leaseq_change")[0][0])


def test_changed_priority_skills_due_date_and_payload_reach_the_queue(
    database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "a", "b", "c")
    settle(bridge)
    database.change("c", priority=1)
    database.change("b", requires="fr", payload=database.json({"new": True}))
    database.change("a", due=DUE if database.is_postgresql else "2031-05-06 07:08:09")
    settle(bridge)
    assert next(item.id for item in queue.items("inbound")) == "c"
    item_b = queue.get("b")
    assert (item_b.payload, item_b.requires) == ({"new": True}, ("fr",))
    assert queue.get("a").due == DUE
    database.change("a", due=None)
    settle(bridge)
    assert queue.get("a").due is None
    assert count_changes(database) == 0


def test_change_to_an_equal_value_has_no_effect(
    database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "a", requires="legal, fr")
    settle(bridge)
    before = len(queue.journal())
    database.change("a", requires="fr,legal")
    settle(bridge)
    assert len(queue.journal()) == before
    assert count_changes(database) == 0


def test_writes_of_the_bridge_itself_record_no_change(
    database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "a", "b")
    settle(bridge)
    finish(queue)
    bridge.step()
    assert count_changes(database) == 0


@pytest.mark.parametrize("how", ["cancelled", "deleted"])
def test_cancelled_or_deleted_row_is_removed_from_queue(
    database: Database, bridge: Bridge, queue: leaseq.Queue, how: str
) -> None:
    database.add(queue.name, "a", "b")
    settle(bridge)
    lease = not_none(queue.reserve("ann"))
    if how == "cancelled":
        database.run("UPDATE leaseq_item SET status = 'cancelled'")
    else:
        database.run("DELETE FROM leaseq_item")
    settle(bridge)
    assert queue.items("inbound") == []
    with pytest.raises(leaseq.ItemNotFound):
        queue.finish(lease, "too late")
    assert set(database.statuses().values()) <= {"cancelled"}
    assert count_changes(database) == 0


def test_row_deleted_before_archiving_is_not_recreated(
    database: Database, make: Make, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "a")
    make(queue.name, parts=("migrate",)).step()
    database.run("DELETE FROM leaseq_item")
    make(queue.name, parts=("archive",)).step()
    settle(make(queue.name))
    assert database.statuses() == {}
    assert queue.items("inbound") == []


def test_cancelled_row_of_an_already_removed_item_is_ignored(
    database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "a")
    settle(bridge)
    queue.remove("a")
    database.change("a", status="cancelled")
    settle(bridge)
    assert count_changes(database) == 0


def test_a_change_waits_while_somebody_holds_the_item(
    database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "a")
    settle(bridge)
    lease = not_none(queue.reserve("ann"))
    database.change("a", priority=3)
    settle(bridge)
    assert (count_changes(database), queue.get("a").priority) == (1, 100)
    queue.abandon(lease, "not mine")
    settle(bridge)
    assert (count_changes(database), queue.get("a").priority) == (0, 3)


def test_a_change_is_dropped_when_the_item_is_finished(
    database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "a")
    settle(bridge)
    lease = not_none(queue.reserve("ann"))
    database.change("a", priority=3)
    settle(bridge)
    queue.finish(lease, "yes")
    settle(bridge)
    assert count_changes(database) == 0
    assert database.statuses() == {"a": "finished"}


def test_invalid_change_is_reported_in_the_row_and_not_applied(
    database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "a")
    settle(bridge)
    database.change("a", priority=-7)
    settle(bridge)
    assert "priority" in str(database.error("a"))
    assert queue.get("a").priority == 100
    database.change("a", priority=7)
    settle(bridge)
    assert queue.get("a").priority == 7
    assert database.error("a") is None


def test_change_of_a_waiting_row_is_not_sent_to_the_queue(
    database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "a", run_at=DUE if database.is_postgresql else "2031-05-06T07:08:09Z")
    settle(bridge)
    database.change("a", priority=5)
    assert count_changes(database) == 0
    database.change("a", status="cancelled")
    settle(bridge)
    assert not queue.items("inbound")


def withdraw(database: Database, how: str) -> None:
    statement = (
        "UPDATE leaseq_item SET status = 'cancelled'" if how == "cancelled" else "DELETE FROM leaseq_item"
    )
    database.run(statement)


@pytest.mark.parametrize("how", ["cancelled", "deleted"])
@pytest.mark.parametrize("is_archived", [False, True])
def test_finished_item_is_kept_whatever_its_row_says(
    server: Server, database: Database, make: Make, queue: leaseq.Queue, how: str, is_archived: bool
) -> None:
    database.add(queue.name, "a")
    settle(make(queue.name))
    finish(queue, "ann", "ann's")
    withdraw(database, how)
    make(queue.name, parts=("archive",) if is_archived else ("migrate",)).step()
    if not is_archived:
        assert [row[2] for row in database.answers()] == ["ann's"]
    settle(make(queue.name))
    assert [row[2:] for row in database.answers()] == [("ann's", False, True)]
    assert database.statuses() == {"a": "finished"}
    assert queue.get("a").state == "finished"
    assert len(database.run("SELECT * FROM leaseq_result")) == 1
    assert verify(server.client, database.engine, queue.name, lambda _: None) == []


@pytest.mark.parametrize("how", ["cancelled", "deleted"])
def test_answers_of_a_withdrawn_item_are_written_before_it_is_removed(
    database: Database, make: Make, queue: leaseq.Queue, how: str
) -> None:
    queue.configure(answers=2)
    database.add(queue.name, "a")
    settle(make(queue.name))
    lease = finish(queue, "ann", "ann's")
    with pytest.raises(leaseq.LeaseLost):
        queue.finish(lease, "ann's second")
    withdraw(database, how)
    make(queue.name, parts=("migrate",)).step()
    assert [row[2] for row in database.answers()] == ["ann's", "ann's second"]
    with pytest.raises(leaseq.ItemNotFound):
        queue.get("a")
    settle(make(queue.name))
    assert [row[2] for row in database.answers()] == ["ann's", "ann's second"]


def test_item_is_not_removed_if_it_is_answered_in_the_meantime(queue: leaseq.Queue) -> None:
    queue.configure(answers=3)
    queue.enqueue({}, id="a")
    finish(queue, "ann")
    (before,) = queue.outcome_rows(["a"])
    lease = finish(queue, "bob")
    assert not queue.remove_read("a", not_none(before).answers)
    (now,) = queue.outcome_rows(["a"])
    with pytest.raises(leaseq.LeaseLost):
        queue.finish(lease, "another")
    assert not queue.remove_read("a", not_none(now).answers), "the late one is not read"
    (now,) = queue.outcome_rows(["a"])
    assert queue.remove_read("a", not_none(now).answers)
    assert queue.remove_read("a", ())


@pytest.mark.parametrize("what", ["late", "died"])
def test_a_cancelled_row_stays_cancelled_if_its_item_changes_at_that_moment(
    database: Database, make: Make, queue: leaseq.Queue, what: str
) -> None:
    queue.configure(max_attempts=2)
    database.add(queue.name, "a")
    settle(make(queue.name))
    lease = not_none(queue.reserve("ann"))
    if what == "late":
        queue.release("a")
        with pytest.raises(leaseq.LeaseLost):
            queue.finish(lease, "ann's")
    else:
        queue.fail(lease, "no", then_reserve=False)
    database.change("a", status="cancelled")
    settle(make(queue.name))
    assert database.statuses() == {"a": "cancelled"}
    with pytest.raises(leaseq.ItemNotFound):
        queue.get("a")


@pytest.mark.parametrize(("before", "after"), [(1, True), ({"a": [0]}, {"a": [False]})])
def test_change_from_a_number_to_a_boolean_reaches_the_queue(
    database: Database, bridge: Bridge, queue: leaseq.Queue, before: object, after: object
) -> None:
    database.add(queue.name, "a", payload=before)
    settle(bridge)
    database.change("a", payload=database.json(after))
    settle(bridge)
    assert repr(queue.get("a").payload) == repr(after)


def test_row_changed_again_while_the_change_is_passed_on_is_passed_on_again(
    database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    """The record of a change is deleted by its number only."""
    database.add(queue.name, "a")
    settle(bridge)
    database.change("a", priority=3)
    migrator = Migrator(database.engine, Window(100, 50))
    with statements_on(database.engine, queue.name) as statements:
        (seen,) = statements.changes("", 10)
    assert isinstance(seen, ChangeRow)
    database.change("a", priority=4)
    with statements_on(database.engine, queue.name) as statements:
        migrator._apply(statements, queue, [seen])
    assert (queue.get("a").priority, count_changes(database)) == (3, 1)
    settle(bridge)
    assert (queue.get("a").priority, count_changes(database)) == (4, 0)


def test_change_made_in_the_queue_reaches_the_row_and_is_not_reverted(
    server: Server, database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "a", "b", requires="legal, fr")
    settle(bridge)
    queue.change("a", priority=3, payload={"b": 1.0, "a": [1]})
    queue.change("a", due=DUE)
    settle(bridge)
    columns = "priority, CAST(payload AS text), requires, error"
    row = database.run(f"SELECT {columns} FROM leaseq_item WHERE id = 'a'")[0]
    assert tuple(row) == (3, '{"b":1.0,"a":[1]}', "legal, fr", None)
    assert count_changes(database) == 0
    before = len(queue.journal())
    settle(bridge)
    assert len(queue.journal()) == before
    database.change("a", requires="fr")
    settle(bridge)
    item = queue.get("a")
    assert (item.priority, item.payload, item.due, item.requires) == (3, {"b": 1.0, "a": [1]}, DUE, ("fr",))
    queue.change("a", requires=[], due=None)
    settle(bridge)
    database.change("a", priority=4)
    settle(bridge)
    assert (queue.get("a").priority, queue.get("a").requires, queue.get("a").due) == (4, (), None)
    assert verify(server.client, database.engine, queue.name, lambda _: None) == []


def test_row_that_was_changed_just_now_keeps_its_values(
    database: Database, make: Make, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "a")
    settle(make(queue.name))
    database.change("a", priority=5)
    queue.change("a", priority=3)
    settle(make(queue.name, parts=("archive",)))
    assert database.run("SELECT priority FROM leaseq_item")[0][0] == 5
    settle(make(queue.name))
    assert queue.get("a").priority == 5


def test_change_made_in_the_queue_replaces_a_refused_one(
    database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "a")
    settle(bridge)
    database.change("a", priority=-1)
    settle(bridge)
    assert "priority" in not_none(database.error("a"))
    queue.change("a", priority=3)
    settle(bridge)
    assert database.run("SELECT priority FROM leaseq_item")[0][0] == 3
    assert database.error("a") is None
