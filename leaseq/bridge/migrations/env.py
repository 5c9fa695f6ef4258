"""Alembic's environment: runs on the connection that `leaseq.bridge.schema` passes to it."""

from __future__ import annotations

from alembic import context

from leaseq.bridge.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table="leaseq_version",
    transactional_ddl=True,
    include_name=lambda name, kind, _: kind != "table" or str(name).startswith("leaseq_"),
)
with context.begin_transaction():
    context.run_migrations()
