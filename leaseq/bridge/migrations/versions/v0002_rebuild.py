"""Room for all that a rebuild restores: several answers under one token (a refused one that came after the
accepted one, for instance), what the columns of an item don't say, and that the queue is paused."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"

_POSTGRESQL = """
ALTER TABLE leaseq_item ADD COLUMN details json;
ALTER TABLE leaseq_bridge ADD COLUMN paused json;
ALTER TABLE leaseq_answer ADD COLUMN number integer NOT NULL DEFAULT 0;
ALTER TABLE leaseq_answer DROP CONSTRAINT leaseq_answer_pkey;
ALTER TABLE leaseq_answer ADD PRIMARY KEY (queue, id, token, number);
"""

# SQLite can't change a primary key. No table is renamed, since that is refused if a view of the application
# names a table that is missing meanwhile.
_SQLITE = """
ALTER TABLE leaseq_item ADD COLUMN details text;
ALTER TABLE leaseq_bridge ADD COLUMN paused text;
CREATE TEMPORARY TABLE leaseq_answer_copy AS SELECT * FROM leaseq_answer;
DROP TABLE leaseq_answer;
CREATE TABLE leaseq_answer (
    queue text NOT NULL,
    id text NOT NULL,
    token bigint NOT NULL,
    person text NOT NULL,
    result text NOT NULL,
    finished_at text NOT NULL,
    late boolean NOT NULL,
    accepted boolean NOT NULL,
    number integer NOT NULL DEFAULT 0,
    PRIMARY KEY (queue, id, token, number)
) WITHOUT ROWID;
INSERT INTO leaseq_answer (queue, id, token, person, result, finished_at, late, accepted)
    SELECT queue, id, token, person, result, finished_at, late, accepted FROM leaseq_answer_copy;
DROP TABLE leaseq_answer_copy;
"""


def upgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        op.execute(_POSTGRESQL)
        return
    of_application = connection.exec_driver_sql(  # indexes and triggers that go with the table
        "SELECT sql FROM sqlite_master WHERE tbl_name = 'leaseq_answer' AND type IN ('index', 'trigger') "
        "AND sql IS NOT NULL"
    )
    statements = [*_SQLITE.split(";\n"), *of_application.scalars()]
    for statement in statements:
        if statement.strip():
            connection.exec_driver_sql(statement)
