"""Checkpoints: places in the library's long loops where other work of the same thread may run.

A loop over rows, items or subschemas calls `checkpoint` each time round. That does nothing, unless the
process has set a hook: a web process, which serves many requests in one thread, lets the others run there.
Long work of another library, whose loops have no checkpoints, is passed to `run_beside`, which calls it
unless the process has set a runner: a web process has it done in another thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias, TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
Runner: TypeAlias = Callable[[Callable[[], Any]], Any]
_hooks: list[Callable[[], object]] = []
_runners: list[Runner] = []


def set_hook(hook: Callable[[], object] | None) -> None:
    """Call ``hook`` at each checkpoint from now on. It must be fast: most times, it returns at once."""
    _hooks[:] = [] if hook is None else [hook]


def set_runner(runner: Runner | None) -> None:
    """Have ``runner`` call the functions that have no checkpoints from now on. It returns what the function
    returns, and raises what it raises. They use no server, and are called one after another."""
    _runners[:] = [] if runner is None else [runner]


def run_beside(function: Callable[[], _Result]) -> _Result:
    """The result of a function that may run long and has no checkpoints."""
    for runner in _runners:
        result: _Result = runner(function)
        return result
    return function()


def checkpoint() -> None:
    """To be called each time round a loop whose length the caller of the library chooses."""
    for hook in _hooks:
        hook()


def with_checkpoints(items: Iterable[_Item]) -> Iterator[_Item]:
    """The same items, with a checkpoint before each."""
    for item in items:
        checkpoint()
        yield item
