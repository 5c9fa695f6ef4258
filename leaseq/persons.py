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
    relation: Relation | None
    assigned: bool  # at some time, to them alone
    has_draft: bool  # of their lease
    draft: Json


@dataclass(frozen=True, slots=True)
class Erased:
    """What `Queue.erase_person` did."""

    items: int  # that named the person
    leases: int  # of theirs that it ended
