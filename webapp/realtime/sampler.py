"""Samples the counts of all queues once a minute, in whichever web process is first, and counts what nobody
can take, for the alerts."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache

import leaseq
from leaseq import Client, LeaseqError, webhooks
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.accounts.model import Person
from leaseq.webapp.store.queue_access import QueueAccess, count_unreachable, unreachable_rows
from leaseq.webapp.store.samples import Samples

log = logging.getLogger(__name__)
EVERY_SECONDS = 15.0  # between two checks whether this minute has a sample


class Sampler:
    """A thread of a web process that takes the samples."""

    def __init__(self, client: Client, samples: Samples, accounts: Accounts, access: QueueAccess) -> None:
        self._client, self._samples = client, samples
        self._accounts, self._access = accounts, access
        self._stop = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._run, name="leaseq-sampler", daemon=True).start()

    def close(self) -> None:
        self._stop.set()

    def _run(self) -> None:
        while not self._stop.wait(EVERY_SECONDS):
            with suppress(LeaseqError):  # the server is unavailable: a gap in the charts
                self.sample()

    def sample(self) -> None:
        """Sample all queues, unless another process did so in this minute."""
        if not self._samples.is_due():
            return
        names = [name for name in leaseq.queues(self._client) if name != webhooks.QUEUE]
        stats_by_queue, _errors = leaseq.read_queues(self._client, lambda queue: queue.stats(), names)
        self._samples.record(stats_by_queue)
        read_people = cache(self._accounts.people)
        leaseq.read_queues(self._client, lambda queue: self._check(queue, read_people), names)

    def _check(self, queue: leaseq.Queue, read_people: Callable[[], Sequence[Person]]) -> None:
        with suppress(leaseq.QueueNotFound):  # it was deleted just now
            rows = unreachable_rows(queue, self._access.get(queue.name), read_people)
            queue.check_alerts(unreachable=count_unreachable(rows))
