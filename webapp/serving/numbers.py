"""Parses whole numbers in browser input."""

from __future__ import annotations

_DIGITS = 16  # of the largest token


def whole(text: str | None) -> int | None:
    """The number from 0 on that a field says in digits; None where it says none."""
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) <= _DIGITS else None
