"""The library's objects in the shapes that JSON has them."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

import leaseq
from leaseq.transfer import answer_shape, rfc3339
from leaseq.webapp.store.accounts import Person


def lease_shape(lease: leaseq.Lease) -> dict[str, Any]:
    return {
        "queue": lease.queue,
        "id": lease.id,
        "token": lease.token,
        "payload": lease.payload,
        "attempt": lease.attempt,
        "reserved_at": rfc3339(lease.reserved_at),
        "expires_at": rfc3339(lease.expires_at),
        "lease_seconds": lease.lease_seconds,
        "draft": lease.draft,
        "person": lease.person,
    }


def finished_shape(finished: leaseq.Finished) -> dict[str, Any]:
    return {
        "id": finished.id,
        "late": finished.late,
        "replayed": finished.replayed,
        "next": lease_shape(finished.next) if finished.next else None,
    }


def grant_shape(grant: leaseq.Grant) -> dict[str, Any]:
    return {
        "token": grant.token,
        "person": grant.person,
        "attempt": grant.attempt,
        "reserved_at": rfc3339(grant.reserved_at),
        "how": grant.how,
        "ended_at": _time(grant.ended_at),
        "expires_at": _time(grant.expires_at),
        "renewals": grant.renewals,
        "reason": grant.reason,
    }


def item_shape(item: leaseq.Item) -> dict[str, Any]:
    return {
        "id": item.id,
        "state": item.state,
        "payload": item.payload,
        "priority": item.priority,
        "requires": list(item.requires),
        "assignment": item.assignment,
        "assigned_to": list(item.assigned_to),
        "due": _time(item.due),
        "attempts": item.attempts,
        "failures": item.failures,
        "last_error": item.last_error,
        "enqueued_at": rfc3339(item.enqueued_at),
        "leases": [grant_shape(grant) for grant in item.leases],
        "answers": [answer_shape(answer) for answer in item.answers],
        "late_answers": [answer_shape(answer) for answer in item.late_answers],
        "history": [grant_shape(grant) for grant in item.history],
    }


def stats_shape(stats: leaseq.Stats) -> dict[str, Any]:
    return {
        **counts_shape(stats),
        "oldest_inbound_seconds": stats.oldest_inbound_seconds,
        "overdue": stats.overdue,
        "waiting": stats.waiting,
        "paused": stats.paused,
        "counters": dict(stats.counters),
    }


def counts_shape(stats: leaseq.Stats) -> dict[str, int]:
    return {state: getattr(stats, state) for state in leaseq.STATES}


def queue_shape(queue: leaseq.Queue, policy: leaseq.Policy) -> dict[str, Any]:
    stats = queue.stats()
    return {
        "name": queue.name,
        "title": policy.title,
        "paused": stats.paused,
        "policy": policy_shape(policy),
        "form": policy.form,
        "counts": counts_shape(stats),
    }


def policy_shape(policy: leaseq.Policy) -> dict[str, Any]:
    """Every field; what is a tuple in Python is a list in JSON."""
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in asdict(policy).items()
    }


def event_shape(event: leaseq.Event) -> dict[str, Any]:
    return {
        "cursor": event.cursor,
        "at": rfc3339(event.at),
        "what": event.what,
        "id": event.id,
        "person": event.person,
        "token": event.token,
        "detail": event.detail,
    }


def person_shape(person: Person) -> dict[str, Any]:
    return {
        "name": person.name,
        "role": person.role,
        "skills": list(person.skills),
        "disabled": person.disabled,
        "created_at": rfc3339(person.created_at),
    }


def _time(time: datetime | None) -> str | None:
    return rfc3339(time) if time else None
