"""Counts a thread's round trips to the server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from redis.connection import AbstractConnection


class RoundTrips:
    count = 0


@contextmanager
def count_round_trips(monkeypatch: pytest.MonkeyPatch) -> Iterator[RoundTrips]:
    """Record this thread's round trips inside the block: packets of one command or of a pipeline."""
    trips, thread_id = RoundTrips(), threading.get_ident()
    send: Any = AbstractConnection.send_packed_command

    def count_and_send(self: Any, *words: Any, **options: Any) -> None:
        trips.count += threading.get_ident() == thread_id
        send(self, *words, **options)

    with monkeypatch.context() as patch:
        patch.setattr(AbstractConnection, "send_packed_command", count_and_send)
        yield trips
