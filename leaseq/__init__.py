"""leaseq: a work queue for people. Each item is handed out under a lease; none is lost, doubled or stuck."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leaseq import form, validation
    from leaseq.engine.client import Client, connect
    from leaseq.errors import (
        Invalid,
        ItemNotFound,
        LeaseLost,
        LeaseqError,
        QueueExists,
        QueueNotFound,
        ServerRefused,
        ServerUnavailable,
        TooLarge,
    )
    from leaseq.models import (
        STATES,
        Answer,
        Cleared,
        Conflict,
        Counts,
        Did,
        Enqueued,
        Event,
        Failed,
        Filter,
        Finished,
        Grant,
        Item,
        Json,
        Lease,
        Listed,
        NewItem,
        Nothing,
        Obstacles,
        Page,
        State,
        Stats,
        Told,
    )
    from leaseq.policy import Policy, PolicyChanged
    from leaseq.queue import Queue, queues
    from leaseq.worker import Worked, Worker

__all__ = [
    "STATES",
    "Answer",
    "Cleared",
    "Client",
    "Conflict",
    "Counts",
    "Did",
    "Enqueued",
    "Event",
    "Failed",
    "Filter",
    "Finished",
    "Grant",
    "Invalid",
    "Item",
    "ItemNotFound",
    "Json",
    "Lease",
    "LeaseLost",
    "LeaseqError",
    "Listed",
    "NewItem",
    "Nothing",
    "Obstacles",
    "Page",
    "Policy",
    "PolicyChanged",
    "Queue",
    "QueueExists",
    "QueueNotFound",
    "ServerRefused",
    "ServerUnavailable",
    "State",
    "Stats",
    "Told",
    "TooLarge",
    "Worked",
    "Worker",
    "connect",
    "form",
    "queues",
    "validation",
]

# Each name is fetched when it is first used: redis-py and the schema validator take 0.3 s to import, and
# neither `leaseq --help` nor a program that only catches errors needs them.
_HOMES = ("errors", "models", "policy", "engine.client", "queue", "worker")

if not TYPE_CHECKING:  # a type checker would take any name for one that is there

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module 'leaseq' has no attribute {name!r}")
        if name in ("form", "validation"):
            return import_module(f"leaseq.{name}")
        homes = (import_module(f"leaseq.{home}") for home in _HOMES)
        found = next(getattr(home, name) for home in homes if hasattr(home, name))
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
