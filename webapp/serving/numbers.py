"""Parses whole numbers in browser input."""

from __future__ import annotations

_DIGITS = 16  # of the largest token


def whole_number(text: str | None) -> int | None:
    """The number of a field's digits, from 0; None where it is not a number."""
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) <= _DIGITS else None
