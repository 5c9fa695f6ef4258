"""Tells whether a server is still the one that it was.

The cursor of a scan means something else in a server that was restarted, or that took another's place: a scan
that went on there would pass over entries, and nobody would notice. A script is neither replicated nor kept
over a restart, so one of its own tells. Its text is loaded into one server only, and serves all scans there:
each stays in the server's memory until it is restarted.

Made of leaseq/engine/witness.py by ``python -m tests.meta.asynchronous``; not to be edited.
"""

from __future__ import annotations

import secrets
from hashlib import sha1

from redis.exceptions import NoScriptError

from leaseq.engine.aio.connection import Connection
from leaseq.engine.witness import _script


class Witness:
    """A script in the server that has a key, to be loaded there before a scan; it returns ``word``."""

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
        """Whether the key is in the same process since `load`."""
        return await self._has(self.word)

    async def _has(self, word: str) -> bool:
        sha = sha1(_script(word).encode(), usedforsecurity=False).hexdigest()
        with self._connection.translating():
            try:
                await self._connection.ask(self._key, "EVALSHA", sha, "1", self._key)
            except NoScriptError:
                return False
        return True
