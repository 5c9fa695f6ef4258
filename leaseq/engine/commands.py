"""The calls of a queue's scripts: with its keys, and with the confirmation that its policy requires."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from math import inf
from time import monotonic
from typing import Final

from leaseq.engine.connection import CachedPolicy, Connection
from leaseq.engine.durability import MAX_MILLISECONDS, Wait, check_fsync_again, majority_of
from leaseq.engine.keys import Keys
from leaseq.engine.replies import REFUSAL_CODES, Call, Reply, refusal
from leaseq.engine.scripts import SCRIPTS, BoundScript, is_confirmed
from leaseq.errors import QueueNotFound
from leaseq.policy import Durable

Clock = Callable[[], int]
"""Returns the time in microseconds since the epoch. For tests only; the default is the server's clock."""

_UNREAD: Final = CachedPolicy()
_CACHE_SECONDS = 2.0  # seconds for which a policy is cached


@lru_cache(maxsize=4_096)
def _bind(name: str, keys: Keys) -> BoundScript:
    return BoundScript(SCRIPTS[name], keys)


class _BoundScripts(dict[str, BoundScript]):
    """The scripts with the keys of one queue, each created at its first call: a web request creates its own
    Queue and calls about three of them."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    def __missing__(self, name: str) -> BoundScript:
        bound = self[name] = _bind(name, self._keys)
        return bound


class Commands:
    """The scripts of one queue, whose headers describe their arguments and replies."""

    def __init__(self, connection: Connection, keys: Keys, clock: Clock | None) -> None:
        self._connection = connection
        self._clock = clock
        self._ledger = keys.ledger
        self._queue = keys.queue
        self._scripts = _BoundScripts(keys)

    def run(self, name: str, *values: str | int) -> Reply:
        """Run a script with these arguments, without the first one, which is the time. Raises refusals
        according to the table in `replies`."""
        at = str(self._clock()) if self._clock else ""
        durable, _, until = self._connection.policies.get(self._ledger, _UNREAD)
        is_unconfirmed = durable == "server" and monotonic() < until  # usually, while the cache is valid
        wait = None if is_unconfirmed or not is_confirmed(name) else self.confirm()
        reply = self._connection.run_script(self._scripts[name], (at, *values), wait)
        if reply.code in REFUSAL_CODES:
            error = refusal(Call(name, self._queue, tuple(map(str, values))), reply)
            if error is not None:
                raise error
        return reply

    def confirm(self) -> Wait | None:
        """The wait that follows a write, according to the queue's policy. Every few seconds, the policy is
        read again, and whether the server still confirms only after an fsync is checked again."""
        durable, _, until = self._connection.policies.get(self._ledger, _UNREAD)
        if until < monotonic():
            try:
                _, form_version, _, text = self.run("policy", "durable").rest
            except QueueNotFound:
                return None
            durable = json.loads(text)
            self.cache_policy(durable, form_version.decode())
        if durable == "server":
            return None
        if durable == "fsync" and self._connection.disks.get(self._ledger, 0.0) < monotonic():
            is_readable = check_fsync_again(lambda *words: self._connection.ask(self._ledger, *words))
            self._connection.disks[self._ledger] = monotonic() + _CACHE_SECONDS if is_readable else inf
        milliseconds = min(self._connection.wait_milliseconds, MAX_MILLISECONDS[durable])
        quorum = majority_of(self._replicas()) if durable == "majority" else 1
        return Wait(durable, self._scripts["confirm"], milliseconds, quorum)

    def _replicas(self) -> int:
        count, until = self._connection.majorities.get(self._ledger, (0, 0.0))
        if until < monotonic():
            count = self._connection.replicas(self._ledger)
            self._connection.majorities[self._ledger] = (count, monotonic() + _CACHE_SECONDS)
        return count

    @property
    def form_version(self) -> str | None:
        """The version of the queue's form, at most two seconds old; None if it must be read again, as after a
        call that only reads."""
        _, form_version, until = self._connection.policies.get(self._ledger, _UNREAD)
        return form_version if monotonic() < until else None

    def cache_policy(self, durable: Durable, form_version: str) -> None:
        self._connection.policies[self._ledger] = CachedPolicy(
            durable, form_version, monotonic() + _CACHE_SECONDS
        )

    def forget_policy(self) -> None:
        """Read the policy again at the next call."""
        self._connection.policies.pop(self._ledger, None)
