"""The dialect of a database."""

from __future__ import annotations

from sqlalchemy import Engine

from leaseq.bridge.dialect import Dialect
from leaseq.bridge.postgresql import PostgreSQL
from leaseq.bridge.sqlite import SQLite


def dialect_of(engine: Engine) -> Dialect:
    return PostgreSQL() if engine.dialect.name == "postgresql" else SQLite()
