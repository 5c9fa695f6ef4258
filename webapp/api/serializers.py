"""Serializes a queue with its policy and counts."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import leaseq
from leaseq.webapp.api.models_out import Alert, Counts


def queue_shape(queue: leaseq.Queue, policy: leaseq.Policy) -> dict[str, Any]:
    stats = queue.stats()
    return {
        "name": queue.name,
        "title": policy.title,
        "paused": stats.paused,
        "policy": policy_shape(policy),
        "form": policy.form,
        "counts": Counts.of(stats),
        "alerts": [Alert.of(alert) for alert in stats.alerts],
    }


def policy_shape(policy: leaseq.Policy) -> dict[str, Any]:
    """Every field of a policy; a tuple becomes a list."""
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in asdict(policy).items()
    }
