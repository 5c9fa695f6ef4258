"""Suggests the known name that is closest to a misspelt one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, known_names: Iterable[str], otherwise: str = "") -> str:
    """A question that suggests the known name closest to ``name``; ``otherwise`` if none is close."""
    matches = get_close_matches(name.lower(), sorted(known_names), n=1, cutoff=0.5)
    return f"did you mean {matches[0]}?" if matches else otherwise


def no_queue(name: str, known_names: Iterable[str]) -> str:
    """The error text for a queue that does not exist, with a suggestion from the known names."""
    suggestion = did_you_mean(name, known_names)
    return f"there is no queue {name!r}" + (f"; {suggestion}" if suggestion else "")
