"""Whether a client may still get the rest of a response that is sent bit by bit."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from leaseq.webapp.store.base import Command

CHECK_SECONDS = 20.0  # seconds between two checks if nothing has changed: tokens expire


class AccessCheck:
    """A check that is repeated outside the request. ``reads`` are commands that read all on which the answer
    depends, but for the time: as long as the replies are the same, ``is_allowed`` is called every 20 seconds
    only."""

    def __init__(self, is_allowed: Callable[[], bool], reads: Sequence[Command] = ()) -> None:
        self.reads = reads
        self.checked_at = time.monotonic()
        self._is_allowed = is_allowed
        self._rights: Sequence[Any] | None = None  # the replies to the reads when it was checked last

    def passes(self, replies: Mapping[Command, Any]) -> bool:
        """Whether the client is allowed, now that the reads have these replies."""
        now, rights = time.monotonic(), [replies[command] for command in self.reads]
        if rights == self._rights and now - self.checked_at < CHECK_SECONDS:
            return True
        if not self._is_allowed():
            return False
        self._rights, self.checked_at = rights, now
        return True
