"""The outcome of a lease that has ended, for its holder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import leaseq

How = Literal[
    "ran out", "released", "abandoned", "failed", "finished", "undone", "taken back", "reopened", "corrected"
]
# A lease still recorded as held has expired but was not returned yet.
ENDINGS: dict[str, How] = {
    "held": "ran out",
    "expired": "ran out",
    "released": "released",
    "abandoned": "abandoned",
    "failed": "failed",
    "finished": "finished",
    "undone": "undone",
    "reopened": "reopened",
    "corrected": "corrected",
}


Obstacle = Literal["renewals", "holds"]
"""Why a lease that ran out can't be renewed: it was renewed as often as the policy allows, or the person
holds as many items as it allows."""


@dataclass(frozen=True, slots=True)
class LeaseEnd:
    """How a lease ended, as shown to its holder."""

    how: How | None  # how the lease ended; None: the item no longer exists
    at: datetime | None = None  # when it ended
    state: leaseq.State | None = None  # the item's current state
    is_free: bool = False  # not granted to anybody since: an answer counts
    obstacle: Obstacle | None = None  # why the person can't take it back, if it is free
    has_late_answer: bool = False  # their answer came too late and is kept for the manager
    new_lease: leaseq.Lease | None = None  # they hold the item again, or still
    answer_kind: Literal["first", "late"] | None = None  # of their answer, if it is one of the item's answers
    used_up: bool = False  # if dead: by its attempts, not by being given back


NO_ITEM = LeaseEnd(None)


def lease_end_of(
    item: leaseq.Item,
    token: int,
    name: str,
    leases: Sequence[leaseq.Lease],
    policy: leaseq.Policy,
    *,
    refused: bool = False,
) -> LeaseEnd | None:
    """How this grant ended; None if it was not theirs, which they may not read.

    ``leases``: those they hold now. ``refused``: the server just refused to give the item back to them.
    """
    grant = next((one for one in item.history if (one.token, one.person) == (token, name)), None)
    if grant is None:
        return None
    new_lease = next((lease for lease in leases if lease.id == item.id), None)
    ending, at = ENDINGS[grant.how], grant.ended_at or grant.expires_at
    if grant.undone in ("abandoned", "failed"):
        ending = "taken back"
    is_untouched = grant.how == "held" or grant.renewable
    is_free = ending == "ran out" and is_untouched and not refused and new_lease is None
    answer = next((one for one in item.answers if (one.token, one.person) == (token, name)), None)
    return LeaseEnd(
        ending,
        at,
        _state_for(item, name, new_lease),
        is_free,
        _obstacle(grant, len(leases), policy) if is_free else None,
        has_late_answer=any((one.token, one.person) == (token, name) for one in item.late_answers),
        new_lease=new_lease,
        answer_kind=None if answer is None else "late" if answer.late else "first",
        used_up=item.failures >= item.max_attempts,
    )


def _obstacle(grant: leaseq.Grant, held_count: int, policy: leaseq.Policy) -> Obstacle | None:
    if policy.renewals is not None and grant.renewals >= policy.renewals:
        return "renewals"
    if grant.how != "held" and held_count >= policy.holds:  # one that nobody returned yet is still theirs
        return "holds"
    return None


def _state_for(item: leaseq.Item, name: str, new_lease: leaseq.Lease | None) -> leaseq.State:
    """The item's state; ``inbound`` if only this person holds it, by an expired lease."""
    if item.state == "reserved" and new_lease is None and all(one.person == name for one in item.leases):
        return "inbound"
    return item.state
