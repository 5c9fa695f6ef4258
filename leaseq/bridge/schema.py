"""The versions of the bridge's tables: created and upgraded by Alembic, and checked."""

from __future__ import annotations

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine

from leaseq.bridge.database import DatabaseRefused, transaction

_VERSION_TABLE = "leaseq_version"


def upgrade(engine: Engine) -> tuple[str | None, str]:
    """Create the tables or upgrade them to this version, in one transaction.

    Returns the old version (None: no tables) and the new one. Raises DatabaseRefused if a newer leaseq
    created the tables.
    """
    config = _config()
    with transaction(engine) as connection:
        old_version = _version(connection)
        _refuse_newer(old_version)
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        return old_version, _versions()[0]


def check(engine: Engine) -> None:
    """Raise DatabaseRefused unless the tables have this version."""
    with transaction(engine) as connection:
        version = _version(connection)
    _refuse_newer(version)
    newest_version = _versions()[0]
    if version != newest_version:
        raise DatabaseRefused(
            f"database: expected leaseq's tables of version {newest_version}, got {version or 'none'}: "
            "run `leaseq bridge init`"
        )


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", "leaseq.bridge:migrations")
    config.set_main_option("path_separator", "os")
    return config


def _version(connection: Connection) -> str | None:
    context = MigrationContext.configure(connection, opts={"version_table": _VERSION_TABLE})
    return context.get_current_revision()


def _versions() -> list[str]:
    """The versions, newest first."""
    return [script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()]


def _refuse_newer(version: str | None) -> None:
    if version is not None and version not in _versions():
        raise DatabaseRefused(
            f"the database has leaseq tables of version {version}, which a newer leaseq made: use that one"
        )
