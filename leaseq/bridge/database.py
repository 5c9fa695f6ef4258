"""Opens the database, and translates its errors into leaseq's."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy
from sqlalchemy import Connection, Engine, event
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from leaseq.errors import Invalid, LeaseqError

_WAIT = 10  # seconds to wait for a connection, or for another writer in SQLite
_KINDS = ("postgresql", "sqlite")
_SQLITE_UNAVAILABLE = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_CANTOPEN", "SQLITE_IOERR")
# Prefixes of SQLSTATE: connection lost, shutdown or start, too many connections, deadlock.
_POSTGRESQL_UNAVAILABLE = ("08", "57P", "53300", "40")
URLS = "postgresql://user:password@host/database, or sqlite:////path/to/a/file"


class DatabaseUnavailable(LeaseqError):
    """The database can't be reached, or ended the transaction: what was not committed can be retried."""


class DatabaseRefused(LeaseqError):
    """The database refused a statement: a privilege is missing, its tables have another version, or its disk
    is full."""


def open_database(url: str) -> Engine:
    """Return an engine for the URL, without connecting yet. Raises Invalid if the URL is not usable."""
    try:
        database_url = sqlalchemy.make_url(url)
    except ArgumentError:
        raise Invalid("database", URLS) from None
    kind = database_url.get_backend_name()
    if kind not in _KINDS or (kind == "sqlite" and database_url.database in (None, "", ":memory:")):
        raise Invalid("database", URLS)
    if kind == "postgresql":
        return _open(database_url.set(drivername="postgresql+psycopg"), connect_timeout=_WAIT)
    engine = _open(database_url.set(drivername="sqlite+pysqlite"), timeout=_WAIT)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _open(url: sqlalchemy.URL, **settings: Any) -> Engine:
    try:
        return sqlalchemy.create_engine(url, connect_args=settings, pool_pre_ping=True, hide_parameters=True)
    except (NoSuchModuleError, ArgumentError):  # an unknown option in the URL
        raise Invalid("database", URLS) from None


def _prepare_sqlite(connection: Any, _record: object) -> None:
    # As SQLAlchemy recommends: transactions begin explicitly, also for CREATE TABLE.
    connection.isolation_level = None
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")  # the server may delete what is committed here
    connection.execute("PRAGMA cache_size = -65536")  # KiB: a batch of the archiver stays in memory
    connection.execute("PRAGMA wal_autocheckpoint = 10000")  # pages


def _begin_sqlite(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


@contextmanager
def transaction(engine: Engine) -> Iterator[Connection]:
    """Open a transaction, which is committed at the end. Raises DatabaseUnavailable or DatabaseRefused."""
    with translating(), engine.begin() as connection:
        yield connection


@contextmanager
def translating() -> Iterator[None]:
    """Translate the database's errors into leaseq's."""
    try:
        yield
    except DBAPIError as error:
        reason = str(error.orig).strip().partition("\n")[0]
        if _is_unavailable(error):
            raise DatabaseUnavailable(f"the database does not answer: {reason}") from error
        raise DatabaseRefused(f"the database refused: {reason}") from error


def _is_unavailable(error: DBAPIError) -> bool:
    """Whether a retry may succeed."""
    if error.connection_invalidated:
        return True
    if isinstance(error.orig, sqlite3.Error):
        return str(getattr(error.orig, "sqlite_errorname", "")).startswith(_SQLITE_UNAVAILABLE)
    state = getattr(error.orig, "sqlstate", None)  # None: there is no connection
    return state is None or state.startswith(_POSTGRESQL_UNAVAILABLE)
