"""How far answers can be trusted: how much people agree, and what the answer of an item with several is."""

from __future__ import annotations

from leaseq.quality.equality import is_equal
from leaseq.quality.measures import Agreement, Level, Undefined, agreement
from leaseq.quality.voting import Vote, dawid_skene, largest_group, majority

__all__ = [
    "Agreement",
    "Level",
    "Undefined",
    "Vote",
    "agreement",
    "dawid_skene",
    "is_equal",
    "largest_group",
    "majority",
]
