"""Samples the counts of all queues once a minute, in whichever web process is first."""

from __future__ import annotations

import logging
import threading
from contextlib import suppress

import leaseq
from leaseq import Client, LeaseqError, webhooks
from leaseq.webapp.store.samples import Samples

log = logging.getLogger(__name__)
EVERY_SECONDS = 15.0  # between two checks whether this minute has a sample


class Sampler:
    """A thread of a web process that takes the samples."""

    def __init__(self, client: Client, samples: Samples) -> None:
        self._client, self._samples = client, samples
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
