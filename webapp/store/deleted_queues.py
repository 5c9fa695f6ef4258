"""What the web app's stores have of a queue goes with the queue.

The library calls this where it deletes one, by pyproject.toml, and it needs no more rights than the library.
What stays: the managers' log, people's notices of new tokens, and for a day the replies that calls with an
Idempotency-Key got.
"""

from __future__ import annotations

from leaseq import Client
from leaseq.webapp.store import import_keys
from leaseq.webapp.store.accounts.tokens import Tokens
from leaseq.webapp.store.activity import Activity
from leaseq.webapp.store.base import Store
from leaseq.webapp.store.list_settings import ListsSettings
from leaseq.webapp.store.queue_access import QueueAccess
from leaseq.webapp.store.samples import Samples
from leaseq.webapp.store.simulations import Simulations
from leaseq.webapp.store.threads import Threads


class _Imports(Store):
    def forget_queue(self, queue: str) -> None:
        """Delete the import jobs of a queue, with their rejected rows."""
        for keys in self._keys_like(import_keys.run("*")):
            queues = self._client.ask(*(("HGET", key, "queue") for key in keys))
            for key, of in zip(keys, queues, strict=True):
                if of == queue.encode():
                    id = key.removeprefix(import_keys.run(""))
                    self._client.ask(("UNLINK", key), ("UNLINK", import_keys.bad_rows(id)))
        self._client.ask(("UNLINK", import_keys.latest(queue)))


def forget_queue(client: Client, queue: str) -> None:
    """Delete its threads, access, tokens, saved views, samples, simulation, imports, and people's figures."""
    for store in (Threads, QueueAccess, Tokens, ListsSettings, Samples, Simulations, Activity, _Imports):
        store(client).forget_queue(queue)
