"""Live updates of the dashboards with server-sent events (docs/decisions/0007-events.md)."""
