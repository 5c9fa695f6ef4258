"""The tables of the first version, the triggers that record changes for the bridge, and the view."""

from __future__ import annotations

from alembic import op

revision = "0001"
down_revision = None

_TABLES = """
CREATE TABLE leaseq_item (
    queue text NOT NULL,
    id text NOT NULL,
    payload {json} NOT NULL,
    priority integer NOT NULL DEFAULT 100,
    run_at {time} NOT NULL DEFAULT {now},
    requires text NOT NULL DEFAULT '',
    due {time},
    status text NOT NULL DEFAULT 'waiting'
        CHECK (status IN ('waiting', 'queued', 'finished', 'dead', 'cancelled', 'refused')),
    error text,
    details {json},
    created_at {time} NOT NULL DEFAULT {now},
    PRIMARY KEY (queue, id)
);
CREATE INDEX leaseq_item_waiting ON leaseq_item (queue, priority, created_at) WHERE status = 'waiting';
CREATE TABLE leaseq_answer (
    queue text NOT NULL,
    id text NOT NULL,
    token bigint NOT NULL,
    person text NOT NULL,
    result {json} NOT NULL,
    finished_at {time} NOT NULL,
    late boolean NOT NULL,
    accepted boolean NOT NULL,
    number integer NOT NULL DEFAULT 0,
    PRIMARY KEY (queue, id, token, number)
) {rowless};
CREATE TABLE leaseq_event (
    queue text NOT NULL,
    position bigint NOT NULL,
    number integer NOT NULL,
    at {time} GENERATED ALWAYS AS ({at}) {kept},
    what text NOT NULL,
    id text,
    person text,
    token bigint,
    detail {json},
    PRIMARY KEY (queue, position, number)
) {rowless};
CREATE TABLE leaseq_change (
    queue text NOT NULL,
    id text NOT NULL,
    number bigint NOT NULL,
    PRIMARY KEY (queue, id)
);
CREATE TABLE leaseq_bridge (
    queue text NOT NULL PRIMARY KEY,
    cursor text,
    policy {json},
    paused {json},
    high integer,
    low integer,
    runner text,
    seen_at {time}
);
CREATE VIEW leaseq_result AS
    SELECT item.queue, item.id, item.payload, item.status, answer.person, answer.result, answer.token,
           answer.finished_at, answer.late
    FROM leaseq_item AS item
    JOIN leaseq_answer AS answer ON answer.queue = item.queue AND answer.id = item.id
    WHERE answer.accepted;
"""

# The triggers record a queued row when its content changes, when it is cancelled, and when it is deleted.
_POSTGRESQL = """
CREATE FUNCTION leaseq_note_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO leaseq_change (queue, id, number) VALUES (OLD.queue, OLD.id, 1)
        ON CONFLICT (queue, id) DO UPDATE SET number = leaseq_change.number + 1;
    PERFORM pg_notify('leaseq', OLD.queue);
    RETURN NULL;
END $$;
CREATE TRIGGER leaseq_item_changed AFTER UPDATE OF payload, priority, requires, due, status ON leaseq_item
    FOR EACH ROW
    WHEN (OLD.status = 'queued' AND (NEW.status = 'cancelled' OR NEW.status = 'queued' AND (
        NEW.payload::text <> OLD.payload::text OR NEW.priority <> OLD.priority OR NEW.requires <> OLD.requires
        OR NEW.due IS DISTINCT FROM OLD.due)))
    EXECUTE FUNCTION leaseq_note_change();
CREATE TRIGGER leaseq_item_deleted AFTER DELETE ON leaseq_item
    FOR EACH ROW WHEN (OLD.status = 'queued') EXECUTE FUNCTION leaseq_note_change();
CREATE FUNCTION leaseq_notify() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('leaseq', '');
    RETURN NULL;
END $$;
CREATE TRIGGER leaseq_item_added AFTER INSERT ON leaseq_item
    FOR EACH STATEMENT EXECUTE FUNCTION leaseq_notify();
"""

_NOTE = """
    INSERT INTO leaseq_change (queue, id, number) VALUES (OLD.queue, OLD.id, 1)
        ON CONFLICT (queue, id) DO UPDATE SET number = number + 1;
END;
"""
_SQLITE = (
    """
CREATE TRIGGER leaseq_item_changed AFTER UPDATE OF payload, priority, requires, due, status
    ON leaseq_item
    WHEN OLD.status = 'queued' AND (NEW.status = 'cancelled' OR NEW.status = 'queued' AND (
        NEW.payload <> OLD.payload OR NEW.priority <> OLD.priority OR NEW.requires <> OLD.requires
        OR NEW.due IS NOT OLD.due))
BEGIN"""
    + _NOTE,
    "CREATE TRIGGER leaseq_item_deleted AFTER DELETE ON leaseq_item WHEN OLD.status = 'queued' BEGIN" + _NOTE,
)


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        tables = _TABLES.format(
            json="json",
            time="timestamptz",
            now="clock_timestamp()",
            at="to_timestamp(position / 1e6)",
            kept="STORED",
            rowless="",
        )
        op.execute(tables)
        op.execute(_POSTGRESQL.replace(":", r"\:"))
        return
    tables = _TABLES.format(
        json="text",
        time="text",
        now="(strftime('%Y-%m-%d %H:%M:%f', 'now'))",
        at="strftime('%Y-%m-%d %H:%M:%f', position / 1e6, 'unixepoch')",
        kept="VIRTUAL",
        rowless="WITHOUT ROWID",  # one tree instead of two
    )
    for statement in (*tables.split(";\n"), *_SQLITE):
        if statement.strip():
            op.get_bind().exec_driver_sql(statement)
