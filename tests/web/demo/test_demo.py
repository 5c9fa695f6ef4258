"""The demo queue that ``leaseq up --demo`` adds."""

from __future__ import annotations

import leaseq
from leaseq.server.embedded import EmbeddedServer
from leaseq.webapp.demo import add_demo, messages


def test_the_demo_is_added_once_and_leaves_a_changed_queue_alone(own_server: EmbeddedServer) -> None:
    client = leaseq.connect(own_server.url)
    assert add_demo(client) == leaseq.EnqueuedMany(added=40, duplicates=0)
    queue = leaseq.Queue(client, "demo")
    queue.configure(title="Mine")
    lease = queue.reserve("ann")
    assert lease is not None
    queue.finish(lease, {"about": "Delivery", "urgency": "Today", "note": ""})
    assert add_demo(client) == leaseq.EnqueuedMany(added=0, duplicates=40)
    assert (queue.policy.title, queue.stats().inbound, queue.stats().finished) == ("Mine", 39, 1)


def test_the_demo_messages_are_all_different() -> None:
    assert len({message["text"] for message in messages()}) == 40
