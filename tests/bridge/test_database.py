"""Opening a database, the errors of the driver, and the upgrade of its tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import text

from leaseq.bridge import schema
from leaseq.bridge.database import DatabaseRefused, open_database, transaction
from tests.bridge.conftest import Database, only_postgresql


def test_missing_file_is_not_made_without_init(tmp_path: Path) -> None:
    path = tmp_path / "mistyped.db"
    engine = open_database(f"sqlite:///{path}")
    with pytest.raises(DatabaseRefused, match=r"mistyped\.db.*leaseq bridge init"):
        schema.check(engine)
    assert not path.exists()
    schema.upgrade(open_database(f"sqlite:///{path}", create=True))
    schema.check(engine)
    engine.dispose()


@only_postgresql
@pytest.mark.parametrize("statement", ["SELECT 'infinity'::timestamptz", "SELECT 1/0", "SELECT 'x'::int"])
def test_error_about_a_value_is_not_taken_for_a_lost_connection(database: Database, statement: str) -> None:
    with pytest.raises(DatabaseRefused), transaction(database.engine) as connection:
        connection.execute(text(statement.replace("::", r"\:\:"))).all()


def test_upgrade_of_version_1_keeps_answers_and_indexes_of_the_application(
    database_url: str, request: pytest.FixtureRequest
) -> None:
    engine = open_database(database_url, create=True)
    database = Database(engine, database_url)
    if database.is_postgresql:
        database.run("DROP SCHEMA public CASCADE")
        database.run("CREATE SCHEMA public")
    config = schema._config()
    with transaction(engine) as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    database.run(
        "INSERT INTO leaseq_answer (queue, id, token, person, result, finished_at, late, accepted) "
        "VALUES ('q', 'a', 1, 'ann', '1', '2026-01-01 00:00:00', false, true)"
    )
    database.run("INSERT INTO leaseq_item (queue, id, payload) VALUES ('q', 'a', '1')")
    database.run("CREATE INDEX mine ON leaseq_answer (person)")
    database.run("CREATE VIEW my_view AS SELECT person FROM leaseq_answer")
    assert schema.upgrade(engine) == ("0001", "0002")
    database.run(
        "INSERT INTO leaseq_answer (queue, id, token, number, person, result, finished_at, late, accepted) "
        "VALUES ('q', 'a', 1, 1, 'ann', '2', '2026-01-01 00:00:01', true, false)"
    )
    assert [(row[0], row[2]) for row in database.answers()] == [("a", 1), ("a", 2)]
    assert [row.person for row in database.run("SELECT person FROM leaseq_result")] == ["ann"]
    assert len(database.run("SELECT * FROM my_view")) == 2
    with pytest.raises(Exception, match="mine"):
        database.run("CREATE INDEX mine ON leaseq_answer (person)")
    database.run("DROP VIEW my_view")
    database.run("DROP INDEX mine")
    engine.dispose()
