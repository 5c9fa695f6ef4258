"""Why there is nothing to work on, as a person is told."""

from __future__ import annotations

from dataclasses import dataclass

import leaseq
from webapp.accounts import Person

LOOKS = 100  # how many of the waiting items are looked at to say why they are not for this person
MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Obstacles:
    """Why what waits is not for this person."""

    skills: tuple[str, ...]  # what they lack, a text for each set of skills
    assigned: bool  # some of it is meant for somebody else
    passed: bool  # some of it they answered, or said that it is not for them


def obstacles_of(queue: leaseq.Queue, me: Person) -> Obstacles:
    """What the first of the waiting items say."""
    lacking: dict[tuple[str, ...], None] = {}
    assigned = passed = False
    for item in queue.page("inbound", limit=LOOKS).items:
        missing = tuple(skill for skill in item.requires if skill not in me.skills)
        if item.assigned_to and me.name not in item.assigned_to:
            assigned = True
        elif missing and not item.assigned_to:
            lacking[missing] = None
        else:
            passed = True
    texts = [" and ".join(missing) for missing in sorted(lacking, key=lambda one: (len(one), one))]
    return Obstacles(tuple(texts[:MOST_NAMED]), assigned, passed)
