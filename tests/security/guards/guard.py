"""What a guard is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Guard:
    """A piece of a file that keeps somebody out; with ``instead`` in its place it does not."""

    row: str
    file: str
    piece: str
    instead: str
    test: str  # as pytest names it; several with spaces between


def guards(row: str, file: str, test: str, *changes: tuple[str, str]) -> tuple[Guard, ...]:
    """Pieces of one file that the same test watches."""
    return tuple(Guard(row, file, piece, instead, test) for piece, instead in changes)
