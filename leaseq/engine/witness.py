"""Tells whether a server is still the one that it was.

The cursor of a scan means something else in a server that was restarted, or that took another's place: a scan
that went on there would pass over entries, and nobody would notice. A script is neither replicated nor kept
over a restart, so one of its own tells.
"""

from __future__ import annotations

import secrets
from typing import Any

from redis.exceptions import NoScriptError

from leaseq.engine.client import Client, connection_of
from leaseq.errors import ServerRefused


class Witness:
    """Loaded where a key is, before a scan there."""

    def __init__(self, client: Client, key: str) -> None:
        self._client, self._key = client, key
        self._sha = self._ask("SCRIPT", "LOAD", f"return '{secrets.token_hex(8)}'")

    def is_there(self) -> bool:
        """Whether the key is in the same process."""
        try:
            self._ask("EVALSHA", self._sha, "1", self._key)
        except ServerRefused as error:
            if isinstance(error.__cause__, NoScriptError):
                return False
            raise
        return True

    def _ask(self, *words: str) -> Any:
        with self._client.translating():
            return connection_of(self._client).ask(self._key, *words)
