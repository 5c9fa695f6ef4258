"""The examples of docs/how-to/use-a-sql-database.md run, and docs/bridge.md names every column."""

from __future__ import annotations

import re
from pathlib import Path

import leaseq
from leaseq.bridge.tables import STATUSES, item
from tests.bridge.conftest import Database, Make, finish, settle
from tests.conftest import Server

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "how-to" / "use-a-sql-database.md").read_text()


def code_blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_sqlalchemy_insert_and_follow_examples_work(
    database: Database, make: Make, server: Server, queue: leaseq.Queue
) -> None:
    insert_code, follow_code = (
        block.replace('"reviews"', f'"{queue.name}"') for block in code_blocks("python")
    )
    bridge = make(queue.name)
    database.run("DROP TABLE IF EXISTS message")
    namespace = {"DATABASE_URL": database.url.replace("postgresql://", "postgresql+psycopg://")}
    exec(insert_code, namespace)
    namespace["engine"].dispose()  # type: ignore[attr-defined]
    settle(bridge)
    assert queue.get("message-1").payload == {"text": "Where is my refund?"}
    finish(queue, result="delivery")
    settle(bridge)
    (row,) = database.run(code_blocks("sql")[2].replace("'reviews'", f"'{queue.name}'"))
    assert row.id == "message-1"
    exec(follow_code, {"leaseq": leaseq, "client": server.client})
    assert queue.journal(after=queue.follow("bridge")) == queue.journal(), "the follower is a new one"


def test_sql_insert_and_change_examples_work(database: Database, make: Make, queue: leaseq.Queue) -> None:
    insert, changes, _ = (block.replace("'reviews'", f"'{queue.name}'") for block in code_blocks("sql"))
    bridge = make(queue.name)
    database.run(insert.replace(":", r"\:"))
    database.add(queue.name, "message-2")
    settle(bridge)
    assert [(queue_item.id, queue_item.priority) for queue_item in queue.items("inbound")] == [
        ("message-1", 10),
        ("message-2", 100),
    ]
    for statement in changes.strip().split("\n"):
        database.run(statement)
    settle(bridge)
    assert [(queue_item.id, queue_item.priority) for queue_item in queue.items("inbound")] == [
        ("message-1", 1)
    ]


def test_reference_names_every_column_and_status() -> None:
    reference = (DOCS / "bridge.md").read_text()
    for name in (*(column.name for column in item.columns), *STATUSES):
        assert f"`{name}`" in reference
