"""Iteration over the items of a call that accepts any number of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from leaseq.errors import Invalid

T = TypeVar("T")


def each(items: Iterable[T]) -> Iterable[T]:
    """Return the items. Raises Invalid if they are not an iterable, or are text, bytes or a mapping."""
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise Invalid(
            "items",
            "type",
            type="a list or another iterable of payloads or NewItems",
            kind=type(items).__name__,
        )
    return items
