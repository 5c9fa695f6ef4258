"""The queue of ``leaseq up --demo``: forty made-up customer messages to triage."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import leaseq

QUEUE = "demo"

FORM = {
    "show": [
        {"field": "text", "kind": "text", "label": "Message"},
        {"field": "before", "kind": "chat", "label": "Before"},
        {"field": "order", "kind": "text", "label": "Order"},
        {"field": "value", "kind": "money", "currency": "EUR", "label": "Value"},
        {"field": "received", "kind": "date", "label": "Received"},
        {"field": "language", "kind": "text", "label": "Language"},
    ],
    "ask": {
        "type": "object",
        "required": ["about", "urgency"],
        "additionalProperties": False,
        "properties": {
            "about": {
                "title": "What is it about?",
                "type": "string",
                "enum": ["Delivery", "Refund", "Account", "Product", "Other"],
            },
            "urgency": {
                "title": "How urgent?",
                "type": "string",
                "enum": ["Today", "This week", "No hurry"],
            },
            "note": {"title": "Note", "type": "string", "maxLength": 500},
        },
    },
    "keys": {
        "1": "Delivery",
        "2": "Refund",
        "3": "Account",
        "4": "Product",
        "5": "Other",
        "q": "Today",
        "w": "This week",
        "e": "No hurry",
    },
}

INSTRUCTIONS = """\
Read the message and say what it is about and how soon somebody should answer it.

- **Today**: the customer is stuck, or money or a date is at stake.
- **This week**: a plain question or a complaint that can wait a day.
- **No hurry**: thanks, ideas, and what needs no answer.

When two things are in one message, choose what the customer needs first, and name the other in the note.
"""


def add_demo(client: leaseq.Client) -> leaseq.EnqueuedMany:
    """Create the queue unless it exists, and add each message that was never added."""
    queue = leaseq.Queue(client, QUEUE)
    if not queue.exists():
        queue.configure(title="Support triage", instructions=INSTRUCTIONS, form=FORM)
    return queue.enqueue_many(
        leaseq.NewItem(message, id=f"message-{number:02}") for number, message in enumerate(messages(), 1)
    )


def messages() -> list[dict[str, Any]]:
    text = files("leaseq.webapp.demo").joinpath("messages.json").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = json.loads(text)
    return rows
