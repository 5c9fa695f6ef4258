"""Opening a database, and the errors of the driver."""

from __future__ import annotations

from pathlib import Path

import pytest
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
