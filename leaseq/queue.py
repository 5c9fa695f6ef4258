"""The queue: what people and programs call. Each call is one move in the server."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from leaseq import arguments, form, ids, records, strict
from leaseq.connection import Client, Reply
from leaseq.errors import Invalid, ItemNotFound, LeaseLost, QueueNotFound
from leaseq.keys import QUEUES, Keys
from leaseq.model import (
    STATES,
    Answer,
    Cleared,
    Counts,
    Enqueued,
    Event,
    Failed,
    Finished,
    Item,
    Json,
    Lease,
    NewItem,
    Nothing,
    Page,
    State,
    Stats,
)
from leaseq.moves import Clock, Moves
from leaseq.policy import FIELDS, TEXTS, Policy, from_server, to_server

COUNTERS = (
    "enqueued",
    "reserved",
    "finished",
    "late",
    "abandoned",
    "expired",
    "failed",
    "died",
    "revived",
    "released",
)
# How much one call to the server does at most, each well within a millisecond of it.
_BATCH = 250  # items of an enqueue
_BATCH_BYTES = 1_000_000
_MOVES = 40  # moves of a clear
_PAGE = 50  # items of a page


class Queue:
    """A queue of work items in a server. Making one does no I/O; threads may share it.

    ``clock`` (microseconds since the epoch) is for tests: without it the server's clock counts.
    """

    def __init__(self, client: Client, name: str, *, clock: Clock | None = None) -> None:
        self.name = strict.queue_name(name)
        self._client = client
        self._keys = Keys(self.name)
        self._moves = Moves(client, self._keys, clock)
        self._form: tuple[str, Json] = ("-", None)  # version and form, as last read

    def __repr__(self) -> str:
        return f"<leaseq.Queue {self.name}>"

    # Policy

    def exists(self) -> bool:
        """Whether it was configured, or anything was ever enqueued."""
        return self._moves.policy(()).code == b"policy"

    @property
    def policy(self) -> Policy:
        """The policy in force; the defaults for a queue that isn't there yet."""
        reply = self._moves.policy(TEXTS)
        if reply.code == b"no-queue":
            return Policy()
        policy, version = from_server(reply.rest[0], reply.rest[1:])
        self._form = (version, policy.form)
        return policy

    def configure(self, *, by: str | None = None, **changes: Any) -> Policy:
        """Change some fields of the policy and return the whole. Makes the queue where there is none.

        Raises Invalid with the field's name; nothing has changed then.
        """
        policy = self.policy.updated(changes)
        form.check_form(policy.form)
        who = arguments.by(by)
        if self._moves.policy(()).code == b"no-queue":
            self._make(policy, who)
        elif changes:
            self._moves.configure(who, False, _stored(policy, sorted(changes)))
        return policy

    def _make(self, policy: Policy, by: str = "") -> None:
        with self._client.translating():
            self._client.redis.sadd(QUEUES, self.name)
        self._moves.configure(by, True, _stored(policy, sorted(FIELDS)))

    # Filling

    def enqueue(
        self,
        payload: Json,
        *,
        id: str | None = None,
        priority: int = 100,
        delay: float = 0,
        requires: Sequence[str] = (),
        due: datetime | None = None,
        max_attempts: int | None = None,
    ) -> Enqueued:
        """Add one item. With an id that the queue already has, nothing changes and ``added`` is False."""
        new = NewItem(payload, id, priority, delay, tuple(requires), due, max_attempts)
        row = arguments.row(new, id if id is not None else ids.item_ids(1)[0])
        return Enqueued(row[0], self._enqueue(row) == 1)

    def enqueue_many(self, items: Iterable[Json | NewItem]) -> Counts:
        """Add any number of payloads or NewItems, in chunks that are each all in or not at all.

        An Invalid item raises with its place in ``field`` (``items[17].priority``); the chunks before
        it are in, its own and those after it are not. With ids of your own, sending all of it again
        adds only what is missing.
        """
        added = total = size = 0
        rows: list[str] = []
        spare: list[str] = []
        for item in items:
            new = item if isinstance(item, NewItem) else None
            if not spare:
                spare = ids.item_ids(_BATCH)[::-1]
            try:
                if new is None:
                    row = [spare.pop(), "", strict.dump_json(item, "payload")]
                else:
                    row = arguments.row(new, new.id if new.id is not None else spare.pop())
            except Invalid as error:
                raise Invalid(f"items[{total}].{error.field}", error.limit) from None
            rows += row
            total += 1
            size += len(row[2])
            if len(rows) == 3 * _BATCH or size > _BATCH_BYTES:
                added += self._enqueue(rows)
                rows, size = [], 0
        if rows:
            added += self._enqueue(rows)
        return Counts(added, total - added)

    def _enqueue(self, rows: Sequence[str]) -> int:
        request = ids.request_id()
        reply = self._moves.enqueue(request, rows)
        if reply.code == b"no-queue":
            self._make(Policy())
            reply = self._moves.enqueue(request, rows)
        return int(reply.rest[0])

    # Working

    def reserve(
        self, person: str, *, skills: Sequence[str] = (), request_id: str | None = None
    ) -> Lease | None:
        """One item that nobody else has, or None where there is nothing now (``why_nothing`` says why).

        A person whose hands are full gets one back that they hold. ``request_id`` names this call, so
        that sending it again gives the same lease.
        """
        strict.skills(skills)
        reply = self._moves.reserve(strict.person_name(person), arguments.request(request_id))
        return records.lease(self.name, reply.rest) if reply.code == b"leased" else None

    def renew(
        self,
        lease: Lease | None = None,
        *,
        id: str | None = None,
        token: int | None = None,
        person: str | None = None,
        request_id: str | None = None,
    ) -> Lease:
        """Keep an item for another full lease from now; never shortens one.

        Also takes an item back whose lease ran out, while nobody else was granted it. Raises LeaseLost,
        or Invalid where the policy allows no more renewals or the person's hands are full.
        """
        held = arguments.claim(lease, id, token, person)
        reply = self._moves.renew(*held, arguments.request(request_id))
        if reply.code == b"used-up":
            raise Invalid("renewals", f"at most {reply.rest[0]} renewals of one lease")
        if reply.code == b"full":
            raise Invalid("holds", f"at most {reply.rest[0]} leases at once; finish or give one back first")
        self._check(reply, held[0])
        return records.lease(self.name, reply.rest)

    def save_draft(
        self,
        lease: Lease | None = None,
        draft: Json = ...,
        *,
        id: str | None = None,
        token: int | None = None,
        person: str | None = None,
    ) -> None:
        """Keep what the person has so far. They get it back with the item; a finish removes it."""
        held = arguments.claim(lease, id, token, person)
        self._check(
            self._moves.save_draft(*held, strict.dump_json(arguments.given(draft, "draft"), "draft")), held[0]
        )

    def finish(
        self,
        lease: Lease | None = None,
        result: Json = ...,
        *,
        id: str | None = None,
        token: int | None = None,
        person: str | None = None,
        then_reserve: bool = False,
        skills: Sequence[str] = (),
        request_id: str | None = None,
    ) -> Finished:
        """Hand in the answer; with ``then_reserve`` get the next item in the same round trip.

        Raises Invalid (field ``result``, with ``errors``) where it doesn't fit the queue's form: the
        lease stays. Raises LeaseLost where somebody else was granted the item, or it is finished or
        removed; an answer that was refused is kept as a late answer then (``answer_kept``).
        """
        held = arguments.claim(lease, id, token, person)
        text = strict.dump_json(arguments.given(result, "result"), "result")
        strict.skills(skills)
        request = arguments.request(request_id) if then_reserve else None
        reply = self._send_finish(held, result, text, request)
        self._check(reply, held[0])
        late, replayed, following = reply.rest[0], reply.rest[1], (reply.rest[2:] or [None])[0]
        taken = following and following[0] == b"leased"
        return Finished(
            held[0], bool(late), bool(replayed), records.lease(self.name, following[1:]) if taken else None
        )

    def _send_finish(self, held: tuple[str, int, str], result: Json, text: str, request: str | None) -> Reply:
        """Check the result against the form as last read; the server says where that is another one now.

        A result that doesn't fit is sent as well: it may be one that was taken before the form changed,
        or belong to a lease that is lost, and then it is kept. Nothing else takes it under this name.
        """
        while True:
            version, wanted = self._form
            misfit: Invalid | None = None
            try:
                form.check_result(wanted, result)
            except Invalid as error:
                version, misfit = "misfit", error
            reply = self._moves.finish(*held, text, version, request)
            if reply.code != b"form":
                return reply
            _ = self.policy  # read the form anew
            if misfit is not None and self._form[1] == wanted:
                raise misfit

    def abandon(
        self,
        lease: Lease | None = None,
        reason: str | None = None,
        *,
        id: str | None = None,
        token: int | None = None,
        person: str | None = None,
    ) -> None:
        """Give an item back. It goes ahead of the items that never left."""
        held = arguments.claim(lease, id, token, person)
        self._check(self._moves.abandon(*held, arguments.text(reason, "reason")), held[0])

    def fail(
        self,
        lease: Lease | None = None,
        error: str = "",
        *,
        id: str | None = None,
        token: int | None = None,
        person: str | None = None,
    ) -> Failed:
        """Say that an item can't be done. It is tried again after a back-off, or is dead when its
        attempts are used up (``retry_at`` is None then)."""
        held = arguments.claim(lease, id, token, person)
        reply = self._moves.fail(*held, arguments.text(error, "error"))
        self._check(reply, held[0])
        return Failed(held[0], records.when(reply.rest[0]) if reply.code == b"retry" else None)

    def mine(self, person: str) -> list[Lease]:
        """The leases that a person holds, the oldest first."""
        reply = self._moves.mine(strict.person_name(person))
        return [records.lease(self.name, found) for found in reply.rest]

    def why_nothing(self, person: str, skills: Sequence[str] = ()) -> Nothing:
        """Why a reserve would get nothing now: empty, held by others, or paused."""
        strict.skills(skills)
        reply = self._moves.why_nothing(strict.person_name(person))
        if reply.code == b"paused":
            return Nothing("paused", detail=json.loads(reply.rest[0]))
        if reply.code == b"something":
            return Nothing(None)
        free_at = records.when(reply.rest[0]) if reply.rest[0] else None
        return Nothing("held" if reply.code == b"held" else "empty", free_at)

    # Keeping house

    def clear(self, limit: int = 1000) -> Cleared:
        """Return items whose lease ran out and release what is due; ``more`` where the limit was reached."""
        left = strict.integer(limit, "limit", 1, 1_000_000)
        returned = released = died = 0
        more = True
        while more and left > 0:
            reply = self._moves.clear(min(left, _MOVES))
            counts = [int(n) for n in reply.rest]
            returned, released, died = returned + counts[0], released + counts[1], died + counts[2]
            left -= sum(counts[:3])
            more = bool(counts[3])
        return Cleared(returned, released, died, more)

    def pause(self, reason: str | None = None, *, by: str | None = None) -> None:
        """Stop reserve. What is held may be finished."""
        reply = self._moves.pause(arguments.by(by), arguments.text(reason, "reason"))
        self._queue(reply)

    def resume(self, *, by: str | None = None) -> None:
        self._queue(self._moves.resume(arguments.by(by)))

    def revive(self, id: str, *, by: str | None = None) -> Item:
        """Bring a dead item back to inbound, its failures forgotten. A finished one raises Invalid; any
        other is left as it is."""
        reply = self._moves.revive(strict.item_id(id), arguments.by(by))
        if reply.code == b"wrong-state":
            raise Invalid("id", f"a dead item; {id!r} is {reply.rest[0][0].decode()}")
        return self._item(reply, id)

    def release(self, id: str, *, by: str | None = None) -> Item:
        """Take a lease away from whoever holds the item; it returns to inbound."""
        return self._item(self._moves.release(strict.item_id(id), arguments.by(by)), id)

    def remove(self, id: str, *, by: str | None = None) -> None:
        """Forget an item whole, whatever its state."""
        reply = self._moves.remove(strict.item_id(id), arguments.by(by))
        if reply.code == b"no-item" and not reply.resent:
            raise ItemNotFound(self.name, id)

    def adopt(self, id: str, token: int, *, by: str | None = None) -> Item:
        """Make a late answer (named by its token) the item's answer; one that it had is a late one then."""
        number = strict.integer(token, "token", 1, 2**53)
        reply = self._moves.adopt(strict.item_id(id), number, arguments.by(by), ids.request_id())
        if reply.code == b"no-answer":
            raise Invalid("token", f"the token of a late answer of {id!r}; there is none with {number}")
        return self._item(reply, id)

    # Looking

    def get(self, id: str) -> Item:
        """All that is known of an item. Raises ItemNotFound."""
        return self._item(self._moves.get(strict.item_id(id)), id)

    def items(self, state: State, *, limit: int = 100, after: str | Item | None = None) -> list[Item]:
        """Items in one state: inbound in the order in which they are handed out, the others by time."""
        return list(self.page(state, limit=limit, after=after).items)

    def page(self, state: State, *, limit: int = 100, after: str | Item | None = None) -> Page:
        """Like ``items``, with the cursor that leads on. ``after`` takes that, or an Item of the page."""
        if state not in STATES:
            raise Invalid("state", "one of " + ", ".join(STATES))
        left = strict.integer(limit, "limit", 1, 1_000)
        cursor = after.cursor if isinstance(after, Item) else after
        found: list[Item] = []
        while left > 0:
            shelf, score, id = arguments.cursor(cursor)
            asked = min(left, _PAGE)
            reply = self._moves.items(state, asked, shelf, score, id)
            batch = [records.item(item_id.decode(), known) for item_id, _, known in reply.rest]
            found += batch
            left -= asked
            if len(batch) < asked:
                return Page(tuple(found), None)
            cursor = batch[-1].cursor
        return Page(tuple(found), cursor)

    def answers(self, *, with_late: bool = False, chunk: int = 500) -> Iterator[Answer]:
        """Every answer in the order of finishing, in constant memory; ``with_late`` adds the late answers
        of items in any state, after them."""
        for state in STATES if with_late else ("finished",):
            for item in self._walk(state, chunk):
                yield from item.answers
                if with_late:
                    yield from item.late_answers

    def _walk(self, state: State, chunk: int) -> Iterator[Item]:
        page = self.page(state, limit=chunk)
        yield from page.items
        while page.after is not None:
            page = self.page(state, limit=chunk, after=page.after)
            yield from page.items

    def stats(self) -> Stats:
        """Counts of the five states, the age of the oldest in inbound, and what happened so far."""
        counts = self._moves.stats(COUNTERS).rest
        inbound, reserved, scheduled, finished, dead = (int(n) for n in counts[:5])
        return Stats(
            inbound,
            reserved,
            scheduled,
            finished,
            dead,
            oldest_inbound_seconds=None if counts[5] is None else int(counts[5]) / 1e6,
            paused=None if counts[6] is None else json.loads(counts[6]) or "",
            counters={name: int(n) for name, n in zip(COUNTERS, counts[7:], strict=True)},
        )

    def journal(self, after: str | None = None, limit: int = 100) -> list[Event]:
        """What happened, the oldest first; ``after`` is the cursor of the last event seen."""
        most = strict.integer(limit, "limit", 1, 10_000)
        entry, seen = arguments.journal_cursor(after)
        found: list[Event] = []
        for name, fields in self._moves.journal(entry, min(most + 1, 1_000)).rest:
            moves = records.events(name, fields)
            found += moves[seen:] if moves and moves[0].cursor.rpartition(".")[0] == entry else moves
            if len(found) >= most:
                break
        return found[:most]

    # Replies

    def _check(self, reply: Reply, id: str) -> None:
        """Raise what a reply to the holder of a lease means; return where the move was made."""
        if reply.code == b"no-item":
            raise ItemNotFound(self.name, id)
        if reply.code == b"lost":
            kept, known = reply.rest
            item = records.item(id, known)
            raise LeaseLost(arguments.lost(item, bool(kept)), item=item, answer_kept=bool(kept))

    def _item(self, reply: Reply, id: str) -> Item:
        if reply.code == b"no-item":
            raise ItemNotFound(self.name, id)
        return records.item(id, reply.rest[0])

    def _queue(self, reply: Reply) -> None:
        if reply.code == b"no-queue":
            raise QueueNotFound(self.name)


def _stored(policy: Policy, names: Iterable[str]) -> list[str]:
    return to_server(policy, names, form.version(policy.form))


def queues(client: Client) -> list[str]:
    """The names of the queues in a server, sorted."""
    with client.translating():
        found = client.redis.smembers(QUEUES)
    names = sorted(name.decode() if isinstance(name, bytes) else name for name in found)
    return [name for name in names if Queue(client, name).exists()]
