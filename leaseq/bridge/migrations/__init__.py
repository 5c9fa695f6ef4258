"""Alembic's environment and the versions of the bridge's tables."""
