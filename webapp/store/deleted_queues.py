"""Deletes a queue's data from the web app's stores when the queue is deleted.

The library finds this by an entry point in pyproject.toml, and it needs no more rights than the library. What
stays: the managers' log, people's notices of new tokens, and for a day the stored responses to calls with an
Idempotency-Key.
"""

from __future__ import annotations

from leaseq import Client
from leaseq.webapp.store.accounts.tokens import Tokens
from leaseq.webapp.store.activity import Activity
from leaseq.webapp.store.imports import Imports
from leaseq.webapp.store.list_settings import ListSettingsStore
from leaseq.webapp.store.queue_access import QueueAccess
from leaseq.webapp.store.samples import Samples
from leaseq.webapp.store.simulations import Simulations
from leaseq.webapp.store.threads import Threads


def forget_queue(client: Client, queue: str) -> None:
    """Delete its threads, access, tokens, saved views, samples, simulation, imports, and people's figures."""
    for store in (Threads, QueueAccess, Tokens, ListSettingsStore, Samples, Simulations, Activity, Imports):
        store(client).forget_queue(queue)
