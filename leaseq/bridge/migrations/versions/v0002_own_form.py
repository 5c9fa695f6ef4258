"""An item's own form, the time until when its answer is needed, and the person who is to have it."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    json, time = ("json", "timestamptz") if is_postgresql else ("text", "text")
    for column in (f"form {json}", f"expires_at {time}", "assignee text"):
        op.execute(f"ALTER TABLE leaseq_item ADD COLUMN {column}")
