"""Serializes a queue with its policy and counts."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import leaseq
from leaseq.webapp.api.models_out import Alert, Counts


def serialize_queue(queue: leaseq.Queue, policy: leaseq.Policy) -> dict[str, Any]:
    stats = queue.stats()
    return {
        "name": queue.name,
        "title": policy.title,
        "paused": stats.paused,
        "policy": serialize_policy(policy),
        "form": policy.form,
        "counts": Counts.from_record(stats),
        "alerts": [Alert.from_record(alert) for alert in stats.alerts],
    }


def serialize_policy(policy: leaseq.Policy) -> dict[str, Any]:
    """Every field of a policy; a tuple becomes a list."""
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in asdict(policy).items()
    }
