"""A queue to which most people have no access."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask

import leaseq
from leaseq.webapp.context import EXTENSION
from leaseq.webapp.store.queue_access import Access, Group, QueueAccess


@pytest.fixture
def access(app: Flask) -> QueueAccess:
    queue_access: QueueAccess = app.extensions[EXTENSION].access
    return queue_access


@pytest.fixture
def closed_queue(queue: leaseq.Queue, access: QueueAccess) -> Iterator[leaseq.Queue]:
    """A queue that only eva may work on or manage."""
    queue.configure(title=f"Closed {queue.name}")
    queue.enqueue({}, id="one")
    access.set(queue.name, Access(Group(people=("eva",)), Group(people=("eva",))))
    yield queue
    access.set(queue.name, Access())
