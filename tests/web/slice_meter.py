"""Measures the longest time for which a web process serves one request without letting others run.

What counts is the thread's CPU time between two changes of greenlet, so that neither a busy machine nor a
slow server of queues makes it longer.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import greenlet

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

PATH = "/longest-slice"
"""Answers with the longest slice since the last call, in seconds."""


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
        body = json.dumps(self._longest).encode()
        self._longest = 0.0
        start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
        return [body]
