"""One typed method per script: its keys, and its arguments in order."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from math import inf
from time import monotonic
from typing import Final

from leaseq.engine.connection import Connection
from leaseq.engine.durability import MAX_MILLISECONDS, Wait, check_fsync_again, majority_of
from leaseq.engine.keys import Keys
from leaseq.engine.replies import REFUSAL_CODES, Call, Reply, refusal
from leaseq.engine.scripts import SCRIPTS, BoundScript, is_confirmed
from leaseq.errors import QueueNotFound
from leaseq.models import LeaseKey
from leaseq.policy import Durable

Clock = Callable[[], int]
"""Returns the time in microseconds since the epoch. For tests only; the default is the server's clock."""

_UNREAD_DURABLE: Final[tuple[Durable, float]] = ("server", 0.0)
_CACHE_SECONDS = 2.0  # seconds for which a policy's `durable` is cached


def _reserve_arguments(request: str | None, skills: str) -> tuple[str, ...]:
    """The arguments for the reserve that follows; empty ones are left out."""
    return () if request is None else (request, skills) if skills else (request,)


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
    """The scripts of one queue. The methods return the replies described in the scripts' headers, and raise
    refusals according to the table in `replies`."""

    def __init__(self, connection: Connection, keys: Keys, clock: Clock | None) -> None:
        self._connection = connection
        self._clock = clock
        self._ledger = keys.ledger
        self._queue = keys.queue
        self._scripts = _BoundScripts(keys)

    def _run(self, name: str, args: tuple[str, ...]) -> Reply:
        at = str(self._clock()) if self._clock else ""
        durable, until = self._connection.durable.get(self._ledger, _UNREAD_DURABLE)
        is_unconfirmed = durable == "server" and monotonic() < until  # usually, while the cache is valid
        wait = None if is_unconfirmed or not is_confirmed(name) else self.confirm()
        reply = self._connection.run_script(self._scripts[name], (at, *args), wait)
        if reply.code in REFUSAL_CODES and (error := refusal(Call(name, self._queue, args), reply)):
            raise error
        return reply

    def confirm(self) -> Wait | None:
        """The wait that follows a write, according to the queue's policy. Every few seconds, the policy is
        read again, and whether the server still confirms only after an fsync is checked again."""
        durable, until = self._connection.durable.get(self._ledger, _UNREAD_DURABLE)
        if until < monotonic():
            try:
                durable = json.loads(self.policy(("durable",)).rest[3])
            except QueueNotFound:
                return None
            self.cache_durable(durable)
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

    def cache_durable(self, durable: Durable | None) -> None:
        """Cache the policy's current ``durable``; None: read it at the next call."""
        until = 0.0 if durable is None else monotonic() + _CACHE_SECONDS
        self._connection.durable[self._ledger] = (durable or "server", until)

    def enqueue(self, request: str, rows: Sequence[str]) -> Reply:
        """Add items. ``rows`` contains id, head and payload of each, one after the other."""
        return self._run("enqueue", (request, *rows))

    def reserve(
        self, person: str, request: str, skills: str, waiter: str | None = None, woken: bool = False
    ) -> Reply:
        """Reserve an item. ``skills``: sorted, comma-separated. ``waiter``: added to the
        waiting list if there is no item."""
        if waiter is not None:
            return self._run("reserve", (person, request, skills, waiter, "1" if woken else "0"))
        return self._run("reserve", (person, request, skills) if skills else (person, request))

    def end_wait(self, waiter: str, person: str, request: str, last_token: int) -> Reply:
        return self._run("end_wait", (waiter, person, request, str(last_token)))

    def renew(self, lease_key: LeaseKey, request: str) -> Reply:
        id, token, person = lease_key
        return self._run("renew", (id, str(token), person, request))

    def save_draft(self, lease_key: LeaseKey, draft: str) -> Reply:
        id, token, person = lease_key
        return self._run("save_draft", (id, str(token), person, draft))

    def finish(
        self, lease_key: LeaseKey, result: str, form_version: str, request: str | None, skills: str
    ) -> Reply:
        """Finish an item. ``request``: the request id of the reserve that follows; None if none follows."""
        id, token, person = lease_key
        reserve_arguments = _reserve_arguments(request, skills)
        return self._run("finish", (id, str(token), person, result, form_version, *reserve_arguments))

    def undo_finish(self, lease_key: LeaseKey, request: str, microseconds: int) -> Reply:
        id, token, person = lease_key
        return self._run("undo_finish", (id, str(token), person, request, str(microseconds)))

    def take_back(self, lease_key: LeaseKey, request: str, microseconds: int) -> Reply:
        id, token, person = lease_key
        return self._run("take_back", (id, str(token), person, request, str(microseconds)))

    def abandon(
        self, lease_key: LeaseKey, reason: str, again: bool, request: str | None, skills: str
    ) -> Reply:
        """Give an item back. ``request`` and ``skills``: as for `finish`."""
        id, token, person = lease_key
        words = (id, str(token), person, reason, "later" if again else "never")
        return self._run("abandon", (*words, *_reserve_arguments(request, skills)))

    def fail(self, lease_key: LeaseKey, error: str, retry: bool, request: str | None, skills: str) -> Reply:
        """Report a failure. ``request`` and ``skills``: as for `finish`."""
        id, token, person = lease_key
        words = (id, str(token), person, error, "retry" if retry else "die")
        return self._run("fail", (*words, *_reserve_arguments(request, skills)))

    def clear(self, limit: int) -> Reply:
        return self._run("clear", (str(limit),))

    def check_alerts(self, unreachable: str = "") -> Reply:
        """Apply the rules. ``unreachable``: how many waiting items nobody may have; '' if not known."""
        return self._run("check_alerts", (unreachable,))

    def revive(self, id: str, by: str) -> Reply:
        return self._run("revive", (id, by))

    def release(self, id: str, by: str, person: str) -> Reply:
        return self._run("release", (id, by, person))

    def assign(self, id: str, by: str, person: str) -> Reply:
        return self._run("assign", (id, by, person))

    def unassign(self, id: str, by: str, person: str) -> Reply:
        """Take an assignment to a person back. ``person``: '' for everybody's."""
        return self._run("unassign", (id, by, person))

    def unassign_person(self, person: str, by: str, limit: int) -> Reply:
        return self._run("unassign_person", (person, by, str(limit)))

    def change(self, id: str, by: str, request: str, fields: Sequence[str]) -> Reply:
        """Change an item. ``fields``: from `arguments.changes`."""
        return self._run("change", (id, by, request, *fields))

    def remove(self, id: str, by: str, *condition: str) -> Reply:
        """Delete an item. ``condition``: 'if' or 'unless' and a state, or 'unread' and a time, if the call
        depends on it."""
        return self._run("remove", (id, by, *condition))

    def adopt(self, id: str, token: int, by: str, request: str) -> Reply:
        return self._run("adopt", (id, str(token), by, request))

    def reopen(self, id: str, token: int, by: str, to: str, reason: str) -> Reply:
        return self._run("reopen", (id, str(token), by, to, reason))

    def correct(self, id: str, token: int, by: str, result: str, form_version: str) -> Reply:
        return self._run("correct", (id, str(token), by, result, form_version))

    def restore(self, by: str, tokens_above: int, rows: Sequence[str]) -> Reply:
        """Put an item back. ``rows``: id, head, payload, state and assignees, then six for each answer; or
        nothing."""
        return self._run("restore", (by, str(tokens_above), *rows))

    def pause(self, by: str, reason: str) -> Reply:
        return self._run("pause", (by, reason))

    def resume(self, by: str) -> Reply:
        return self._run("resume", (by,))

    def configure(self, by: str, condition: str, fields: Sequence[str]) -> Reply:
        """Set policy fields. ``condition``: 'create', a policy's version, or ''. ``fields``: from
        `policy_codec.to_server`."""
        return self._run("configure", (by, condition, *fields))

    def delete(self, condition: str) -> Reply:
        """Begin to delete the queue. ``condition``: a policy's version, or ''."""
        return self._run("delete", (condition,))

    def delete_keys(self, parts: Sequence[str], end: str = "") -> Reply:
        """Unlink keys of a queue that is being deleted. ``end``: 'end' with the last of them."""
        return self._run("delete_keys", (end, *parts))

    def erase_person(self, person: str, to: str, by: str, step: str, count: int) -> Reply:
        """One step of erasing a person. ``step``: '' for the first, else as returned by the step before."""
        return self._run("erase_person", (person, to, by, step, str(count)))

    def policy(self, names: Sequence[str]) -> Reply:
        return self._run("policy", tuple(names))

    def schema(self) -> Reply:
        return self._run("schema", ())

    def get(self, id: str) -> Reply:
        return self._run("get", (id,))

    def items(
        self, state: str, limit: int, look: int, place: Sequence[str], criteria: Sequence[str]
    ) -> Reply:
        """List items. ``place``: row and shelf, score, last assignment. ``criteria``: from
        `arguments.criteria`."""
        return self._run("items", (state, str(limit), str(look), *place, *criteria))

    def late_items(self, step: str, count: int, since: str) -> Reply:
        return self._run("late_items", (step, str(count), since))

    def person_items(self, person: str, step: str, count: int) -> Reply:
        return self._run("person_items", (person, step, str(count)))

    def mine(self, person: str) -> Reply:
        return self._run("mine", (person,))

    def why_nothing(self, person: str, skills: str) -> Reply:
        return self._run("why_nothing", (person, skills))

    def stats(self, counters: Sequence[str]) -> Reply:
        return self._run("stats", tuple(counters))

    def waiting_rows(self, step: str, count: int) -> Reply:
        return self._run("waiting_rows", (step, str(count)))

    def history(self, start: str, look: int, id: str) -> Reply:
        return self._run("history", (start, str(look), id))

    def follow(self, name: str, entry: str, number: str, keep: str) -> Reply:
        return self._run("follow", (name, entry, number, keep))

    def unfollow(self, name: str) -> Reply:
        return self._run("unfollow", (name,))

    def outcomes(self, ids: Sequence[str]) -> Reply:
        return self._run("outcomes", tuple(ids))

    def journal(self, start: str, count: int, direction: str = "") -> Reply:
        return self._run("journal", (start, str(count), direction))

    def dump(self, counters: Sequence[str]) -> Reply:
        return self._run("dump", tuple(counters))

    def dump_items(self, cursor: str, count: int, ids: Sequence[str] = ()) -> Reply:
        """Read about ``count`` items from HSCAN's ``cursor`` on; if that is '', the items with these ids."""
        return self._run("dump_items", (cursor, str(count) if cursor else "", *ids))

    def load(self, state: Sequence[str], fields: Sequence[str]) -> Reply:
        """Begin to restore a queue. ``state``: the seven values named in the script's header."""
        return self._run("load", (*state, *fields))

    def load_items(self, rows: Sequence[str], end: str = "") -> Reply:
        """Restore items. ``end``: 'end' with the last of them."""
        return self._run("load_items", (end, *rows))
