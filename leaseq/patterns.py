"""The regular expressions of a form: how large they may be, and what matching them costs.

The engine is linear in the text, but its time for a character grows with the compiled pattern: ``a{9999}b``
took 20 s for 20 kB. docs/decisions/0032-patterns.md has the measurements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import jsonschema_rs

from leaseq.checkpoints import checkpoint

MAX_SIZE = 100_000
"""The maximum size of one compiled pattern, in bytes."""

MAX_TOTAL_SIZE = 2_000_000
"""The maximum of the sizes of a form's patterns together."""

MAX_NANOSECONDS = 25_000_000
"""The maximum time for matching a result's texts, by the costs below. One that doesn't fit is matched
twice."""

OPTIONS = jsonschema_rs.RegexOptions(size_limit=MAX_SIZE)

_UNLIMITED = jsonschema_rs.RegexOptions(size_limit=1_000 * MAX_SIZE)
_COSTS = {1_000: 25, 3_000: 500, 10_000: 1_000, 20_000: 1_600, 50_000: 3_600, MAX_SIZE: 13_400}
"""Nanoseconds for a character, by the pattern's size: the slowest of 16 families of patterns on six texts."""


@dataclass(frozen=True, slots=True)
class MatchCosts:
    """What matching a form's patterns on a result costs, in nanoseconds per character of its JSON."""

    shared: int = 0  # of the patterns that apply to the whole result
    by_question: Mapping[str, int] = field(default_factory=dict)  # of those that apply to one answer

    def max_length(self, name: str) -> int:
        """The maximum length of an answer, in characters of JSON, if all others are short."""
        return MAX_NANOSECONDS // max(1, self.shared + self.by_question.get(name, 0))

    def question_too_long(self, lengths: Mapping[str, int]) -> str | None:
        """The most expensive answer, by the length of each, if matching all of them costs too much."""
        costs = {
            name: length * (self.shared + self.by_question.get(name, 0)) for name, length in lengths.items()
        }
        if sum(costs.values()) <= MAX_NANOSECONDS:
            return None
        return max(costs, key=lambda name: costs[name])


def patterns_in(schema: Mapping[str, Any]) -> Iterator[str]:
    """The patterns of one subschema, without those of the subschemas in it."""
    if isinstance(schema.get("pattern"), str):
        yield schema["pattern"]
    members = schema.get("patternProperties")
    if isinstance(members, dict):
        yield from members


@lru_cache(maxsize=4_096)
def size_of(pattern: str) -> int:
    """The size of a compiled pattern, rounded up to one of the sizes with a measured cost. Raises ValueError
    if it is too large, or not a pattern."""
    checkpoint()
    for size in _COSTS:
        if _compiles(pattern, jsonschema_rs.RegexOptions(size_limit=size)):
            return size
    if _compiles(pattern, _UNLIMITED):
        raise ValueError(
            f"a pattern of at most {MAX_SIZE:,} bytes when compiled; {pattern!r:.80} is larger: repeat less "
            "in it, or limit the length with maxLength"
        )
    raise ValueError(
        f"a regular expression without look-around and back references; {pattern!r:.80} is not one"
    )


def cost_of(pattern: str) -> int:
    """The nanoseconds that matching the pattern takes for a character, at most."""
    return _COSTS[size_of(pattern)]


def _compiles(pattern: str, options: jsonschema_rs.RegexOptions) -> bool:
    try:
        jsonschema_rs.Draft202012Validator({"pattern": pattern}, pattern_options=options)
    except (jsonschema_rs.ValidationError, ValueError):
        return False
    return True
