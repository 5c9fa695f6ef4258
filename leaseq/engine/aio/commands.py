"""One typed method per script: its keys, and its arguments in order.

Made of leaseq/engine/commands.py by ``python -m tests.meta.asynchronous``; not to be edited.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import inf
from time import monotonic

from leaseq.engine.aio.connection import Connection
from leaseq.engine.aio.durability import check_fsync_again
from leaseq.engine.commands import (
    _CACHE_SECONDS,
    _UNREAD_DURABLE,
    Clock,
    _BoundScripts,
    _reserve_arguments,
)
from leaseq.engine.durability import MAX_MILLISECONDS, Wait, majority_of
from leaseq.engine.keys import Keys
from leaseq.engine.replies import REFUSAL_CODES, Call, Reply, refusal
from leaseq.engine.script_table import is_confirmed
from leaseq.errors import QueueNotFound
from leaseq.models import LeaseKey
from leaseq.policy import Durable


class Commands:
    """The scripts of one queue. The methods return the replies described in the scripts' headers, and raise
    refusals according to the table in `replies`."""

    def __init__(self, connection: Connection, keys: Keys, clock: Clock | None) -> None:
        self._connection = connection
        self._clock = clock
        self._ledger = keys.ledger
        self._queue = keys.queue
        self._scripts = _BoundScripts(keys)

    async def _run(self, name: str, args: tuple[str, ...]) -> Reply:
        at = str(self._clock()) if self._clock else ""
        durable, until = self._connection.durable.get(self._ledger, _UNREAD_DURABLE)
        is_unconfirmed = durable == "server" and monotonic() < until
        wait = None if is_unconfirmed or not is_confirmed(name) else await self.confirm()
        reply = await self._connection.run_script(self._scripts[name], (at, *args), wait)
        if reply.code in REFUSAL_CODES and (error := refusal(Call(name, self._queue, args), reply)):
            raise error
        return reply

    async def confirm(self) -> Wait | None:
        """The wait that follows a write, according to the queue's policy. Every few seconds, the policy is
        read again, and whether the server still confirms only after an fsync is checked again."""
        durable, until = self._connection.durable.get(self._ledger, _UNREAD_DURABLE)
        if until < monotonic():
            try:
                durable = json.loads((await self.policy(("durable",))).rest[3])
            except QueueNotFound:
                return None
            self.cache_durable(durable)
        if durable == "server":
            return None
        if durable == "fsync" and self._connection.disks.get(self._ledger, 0.0) < monotonic():
            is_readable = await check_fsync_again(lambda *words: self._connection.ask(self._ledger, *words))
            self._connection.disks[self._ledger] = monotonic() + _CACHE_SECONDS if is_readable else inf
        milliseconds = min(self._connection.wait_milliseconds, MAX_MILLISECONDS[durable])
        quorum = majority_of(await self._replicas()) if durable == "majority" else 1
        return Wait(durable, self._scripts["confirm"], milliseconds, quorum)

    async def _replicas(self) -> int:
        count, until = self._connection.majorities.get(self._ledger, (0, 0.0))
        if until < monotonic():
            count = await self._connection.replicas(self._ledger)
            self._connection.majorities[self._ledger] = (count, monotonic() + _CACHE_SECONDS)
        return count

    def cache_durable(self, durable: Durable | None) -> None:
        """Cache the policy's current ``durable``; None: read it at the next call."""
        until = 0.0 if durable is None else monotonic() + _CACHE_SECONDS
        self._connection.durable[self._ledger] = (durable or "server", until)

    async def enqueue(self, request: str, rows: Sequence[str]) -> Reply:
        """Add items. ``rows`` contains id, head and payload of each, one after the other."""
        return await self._run("enqueue", (request, *rows))

    async def reserve(
        self, person: str, request: str, skills: str, waiter: str | None = None, woken: bool = False
    ) -> Reply:
        """Reserve an item. ``skills``: sorted, comma-separated. ``waiter``: added to the
        waiting list if there is no item."""
        if waiter is not None:
            return await self._run("reserve", (person, request, skills, waiter, "1" if woken else "0"))
        return await self._run("reserve", (person, request, skills) if skills else (person, request))

    async def leave_line(self, waiter: str, person: str, request: str, last_token: int) -> Reply:
        return await self._run("leave_line", (waiter, person, request, str(last_token)))

    async def renew(self, lease_key: LeaseKey, request: str) -> Reply:
        id, token, person = lease_key
        return await self._run("renew", (id, str(token), person, request))

    async def save_draft(self, lease_key: LeaseKey, draft: str) -> Reply:
        id, token, person = lease_key
        return await self._run("save_draft", (id, str(token), person, draft))

    async def finish(
        self, lease_key: LeaseKey, result: str, form_version: str, request: str | None, skills: str
    ) -> Reply:
        """Finish an item. ``request``: the request id of the reserve that follows; None if none follows."""
        id, token, person = lease_key
        reserve_arguments = _reserve_arguments(request, skills)
        return await self._run("finish", (id, str(token), person, result, form_version, *reserve_arguments))

    async def undo_finish(self, lease_key: LeaseKey, request: str, microseconds: int) -> Reply:
        id, token, person = lease_key
        return await self._run("undo_finish", (id, str(token), person, request, str(microseconds)))

    async def take_back(self, lease_key: LeaseKey, request: str, microseconds: int) -> Reply:
        id, token, person = lease_key
        return await self._run("take_back", (id, str(token), person, request, str(microseconds)))

    async def abandon(
        self, lease_key: LeaseKey, reason: str, again: bool, request: str | None, skills: str
    ) -> Reply:
        """Give an item back. ``request`` and ``skills``: as for `finish`."""
        id, token, person = lease_key
        words = (id, str(token), person, reason, "later" if again else "never")
        return await self._run("abandon", (*words, *_reserve_arguments(request, skills)))

    async def fail(
        self, lease_key: LeaseKey, error: str, retry: bool, request: str | None, skills: str
    ) -> Reply:
        """Report a failure. ``request`` and ``skills``: as for `finish`."""
        id, token, person = lease_key
        words = (id, str(token), person, error, "retry" if retry else "die")
        return await self._run("fail", (*words, *_reserve_arguments(request, skills)))

    async def clear(self, limit: int) -> Reply:
        return await self._run("clear", (str(limit),))

    async def check_alerts(self, unreachable: str = "") -> Reply:
        """Apply the rules. ``unreachable``: how many waiting items nobody may have; '' if not known."""
        return await self._run("check_alerts", (unreachable,))

    async def revive(self, id: str, by: str) -> Reply:
        return await self._run("revive", (id, by))

    async def release(self, id: str, by: str, person: str) -> Reply:
        return await self._run("release", (id, by, person))

    async def assign(self, id: str, by: str, person: str) -> Reply:
        return await self._run("assign", (id, by, person))

    async def unassign(self, id: str, by: str, person: str) -> Reply:
        """Take an assignment to a person back. ``person``: '' for everybody's."""
        return await self._run("unassign", (id, by, person))

    async def unassign_person(self, person: str, by: str, limit: int) -> Reply:
        return await self._run("unassign_person", (person, by, str(limit)))

    async def change(self, id: str, by: str, request: str, fields: Sequence[str]) -> Reply:
        """Change an item. ``fields``: from `arguments.changes`."""
        return await self._run("change", (id, by, request, *fields))

    async def remove(self, id: str, by: str, *condition: str) -> Reply:
        """Delete an item. ``condition``: 'if' or 'unless' and a state, or 'unread' and a time, if the call
        depends on it."""
        return await self._run("remove", (id, by, *condition))

    async def adopt(self, id: str, token: int, by: str, request: str) -> Reply:
        return await self._run("adopt", (id, str(token), by, request))

    async def reopen(self, id: str, token: int, by: str, to: str, reason: str) -> Reply:
        return await self._run("reopen", (id, str(token), by, to, reason))

    async def correct(self, id: str, token: int, by: str, result: str, form_version: str) -> Reply:
        return await self._run("correct", (id, str(token), by, result, form_version))

    async def restore(self, by: str, tokens_above: int, rows: Sequence[str]) -> Reply:
        """Put an item back. ``rows``: id, head, payload, state and assignees, then six for each answer; or
        nothing."""
        return await self._run("restore", (by, str(tokens_above), *rows))

    async def pause(self, by: str, reason: str) -> Reply:
        return await self._run("pause", (by, reason))

    async def resume(self, by: str) -> Reply:
        return await self._run("resume", (by,))

    async def configure(self, by: str, condition: str, fields: Sequence[str]) -> Reply:
        """Set policy fields. ``condition``: 'create', a policy's version, or ''. ``fields``: from
        `policy_codec.to_server`."""
        return await self._run("configure", (by, condition, *fields))

    async def delete(self, condition: str) -> Reply:
        """Begin to delete the queue. ``condition``: a policy's version, or ''."""
        return await self._run("delete", (condition,))

    async def delete_keys(self, parts: Sequence[str], end: str = "") -> Reply:
        """Unlink keys of a queue that is being deleted. ``end``: 'end' with the last of them."""
        return await self._run("delete_keys", (end, *parts))

    async def erase_person(self, person: str, to: str, by: str, step: str, count: int) -> Reply:
        """One step of erasing a person. ``step``: '' for the first, else as returned by the step before."""
        return await self._run("erase_person", (person, to, by, step, str(count)))

    async def policy(self, names: Sequence[str]) -> Reply:
        return await self._run("policy", tuple(names))

    async def schema(self) -> Reply:
        return await self._run("schema", ())

    async def get(self, id: str) -> Reply:
        return await self._run("get", (id,))

    async def items(
        self, state: str, limit: int, look: int, place: Sequence[str], criteria: Sequence[str]
    ) -> Reply:
        """List items. ``place``: row and shelf, score, last assignment. ``criteria``: from
        `arguments.criteria`."""
        return await self._run("items", (state, str(limit), str(look), *place, *criteria))

    async def late_items(self, step: str, count: int, since: str) -> Reply:
        return await self._run("late_items", (step, str(count), since))

    async def person_items(self, person: str, step: str, count: int) -> Reply:
        return await self._run("person_items", (person, step, str(count)))

    async def mine(self, person: str) -> Reply:
        return await self._run("mine", (person,))

    async def why_nothing(self, person: str, skills: str) -> Reply:
        return await self._run("why_nothing", (person, skills))

    async def stats(self, counters: Sequence[str]) -> Reply:
        return await self._run("stats", tuple(counters))

    async def waiting_rows(self, step: str, count: int) -> Reply:
        return await self._run("waiting_rows", (step, str(count)))

    async def history(self, start: str, look: int, id: str) -> Reply:
        return await self._run("history", (start, str(look), id))

    async def follow(self, name: str, entry: str, number: str, keep: str) -> Reply:
        return await self._run("follow", (name, entry, number, keep))

    async def unfollow(self, name: str) -> Reply:
        return await self._run("unfollow", (name,))

    async def outcomes(self, ids: Sequence[str]) -> Reply:
        return await self._run("outcomes", tuple(ids))

    async def journal(self, start: str, count: int, direction: str = "") -> Reply:
        return await self._run("journal", (start, str(count), direction))

    async def dump(self, counters: Sequence[str]) -> Reply:
        return await self._run("dump", tuple(counters))

    async def dump_items(self, cursor: str, count: int, ids: Sequence[str] = ()) -> Reply:
        """Read about ``count`` items from HSCAN's ``cursor`` on; if that is '', the items with these ids."""
        return await self._run("dump_items", (cursor, str(count) if cursor else "", *ids))

    async def load(self, state: Sequence[str], fields: Sequence[str]) -> Reply:
        """Begin to restore a queue. ``state``: the seven values named in the script's header."""
        return await self._run("load", (*state, *fields))

    async def load_items(self, rows: Sequence[str], end: str = "") -> Reply:
        """Restore items. ``end``: 'end' with the last of them."""
        return await self._run("load_items", (end, *rows))
