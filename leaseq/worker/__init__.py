"""Programs that work on queues alongside people, with a function that takes a lease and returns the result.

def handle(lease):
    return {"label": guess(lease.payload["text"])}

worker = leaseq.Worker(client, {"reviews": handle}, person="prelabel-bot", concurrency=4)
worker.run()
"""

from __future__ import annotations

from leaseq.worker.handlers import Handler, Handlers
from leaseq.worker.outcomes import WorkerStats
from leaseq.worker.worker import Worker

__all__ = ["Handler", "Handlers", "Worker", "WorkerStats"]
