"""What the web app's stores have of a queue goes with the queue.

The library calls this where it deletes one, by pyproject.toml, and it needs no more rights than the library.
What stays: the managers' log, people's notices of new tokens, and for a day the replies that calls with an
Idempotency-Key got.
"""

from __future__ import annotations

from leaseq import Client
from leaseq.webapp.store.accounts.tokens import Tokens
from leaseq.webapp.store.activity import Activity
from leaseq.webapp.store.imports import Imports
from leaseq.webapp.store.list_settings import ListsSettings
from leaseq.webapp.store.queue_access import QueueAccess
from leaseq.webapp.store.samples import Samples
from leaseq.webapp.store.simulations import Simulations
from leaseq.webapp.store.threads import Threads


def forget_queue(client: Client, queue: str) -> None:
    """Delete its threads, access, tokens, saved views, samples, simulation, imports, and people's figures."""
    for store in (Threads, QueueAccess, Tokens, ListsSettings, Samples, Simulations, Activity, Imports):
        store(client).forget_queue(queue)
