"""Tells whether a server is still the one that it was.

The cursor of a scan means something else in a server that was restarted, or that took another's place: a scan
that went on there would pass over entries, and nobody would notice. A script is neither replicated nor kept
over a restart, so one of its own tells.
"""

from __future__ import annotations

import secrets

from redis.exceptions import NoScriptError

from leaseq.engine.client import Client, connection_of


class Witness:
    """Loaded where a key is, before a scan there."""

    def __init__(self, client: Client, key: str) -> None:
        self._connection, self._key = connection_of(client), key
        mark = f"return '{secrets.token_hex(8)}'"
        self._sha = self._connection.ask(key, "SCRIPT", "LOAD", mark)

    def is_there(self) -> bool:
        """Whether the key is in the same process."""
        try:
            self._connection.ask(self._key, "EVALSHA", self._sha, "1", self._key)
        except NoScriptError:
            return False
        return True
