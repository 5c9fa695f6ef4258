"""Checkpoints: places in the library's long loops where other work of the same thread may run.

A loop over rows, items or subschemas calls `checkpoint` each time round. That does nothing, unless the
process has set a hook: a web process, which serves many requests in one thread, lets the others run there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

_Item = TypeVar("_Item")
_hooks: list[Callable[[], object]] = []


def set_hook(hook: Callable[[], object] | None) -> None:
    """Call ``hook`` at each checkpoint from now on. It must be fast: most times, it returns at once."""
    _hooks[:] = [] if hook is None else [hook]


def checkpoint() -> None:
    """To be called each time round a loop whose length the caller of the library chooses."""
    for hook in _hooks:
        hook()


def with_checkpoints(items: Iterable[_Item]) -> Iterator[_Item]:
    """The same items, with a checkpoint before each."""
    for item in items:
        checkpoint()
        yield item
