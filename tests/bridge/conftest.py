"""A database of each kind with the bridge's tables, and a bridge that runs step by step."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, insert, select, text, update

import leaseq
from leaseq.bridge import schema
from leaseq.bridge.database import open_database
from leaseq.bridge.registry import Window
from leaseq.bridge.run import Bridge, Settings
from leaseq.bridge.tables import answer, event, item
from tests.conftest import Server
from tests.support.databases import postgresql
from tests.support.leases import not_none

TABLES = "leaseq_item, leaseq_answer, leaseq_event, leaseq_change, leaseq_bridge"


class Database:
    """A database, with short methods to write and read the bridge's tables."""

    def __init__(self, engine: Engine, url: str) -> None:
        self.engine = engine
        self.url = url
        self.is_postgresql = engine.dialect.name == "postgresql"

    def run(self, statement: str, **values: object) -> Sequence[Any]:
        with self.engine.begin() as connection:
            result = connection.execute(text(statement), values)
            return result.all() if result.returns_rows else []

    def add(self, queue: str, *ids: str, payload: object = None, **columns: Any) -> None:
        """Insert rows as an application does."""
        rows = [
            {"queue": queue, "id": id, "payload": self.json(payload or {"n": id}), **columns} for id in ids
        ]
        with self.engine.begin() as connection:
            for row in rows:  # with a different time for each
                connection.execute(insert(item).values(row))

    def json(self, value: object) -> object:
        return value if self.is_postgresql else json.dumps(value)

    def change(self, id: str, **columns: Any) -> None:
        with self.engine.begin() as connection:
            connection.execute(update(item).where(item.c.id == id).values(columns))

    def statuses(self) -> dict[str, str]:
        with self.engine.begin() as connection:
            return {row.id: row.status for row in connection.execute(select(item.c.id, item.c.status))}

    def error(self, id: str) -> str | None:
        with self.engine.begin() as connection:
            error: str | None = connection.execute(select(item.c.error).where(item.c.id == id)).scalar_one()
            return error

    def answers(self) -> list[tuple[str, str, Any, bool, bool]]:
        """Return id, person, result, late and accepted of each answer."""
        columns = (answer.c.id, answer.c.person, answer.c.result, answer.c.late, answer.c.accepted)
        with self.engine.begin() as connection:
            rows = connection.execute(select(*columns).order_by(answer.c.token)).all()
        return [
            (id, person, result if self.is_postgresql else json.loads(result), bool(late), bool(accepted))
            for id, person, result, late, accepted in rows
        ]

    def events(self) -> list[tuple[str, str | None]]:
        with self.engine.begin() as connection:
            rows = connection.execute(
                select(event.c.what, event.c.id).order_by(event.c.position, event.c.number)
            )
            return [(what, id) for what, id in rows]


@pytest.fixture(scope="session")
def postgresql_url() -> Iterator[str]:
    with postgresql() as server:
        yield server.url


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'work.db'}"
    url: str = request.getfixturevalue("postgresql_url")
    return url


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    engine = open_database(database_url, create=True)
    schema.upgrade(engine)
    database = Database(engine, database_url)
    if database.is_postgresql:
        database.run(f"TRUNCATE {TABLES}")
    yield database
    engine.dispose()


only_postgresql = pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
only_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


Make = Callable[..., Bridge]


@pytest.fixture
def make(server: Server, database: Database) -> Make:
    def bridge(*queues: str, high: int = 100, low: int = 50, **settings: Any) -> Bridge:
        return Bridge(server.client, database.engine, Settings(Window(high, low), queues, **settings))

    return bridge


@pytest.fixture
def bridge(make: Make, queue: leaseq.Queue) -> Bridge:
    return make(queue.name)


def settle(bridge: Bridge) -> None:
    """Call ``step()`` until nothing is left to do."""
    while bridge.step():
        pass


def finish(queue: leaseq.Queue, person: str = "ann", result: object = "yes") -> leaseq.Lease:
    lease = not_none(queue.reserve(person))
    queue.finish(lease, result)
    return lease


def lose(server: Server, queue: leaseq.Queue) -> None:
    """Let the server lose a queue."""
    for key in server.redis.scan_iter(f"leaseq:{{{queue.name}}}:*"):
        server.redis.delete(key)


@pytest.fixture
def dead_item_id(database: Database, bridge: Bridge, queue: leaseq.Queue) -> str:
    """Return the id of an item that is dead in the queue and in the database."""
    queue.configure(max_attempts=1)
    database.add(queue.name, "a")
    settle(bridge)
    queue.fail(not_none(queue.reserve("ann")), "unreadable")
    settle(bridge)
    assert database.statuses() == {"a": "dead"}
    return "a"
