"""Parses whole numbers in browser input."""

from __future__ import annotations

_DIGITS = 16  # of the largest token


def whole_number(text: str | None) -> int | None:
    """The whole number in a field, from 0; None if it is not one."""
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) <= _DIGITS else None
