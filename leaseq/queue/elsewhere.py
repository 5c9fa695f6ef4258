"""Deletes what other parts keep about a queue outside its keys. Each part names the function that does so by
an entry point."""

from __future__ import annotations

from importlib.metadata import entry_points

from leaseq.engine.client import Client

GROUP = "leaseq.deleted"


def forget_elsewhere(client: Client, queue: str) -> None:
    """Have each part delete what it has of a queue. The web app's do where its packages are installed."""
    for entry in entry_points(group=GROUP):
        try:
            forget = entry.load()
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] == "leaseq":
                raise
            continue
        forget(client, queue)
