"""Iterates over the items of a call that accepts any number, also asynchronously."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable
from typing import TypeVar

from leaseq.engine import arguments

T = TypeVar("T")


async def each(items: Iterable[T] | AsyncIterable[T]) -> AsyncIterator[T]:
    """The items. Raises Invalid."""
    if isinstance(items, AsyncIterable):
        async for item in items:
            yield item
    else:
        for item in arguments.each(items):
            yield item
