"""What a queue stores about one person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from leaseq.models import Answer, Grant, Json, State

Relation: TypeAlias = Literal["answered", "barred", "put-off"]
"""How an item relates to a person: they gave an answer that counts, never get it again, or get it only if
nothing else waits for them."""

SIGNS: Final[dict[str, Relation]] = {"=": "answered", "-": "barred", "~": "put-off"}


@dataclass(frozen=True, slots=True)
class PersonItem:
    """What an item stores about one person. ``grants``: their past and present leases of it, oldest first."""

    id: str
    state: State
    grants: tuple[Grant, ...]
    answers: tuple[Answer, ...]  # their answers that count
    late_answers: tuple[Answer, ...]  # their answers that don't count
    relation: Relation | None  # barred: they never get it again; put-off: only if nothing else waits for them
    assigned: bool  # it was assigned to them at some time
    has_draft: bool  # whether they have a draft of an answer
    draft: Json  # that draft, or None


@dataclass(frozen=True, slots=True)
class Erased:
    """What `Queue.erase_person` did."""

    items: int  # items that named the person
    leases: int  # leases of the person that it ended
