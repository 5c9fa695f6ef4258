"""The database: its engine and transactions, and its errors as leaseq's."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import sqlalchemy
from sqlalchemy import Connection, Engine, event
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from leaseq.errors import Invalid, LeaseqError

_WAIT = 10  # seconds to wait for a connection, or for another writer in SQLite
_KINDS = ("postgresql", "sqlite")
_SQLITE_UNAVAILABLE = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_CANTOPEN", "SQLITE_IOERR")
# Prefixes of SQLSTATE: connection lost, shutdown or start, too many connections.
_POSTGRESQL_UNAVAILABLE = ("08", "57P", "53300")


class DatabaseUnavailable(LeaseqError):
    """The database can't be reached: what was not committed can be retried."""


class DatabaseRefused(LeaseqError):
    """The database refused a statement: a privilege is missing, its tables have another version, its disk is
    full, or two transactions waited for each other."""


def open_database(url: str, create: bool = False) -> Engine:
    """Return an engine for the URL, without connecting yet. Raises Invalid if the URL is not usable.

    ``create``: a file of SQLite that does not exist is made. Otherwise connecting raises DatabaseRefused.
    """
    try:
        database_url = sqlalchemy.make_url(url)
    except ArgumentError:
        raise Invalid("database", "format", what="database") from None
    kind = database_url.get_backend_name()
    if kind not in _KINDS or (kind == "sqlite" and database_url.database in (None, "", ":memory:")):
        raise Invalid("database", "format", what="database")
    if kind == "postgresql":
        return _open(database_url.set(drivername="postgresql+psycopg"), connect_timeout=_WAIT)
    engine = _open(database_url.set(drivername="sqlite+pysqlite"), timeout=_WAIT)
    if not create:
        event.listen(engine, "do_connect", _refuse_missing_file)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    return engine


def _open(url: sqlalchemy.URL, **settings: Any) -> Engine:
    try:
        return sqlalchemy.create_engine(url, connect_args=settings, pool_pre_ping=True, hide_parameters=True)
    except (NoSuchModuleError, ArgumentError):  # an unknown option in the URL
        raise Invalid("database", "format", what="database") from None


def _refuse_missing_file(_dialect: object, _record: object, arguments: Any, _options: object) -> None:
    path = Path(str(arguments[0]).removeprefix("file:").partition("?")[0])
    if path.parent.exists() and not path.exists():  # without its folder, SQLite says that it can't open it
        raise DatabaseRefused(f"there is no database {path}: correct the path, or run `leaseq bridge init`")


def _prepare_sqlite(connection: Any, _record: object) -> None:
    # As SQLAlchemy recommends: transactions begin explicitly, also for CREATE TABLE.
    connection.isolation_level = None
    connection.text_factory = _decode
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")  # the server may delete what is committed here
    connection.execute("PRAGMA cache_size = -65536")  # KiB: a batch of the archiver stays in memory
    connection.execute("PRAGMA wal_autocheckpoint = 10000")  # pages


def _decode(text: bytes) -> str | bytes:
    """A value of a text column. SQLite does not check that it is UTF-8."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text


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
        driver_error = error.orig or error
        is_lost = error.connection_invalidated or is_lost_connection(driver_error)
        raise translated(driver_error, is_lost) from error


def translated(error: BaseException, is_lost: bool) -> DatabaseUnavailable | DatabaseRefused:
    """The error for one of the driver: whether the connection was lost, or could not be made, or the database
    refused a statement."""
    reason = str(error).strip().partition("\n")[0]
    if is_lost:
        return DatabaseUnavailable(f"the database does not answer: {reason}")
    return DatabaseRefused(f"the database refused: {reason}")


def is_lost_connection(error: BaseException) -> bool:
    """Whether the driver's error means that there is no connection, or that it can't be used for a while. An
    error about one statement or one value is none of these."""
    if isinstance(error, sqlite3.Error):
        return str(getattr(error, "sqlite_errorname", "")).startswith(_SQLITE_UNAVAILABLE)
    state = getattr(error, "sqlstate", None)
    if state is not None:
        return bool(state.startswith(_POSTGRESQL_UNAVAILABLE))
    # An error about a value that psycopg can't convert has no sqlstate either.
    return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)


@contextmanager
def listening(engine: Engine, channel: str) -> Iterator[Callable[[float], bool]]:
    """Yield a function that waits for a notification on the channel, at most this many seconds, and returns
    whether one came."""
    with translating(), engine.connect() as connection:
        driver_connection = connection.connection.driver_connection
        assert isinstance(driver_connection, psycopg.Connection)  # noqa: S101 - the only driver that is used

        def wait(seconds: float) -> bool:
            with _translating_driver():
                return bool(list(driver_connection.notifies(timeout=seconds, stop_after=1)))

        try:
            with _translating_driver():
                driver_connection.autocommit = True
                driver_connection.execute(f"LISTEN {channel}")
            yield wait
        finally:
            connection.invalidate()  # so that the pool does not reuse it


@contextmanager
def _translating_driver() -> Iterator[None]:
    """Translate the errors of calls that bypass SQLAlchemy."""
    try:
        yield
    except psycopg.Error as error:
        raise translated(error, is_lost_connection(error)) from error
