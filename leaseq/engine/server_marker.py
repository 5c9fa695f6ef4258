"""Detects whether a server process has been restarted or replaced.

A scan's cursor means something else in a server that was restarted or replaced: a scan that continued there
would skip entries without an error. Scripts are neither replicated nor kept over a restart, so a script with
a random text identifies the server process. It is loaded into one server only, and used for all scans there,
since each script stays in the server's memory until a restart.
"""

from __future__ import annotations

import secrets
from hashlib import sha1

from redis.exceptions import NoScriptError

from leaseq.engine.connection import Connection


class ServerMarker:
    """A script that returns ``text``. It is loaded, before a scan, into the server that has ``key``."""

    def __init__(self, connection: Connection, key: str, text: str = "") -> None:
        self._connection, self._key = connection, key
        self.text = text

    def load(self) -> None:
        for text in reversed(self._connection.markers):
            if self._is_loaded(text):
                self.text = text
                return
        self.text = secrets.token_hex(8)
        with self._connection.translating():
            self._connection.ask(self._key, "SCRIPT", "LOAD", _script(self.text))
        self._connection.markers.append(self.text)

    def is_present(self) -> bool:
        """Whether the key is still in the same server process as at `load`."""
        return self._is_loaded(self.text)

    def _is_loaded(self, text: str) -> bool:
        sha = sha1(_script(text).encode(), usedforsecurity=False).hexdigest()
        with self._connection.translating():
            try:
                self._connection.ask(self._key, "EVALSHA", sha, "1", self._key)
            except NoScriptError:
                return False
        return True


def _script(text: str) -> str:
    return f"return '{text}'"
