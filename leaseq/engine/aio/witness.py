"""Detects whether a server process has been restarted or replaced.

A scan's cursor means something else in a server that was restarted or replaced: a scan that continued there
would skip entries without an error. Scripts are neither replicated nor kept over a restart, so a script with
a random text identifies the server process. It is loaded into one server only, and used for all scans there,
since each script stays in the server's memory until a restart.

Made of leaseq/engine/witness.py by ``python -m tests.meta.asynchronous``; not to be edited.
"""

from __future__ import annotations

import secrets
from hashlib import sha1

from redis.exceptions import NoScriptError

from leaseq.engine.aio.connection import Connection
from leaseq.engine.witness import _script


class Witness:
    """A script that returns ``word``. It is loaded, before a scan, into the server that has ``key``."""

    def __init__(self, connection: Connection, key: str, word: str = "") -> None:
        self._connection, self._key = (connection, key)
        self.word = word

    async def load(self) -> None:
        for word in reversed(self._connection.witnesses):
            if await self._has(word):
                self.word = word
                return
        self.word = secrets.token_hex(8)
        with self._connection.translating():
            await self._connection.ask(self._key, "SCRIPT", "LOAD", _script(self.word))
        self._connection.witnesses.append(self.word)

    async def is_there(self) -> bool:
        """Whether the key is still in the same server process as at `load`."""
        return await self._has(self.word)

    async def _has(self, word: str) -> bool:
        sha = sha1(_script(word).encode(), usedforsecurity=False).hexdigest()
        with self._connection.translating():
            try:
                await self._connection.ask(self._key, "EVALSHA", sha, "1", self._key)
            except NoScriptError:
                return False
        return True
