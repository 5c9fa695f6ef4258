"""Goes through the items of a call that takes any number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from leaseq.errors import Invalid

T = TypeVar("T")


def each(items: Iterable[T]) -> Iterable[T]:
    """The items. Raises Invalid."""
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise Invalid("items", "a list or another iterable of payloads or NewItems")
    return items
