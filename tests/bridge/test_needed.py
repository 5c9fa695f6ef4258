"""Items with a form, a deadline and an addressee of their own, and items that nobody needs any more: moved,
archived, rebuilt and compared."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from sqlalchemy import select

import leaseq
from leaseq.bridge import schema
from leaseq.bridge.database import open_database, transaction
from leaseq.bridge.migrator import Migrator
from leaseq.bridge.rebuild import rebuild
from leaseq.bridge.registry import Window
from leaseq.bridge.run import Bridge
from leaseq.bridge.tables import item
from tests.bridge.conftest import Database, finish, lose, only_sqlite, settle
from tests.bridge.test_rebuild import find_differences
from tests.conftest import Server
from tests.support.leases import not_none

FORM = {"ask": {"type": "object", "title": "How much?"}}
OTHER_FORM = {"ask": {"type": "object", "title": "How many?"}}
LATER = datetime(2031, 5, 6, 7, 8, 9, 123_457, tzinfo=UTC)
PAST = datetime(2020, 1, 1, tzinfo=UTC)


def columns(database: Database, id: str) -> Any:
    with database.engine.begin() as connection:
        return connection.execute(select(item).where(item.c.id == id)).one()


def rebuilt(server: Server, database: Database, queue: leaseq.Queue, *ids: str) -> None:
    """Lose the queue, rebuild it, and compare all that outcomes say with what they said before."""
    before = queue.outcomes(ids)
    lose(server, queue)
    assert rebuild(server.client, database.engine, queue.name).refused == 0
    assert queue.outcomes(ids) == before
    assert find_differences(server, database, queue) == []


def test_row_s_form_deadline_and_assignee_are_moved_and_rebuilt(
    server: Server, database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "plain")
    settle(bridge)
    values = {"form": database.json(FORM), "expires_at": LATER, "assignee": "ann b"}
    database.add(queue.name, "a", **values)
    Migrator(database.engine, Window(100, 50)).fill(queue)  # and nothing is archived yet
    moved = queue.get("a")
    assert (moved.form, moved.expires, moved.assigned_to) == (FORM, LATER, ("ann b",))
    rebuilt(server, database, queue, "a", "plain")
    settle(bridge)
    queue.abandon(not_none(queue.reserve("ann b")), again=False)
    settle(bridge)
    rebuilt(server, database, queue, "a", "plain")
    assert queue.get("a").assigned_to == (), "she gave it back"


def test_item_from_elsewhere_gets_row_with_its_form_deadline_and_assignee(
    server: Server, database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "first")
    settle(bridge)
    queue.enqueue(1, id="a", form=FORM, expires=60, to="ann")
    settle(bridge)
    row = columns(database, "a")
    assert (row.form if database.is_postgresql else json.loads(row.form)) == FORM
    assert (row.expires_at, row.assignee) == (queue.get("a").expires, "ann")
    rebuilt(server, database, queue, "a")


def test_statements_for_erased_person_leave_no_column_with_the_name(
    database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    """Those of the docs; what waited for that person alone is for anybody."""
    database.add(queue.name, "answered", assignee="bob")
    settle(bridge)
    finish(queue, "bob")
    settle(bridge)
    database.add(queue.name, "waits", assignee="bob")
    page = (Path(__file__).parents[2] / "docs/how-to/erase-a-person.md").read_text()
    for statement in page.partition("```sql\n")[2].partition("```")[0].splitlines():
        database.run(statement)
    settle(bridge)
    assert queue.get("waits").assigned_to == ()
    assert [columns(database, id).assignee for id in ("answered", "waits")] == [None, None]
    assert [row.person for row in database.run("SELECT person FROM leaseq_answer")] == ["erased-…"]


def test_cancelled_and_expired_items_are_dead_with_reason_and_rebuilt(
    server: Server, database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "over", expires_at=PAST)
    database.add(queue.name, "told", "untold", "held")
    settle(bridge)
    queue.clear()
    queue.reserve("ann")
    queue.cancel("told", "sold: nobody\nneeds it")
    queue.cancel("untold")
    settle(bridge)
    assert database.statuses() == {"over": "dead", "told": "dead", "untold": "dead", "held": "queued"}
    errors = {id: database.error(id) for id in ("over", "told", "untold", "held")}
    assert errors == {
        "over": "expired unanswered",
        "told": "sold: nobody\nneeds it",
        "untold": "cancelled",
        "held": None,
    }
    rebuilt(server, database, queue, "over", "told", "untold")
    assert queue.get("told").died_of == "cancelled"


def test_asked_question_is_rebuilt_as_that_of_its_asker(
    server: Server, database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "first")
    settle(bridge)
    with pytest.raises(leaseq.StillWaiting):
        queue.ask({"n": 1}, id="a", timeout=600, wait=0, by="ann b")
    settle(bridge)
    rebuilt(server, database, queue, "a")
    assert queue.get("a").asked_by == "ann b"


def test_expired_item_that_is_wanted_again_has_no_deadline(
    server: Server, database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    for revive in (lambda: database.change("a", status="waiting"), lambda: queue.revive("b")):
        id = "a" if not database.statuses() else "b"
        database.add(queue.name, id, expires_at=PAST)
        settle(bridge)
        queue.clear()
        settle(bridge)
        assert database.statuses()[id] == "dead"
        revive()
        settle(bridge)
        row = columns(database, id)
        assert (row.status, row.error, row.expires_at, row.details) == ("queued", None, None, None)
    assert find_differences(server, database, queue) == []
    finish(queue)


@pytest.mark.parametrize("is_archived", [True, False])
def test_id_that_is_used_again_has_the_new_item_s_form_and_deadline(
    server: Server, database: Database, bridge: Bridge, queue: leaseq.Queue, is_archived: bool
) -> None:
    database.add(queue.name, "a", "b", form=database.json(FORM), expires_at=LATER)
    settle(bridge)
    queue.remove("a")
    queue.remove("b")
    if is_archived:
        settle(bridge)
    queue.enqueue({"n": "a"}, id="a")
    queue.enqueue({"n": "b"}, id="b", form=OTHER_FORM, expires=60)
    settle(bridge)
    rebuilt(server, database, queue, "a", "b")
    assert [queue.get(id).form for id in ("a", "b")] == [None, OTHER_FORM]


def test_row_of_an_item_that_the_queue_has_gets_its_form_and_deadline(
    server: Server, database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    queue.enqueue({"n": "a"}, id="a", form=OTHER_FORM)
    database.add(queue.name, "a", form=database.json(FORM), expires_at=LATER)
    settle(bridge)
    rebuilt(server, database, queue, "a")


def test_changed_form_or_deadline_of_queued_item_is_not_passed_on_but_told(
    server: Server, database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "form", form=database.json(FORM))
    database.add(queue.name, "time", expires_at=LATER)
    settle(bridge)
    database.change("form", form=None)
    database.change("time", expires_at=LATER + timedelta(days=1))
    settle(bridge)
    assert (queue.get("form").form, queue.get("time").expires) == (FORM, LATER)
    assert [word.split()[1] for word in find_differences(server, database, queue)] == ["form", "expires_at"]


@only_sqlite
def test_tables_of_the_first_version_are_upgraded_with_their_rows(database_url: str) -> None:
    engine = open_database(database_url, create=True)
    config = schema._config()
    with transaction(engine) as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        connection.exec_driver_sql("INSERT INTO leaseq_item (queue, id, payload) VALUES ('q', 'a', '1')")
    assert schema.upgrade(engine) == ("0001", "0002")
    row = columns(Database(engine, database_url), "a")
    assert (row.payload, row.form, row.expires_at, row.assignee) == ("1", None, None, None)
    engine.dispose()
