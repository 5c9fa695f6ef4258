"""Tells whether a server is still the one that it was.

The cursor of a scan means something else in a server that was restarted, or that took another's place: a scan
that went on there would pass over entries, and nobody would notice. A script is neither replicated nor kept
over a restart, so one of its own tells.
"""

from __future__ import annotations

import secrets

from redis.exceptions import NoScriptError

from leaseq.engine.connection import Connection


class Witness:
    """A script in the server that has a key, to be loaded there before a scan."""

    def __init__(self, connection: Connection, key: str) -> None:
        self._connection, self._key = connection, key
        self._script = f"return '{secrets.token_hex(8)}'"
        self._sha = ""

    def load(self) -> None:
        with self._connection.translating():
            sha = self._connection.ask(self._key, "SCRIPT", "LOAD", self._script)
        self._sha = sha.decode() if isinstance(sha, bytes) else sha

    def is_there(self) -> bool:
        """Whether the key is in the same process since `load`."""
        with self._connection.translating():
            try:
                self._connection.ask(self._key, "EVALSHA", self._sha, "1", self._key)
            except NoScriptError:
                return False
        return True
