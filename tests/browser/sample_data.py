"""Queues, people and a webhook that give each page something to show."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import leaseq
from leaseq import webhooks
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.activity import Activity
from leaseq.webapp.store.threads import Threads
from tests.browser.conftest import PASSWORD
from tests.support.leases import not_none
from tests.support.receiver import Receiver, send_test

FORM = {
    "show": [
        "text",
        {"field": "table", "kind": "table", "label": "Order"},
        {"field": "json", "kind": "json"},
    ],
    "ask": {
        "type": "object",
        "required": ["about"],
        "properties": {
            "about": {"title": "What is it about?", "enum": ["delivery", "refund"]},
            "urgent": {"title": "Is it urgent?", "type": "boolean"},
            "tags": {"type": "array", "items": {"enum": ["angry", "polite"]}},
            "count": {"type": "integer", "minimum": 0, "description": "How many parcels."},
            "when": {"type": "string", "format": "date"},
            "note": {"title": "Note", "type": "string", "maxLength": 500},
        },
    },
}


def fill(client: leaseq.Client, accounts: Accounts, worker: str, admin: str) -> dict[str, str]:
    """Create the queue and the two people. Return the values for the braces in its pages' paths."""
    for name, role in ((worker, "worker"), (admin, "admin")):
        accounts.add(name, by="test", role=role, skills=["de"], password=PASSWORD)
    accounts.create_token(worker, "a program", by=worker)
    queue = leaseq.Queue(client, "axe")
    queue.configure(title="Support triage", form=FORM, instructions="Read **all** of it.", max_attempts=1)
    payload = {
        "text": "My parcel is not here. " * 20,
        "table": {"order": 12, "by": "post"},
        "json": {"a": [1, {"b": 2}]},
    }
    for id in ("done", "dead", "held"):
        queue.enqueue(payload, id=id)
    queue.finish(not_none(queue.reserve("bob")), {"about": "refund", "urgent": True, "note": "as asked"})
    queue.fail(not_none(queue.reserve("bob")), "unreadable scan")
    assert queue.reserve(worker) is not None
    queue.enqueue(payload, id="late")
    lost_lease = not_none(queue.reserve("eva"))
    queue.release("late")
    assert queue.reserve("bob") is not None
    with pytest.raises(leaseq.LeaseLost):
        queue.finish(lost_lease, {"about": "refund", "urgent": False})
    queue.enqueue(payload, id="later", due=datetime(2020, 1, 1, tzinfo=UTC), requires=["fr"])
    queue.enqueue(payload, id="some-very-long-identifier-that-nobody-could-break-anywhere-0123456789")
    leaseq.Queue(client, "axe-some").enqueue(payload)
    leaseq.Queue(client, "axe-none").configure(title="Nothing here", instructions="- one\n- two")
    leaseq.Queue(client, "axe-paused").configure(title="A queue that rests for a while, and has a long title")
    leaseq.Queue(client, "axe-paused").pause("lunch")
    activity = Activity(client)
    activity.record(worker, "axe", "finished", id="x", token=1, active_ms=41_000, held_ms=60_000)
    activity.record(worker, "axe-none", "abandoned", id="x", token=1)
    activity.flush()
    accounts.add("axe new", by="test")
    threads = Threads(client)
    threads.ask("axe", "done", "bob", "Is this one ours? " * 20, message="1")
    threads.ask("axe-some", "some", worker, "Is this one ours?", message="1")
    return {
        "link": accounts.password_link("axe new", by="test"),
        "webhook": add_webhook(client, admin),
        "answer": str(queue.get("done").answers[0].token),
    }


def add_webhook(client: leaseq.Client, by: str) -> str:
    """Create an endpoint whose test failed, and return its id."""
    endpoints = webhooks.Endpoints(client)
    networks = webhooks.networks("127.0.0.1")
    with Receiver() as receiver:
        url = f"{receiver.url}/{'unbroken' * 8}"
        new_secret = endpoints.add(
            url, events=["item.finished", "person.*"], queues=["axe"], by=by, allow=networks
        )
    for allow in (networks, webhooks.networks("")):
        send_test(webhooks.Deliverer(client, allow), new_secret.endpoint.id)
    return new_secret.endpoint.id
