"""Time slices: a request that works for long lets others run now and then.

All requests of a web process run in one thread, and gevent changes from one to another only where one waits.
A loop over many rows waits for nothing, so it calls `end_slice_when_over` each time round, as the library's
long loops do at their checkpoints. docs/decisions/0033-time-slices.md has the figures.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Any, TypeVar, cast

import gevent

from leaseq import checkpoints

SLICE_SECONDS = 0.01
_LEAST_SECONDS = 1e-6  # with 0, gevent would see new requests and data only after 50 slices
_Result = TypeVar("_Result")

in_slices = checkpoints.with_checkpoints
"""Yields the same items, and lets other requests run before one of them if a slice is over."""

_slice_began: ContextVar[float] = ContextVar("slice_began", default=0.0)


def init_time_slices() -> None:
    """Let the library's long loops run in slices, too, and what has no checkpoints in native threads."""
    checkpoints.set_hook(end_slice_when_over)
    checkpoints.set_runner(run_beside)


def end_slice_when_over() -> None:
    """Let other requests run, if this one has run for a slice. Outside gevent, do nothing."""
    if time.monotonic() - _slice_began.get() < SLICE_SECONDS:
        return
    if isinstance(gevent.getcurrent(), gevent.Greenlet):
        gevent.sleep(_LEAST_SECONDS)
    _slice_began.set(time.monotonic())


def run_beside(function: Callable[..., _Result], *arguments: Any) -> _Result:
    """Run a function in a native thread, so that other requests go on: for Python code without checkpoints,
    and for C code that releases the interpreter's lock. It must not use the server or the request."""
    if not isinstance(gevent.getcurrent(), gevent.Greenlet):
        return function(*arguments)
    value, error = gevent.get_hub().threadpool.apply(_value_or_error, (function, arguments))
    if error is not None:
        raise error
    return cast("_Result", value)


def _value_or_error(function: Callable[..., Any], arguments: Any) -> tuple[Any, Exception | None]:
    """The value that a function returns, or the error that it raises, as values: the pool writes a traceback
    for each error."""
    try:
        return function(*arguments), None
    except Exception as error:  # noqa: BLE001 - raised again where the function was passed
        return None, error


def join_in_slices(pieces: Iterable[str]) -> str:
    """Join the pieces of a page, which are rendered one by one, or those of a macro, which are a list."""
    if isinstance(pieces, list):
        end_slice_when_over()
        return "".join(pieces)
    return "".join(in_slices(pieces))
