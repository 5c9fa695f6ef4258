"""The messages of rules, for babel: they stand in tables, without a call around each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from leaseq import sentences


def extract(*_: Any, **__: Any) -> Iterator[tuple[int, str, str, list[str]]]:
    """Each text as babel expects it: line, function, message, comments."""
    for text in sentences.texts():
        yield 1, "gettext", text, []
