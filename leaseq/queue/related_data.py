"""Deletes what other parts store about a queue outside its keys. Each part registers a function for this as
an entry point."""

from __future__ import annotations

from importlib.metadata import entry_points

from leaseq.engine.client import Client

GROUP = "leaseq.deleted"


def delete_related_data(client: Client, queue: str) -> None:
    """Have each part delete what it stores about a queue; the web app only if its packages are installed."""
    for entry in entry_points(group=GROUP):
        try:
            delete_data = entry.load()
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] == "leaseq":
                raise
            continue
        delete_data(client, queue)
