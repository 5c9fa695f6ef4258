"""leaseq: a work queue for people. Each item is handed out under a lease; none is lost, doubled or stuck."""

from leaseq import form, strict
from leaseq.connection import Client, connect
from leaseq.errors import (
    Invalid,
    ItemNotFound,
    LeaseLost,
    LeaseqError,
    QueueNotFound,
    ServerRefused,
    ServerUnavailable,
)
from leaseq.model import (
    STATES,
    Answer,
    Cleared,
    Counts,
    Enqueued,
    Event,
    Failed,
    Finished,
    Grant,
    Item,
    Json,
    Lease,
    NewItem,
    Nothing,
    Page,
    State,
    Stats,
)
from leaseq.policy import Policy
from leaseq.queue import Queue, queues

__all__ = [
    "STATES",
    "Answer",
    "Cleared",
    "Client",
    "Counts",
    "Enqueued",
    "Event",
    "Failed",
    "Finished",
    "Grant",
    "Invalid",
    "Item",
    "ItemNotFound",
    "Json",
    "Lease",
    "LeaseLost",
    "LeaseqError",
    "NewItem",
    "Nothing",
    "Page",
    "Policy",
    "Queue",
    "QueueNotFound",
    "ServerRefused",
    "ServerUnavailable",
    "State",
    "Stats",
    "connect",
    "form",
    "queues",
    "strict",
]
