"""Measures the longest time for which a web process serves one request without letting others run.

What counts is the thread's CPU time between two changes of greenlet, so a slow server of queues does not make
it longer. On a busy machine the same work takes up to three times as much CPU time, since caches and cores
are shared: so a fixed piece of work is timed too, and the result is what the slice would take where that
takes its usual time.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from statistics import median
from typing import TYPE_CHECKING, Any

import greenlet

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

PATH = "/longest-slice"
"""Answers with the longest slice since the last call, in seconds."""

MAX_SECONDS = 0.05
"""The longest slice that is allowed (docs/decisions/0033-time-slices.md)."""

_WORK = "[" + ",".join(['{"a": [1.5, "some words", null], "b": {}}'] * 3_000) + "]"
_WORK_SECONDS = 0.0012  # on an idle machine
_ATTEMPTS = 3


class SliceMeter:
    """WSGI middleware."""

    def __init__(self, inner: WSGIApplication) -> None:
        self._inner = inner
        self._longest = 0.0
        self._began = time.thread_time()
        greenlet.settrace(self._on_switch)

    def _on_switch(self, _event: str, _greenlets: Any) -> None:
        now = time.thread_time()
        self._longest = max(self._longest, now - self._began)
        self._began = now

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ["PATH_INFO"] != PATH:
            return self._inner(environ, start_response)
        seconds = self._longest if self._longest < MAX_SECONDS else self._longest / _slowness()
        body = json.dumps(seconds).encode()
        self._longest, self._began = 0.0, time.thread_time()
        start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
        return [body]


def _slowness() -> float:
    """How many times longer than usual this machine takes now; 1 if it is not slower."""
    return max(median(_work_seconds() for _ in range(5)) / _WORK_SECONDS, 1)


def _work_seconds() -> float:
    began = time.thread_time()
    json.loads(_WORK)
    return time.thread_time() - began


def shortest(attempt: Callable[[], float]) -> float:
    """The shortest of the longest slices of a few attempts, as far as these are needed: a page fault or a
    garbage collection is not the request's."""
    seconds = attempt()
    for _ in range(_ATTEMPTS - 1):
        if seconds < MAX_SECONDS:
            break
        seconds = min(seconds, attempt())
    return seconds
