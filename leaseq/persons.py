"""What a queue has of one person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from leaseq.models import Answer, Grant, Json, State

Relation: TypeAlias = Literal["answered", "barred", "put-off"]
"""What an item is to a person: they gave an answer that counts, never get it again, or get it where nothing
else waits for them."""

SIGNS: Final[dict[str, Relation]] = {"=": "answered", "-": "barred", "~": "put-off"}


@dataclass(frozen=True, slots=True)
class PersonItem:
    """What an item has of one person. ``grants`` are their leases of it, past and present, oldest first."""

    id: str
    state: State
    grants: tuple[Grant, ...]
    answers: tuple[Answer, ...]  # theirs that count
    late_answers: tuple[Answer, ...]  # theirs that do not
    relation: Relation | None  # barred: never given to them again; put-off: only if nothing else waits
    assigned: bool  # it was assigned to them at some time
    has_draft: bool  # whether they have a draft of an answer
    draft: Json  # that draft, or None


@dataclass(frozen=True, slots=True)
class Erased:
    """What `Queue.erase_person` did."""

    items: int  # items that named the person
    leases: int  # leases of theirs that it ended
