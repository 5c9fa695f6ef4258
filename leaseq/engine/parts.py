"""The installed parts of leaseq, which register what they add as entry points: the web app's packages may be
missing."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

from leaseq.engine.client import Client

GROUP = "leaseq.deleted"


def load_parts(group: str) -> tuple[list[Any], str]:
    """The entry points of a group, and the package whose absence keeps one from loading, or ''."""
    loaded, missing_package = [], ""
    for entry in entry_points(group=group):
        try:
            loaded.append(entry.load())
        except ModuleNotFoundError as error:
            missing_package = (error.name or "").partition(".")[0]
            if missing_package == "leaseq":
                raise
    return loaded, missing_package


def delete_related_data(client: Client, queue: str) -> None:
    """Have each part delete what it stores about a queue outside its keys."""
    for delete_data in load_parts(GROUP)[0]:
        delete_data(client, queue)
