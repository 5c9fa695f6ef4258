"""leaseq: a work queue for people. Each item is handed out under a lease; none is lost, doubled or stuck."""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leaseq import aio, checkpoints, form, validation
    from leaseq.decisions import Decision
    from leaseq.engine.client import Client, connect
    from leaseq.errors import (
        Invalid,
        ItemFinished,
        ItemNotFound,
        LeaseLost,
        LeaseqError,
        NotAnswered,
        QueueExists,
        QueueNotFound,
        QueueUnreadable,
        ServerRefused,
        ServerUnavailable,
        StillWaiting,
        TooLarge,
    )
    from leaseq.events import Event, EventKind, EventRow, History
    from leaseq.models import (
        STATES,
        Abandoned,
        Alert,
        AlertName,
        Answer,
        Answered,
        Cleared,
        Conflict,
        CounterName,
        DiedOf,
        Ending,
        Enqueued,
        EnqueuedMany,
        Erased,
        Failed,
        Filter,
        Finished,
        GivenAnswer,
        GivenAnswerRow,
        Grant,
        Ineligibility,
        Item,
        ItemChanges,
        ItemOptions,
        Json,
        Lease,
        LeaseOutcome,
        ListName,
        NewItem,
        NothingReason,
        Outcome,
        OutcomeRow,
        Page,
        PersonItem,
        QuestionOptions,
        State,
        Stats,
        Stopped,
        WaitingRow,
        WhyNothing,
    )
    from leaseq.policy import Durable, Policy, PolicyChanged, PolicyChanges
    from leaseq.queue import Queue, queues, read_queues
    from leaseq.worker import Worker, WorkerStats

__all__ = [
    "STATES",
    "Abandoned",
    "Alert",
    "AlertName",
    "Answer",
    "Answered",
    "Cleared",
    "Client",
    "Conflict",
    "CounterName",
    "Decision",
    "DiedOf",
    "Durable",
    "Ending",
    "Enqueued",
    "EnqueuedMany",
    "Erased",
    "Event",
    "EventKind",
    "EventRow",
    "Failed",
    "Filter",
    "Finished",
    "GivenAnswer",
    "GivenAnswerRow",
    "Grant",
    "History",
    "Ineligibility",
    "Invalid",
    "Item",
    "ItemChanges",
    "ItemFinished",
    "ItemNotFound",
    "ItemOptions",
    "Json",
    "Lease",
    "LeaseLost",
    "LeaseOutcome",
    "LeaseqError",
    "ListName",
    "NewItem",
    "NotAnswered",
    "NothingReason",
    "Outcome",
    "OutcomeRow",
    "Page",
    "PersonItem",
    "Policy",
    "PolicyChanged",
    "PolicyChanges",
    "QuestionOptions",
    "Queue",
    "QueueExists",
    "QueueNotFound",
    "QueueUnreadable",
    "ServerRefused",
    "ServerUnavailable",
    "State",
    "Stats",
    "StillWaiting",
    "Stopped",
    "TooLarge",
    "WaitingRow",
    "WhyNothing",
    "Worker",
    "WorkerStats",
    "aio",
    "checkpoints",
    "connect",
    "form",
    "queues",
    "read_queues",
    "validation",
]

# Each name is imported on first use: redis-py and the schema validator take 0.3 s to import, and neither
# `leaseq --help` nor a program that only catches errors needs them.
_SOURCE_MODULES = ("errors", "models", "decisions", "events", "policy", "engine.client", "queue", "worker")

__version__: str  # of the installed package

if not TYPE_CHECKING:  # a type checker would accept any name

    def __getattr__(name: str) -> object:
        if name not in __all__ and name != "__version__":
            raise AttributeError(f"module 'leaseq' has no attribute {name!r}")
        if name in ("aio", "checkpoints", "form", "validation"):
            return _import_module(f"leaseq.{name}")
        if name == "__version__":  # importing importlib.metadata takes longer than all of the above
            return _import_module("importlib.metadata").version("leaseq")
        modules = (_import_module(f"leaseq.{module}") for module in _SOURCE_MODULES)
        value = next(getattr(module, name) for module in modules if hasattr(module, name))
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*__all__, *(name for name in globals() if name.startswith("__")), "__version__"})
