"""The queue's methods that add items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Unpack

from leaseq import validation
from leaseq.checkpoints import checkpoint, with_checkpoints
from leaseq.engine import arguments, replies
from leaseq.engine.arguments import each
from leaseq.errors import Invalid, ItemNotFound, QueueNotFound
from leaseq.models import Conflict, Enqueued, EnqueuedMany, ItemOptions, Json, NewItem
from leaseq.policy import Policy
from leaseq.queue.base import Base

# The most that one call to the server adds, which takes the server about a millisecond.
_BATCH = 250  # items
_BATCH_BYTES = 1_000_000

OnConflict = Callable[[Conflict], object]
OnInvalid = Callable[[int, Invalid], object]


class _EnqueueResult(NamedTuple):
    """The outcome of one enqueue call to the server."""

    added: int
    duplicate_id: str  # the id of an earlier item with the first one's payload (dedupe_seconds), or ''
    differing_places: Sequence[int]  # the places of items whose id exists with another payload text


class Producer(Base):
    _wants_digests = False  # whether the policy required digests of the payloads at the last enqueue

    def enqueue(
        self,
        payload: Json,
        *,
        id: str | None = None,
        request_id: str | None = None,
        on_conflict: OnConflict | None = None,
        **options: Unpack[ItemOptions],
    ) -> Enqueued:
        """Add one item. If the queue already has the id, nothing changes and ``added`` is False.

        The same is true if an equal payload was added within the policy's ``dedupe_seconds``; ``id`` is then
        that of the earlier item.

        ``delay`` (in seconds) or ``at`` (a time with a time zone) sets when it may be reserved, by the
        server's clock.

        ``form`` is asked instead of the queue's. After ``expires`` (seconds from now, or a time with a time
        zone) nobody needs the answer: an item that waits is dead then, and one that somebody holds may still
        be finished, and is dead if it comes back. ``to``: the only person who may reserve it, until they give
        it back.

        ``request_id`` identifies this call: repeating it returns the same result. Without an ``id``, the
        item's id is derived from it. Raises Invalid, before anything changes, if the request id was used for
        another item. ``on_conflict`` is called if the item with this id has another payload.
        """
        caller_request = None if request_id is None else arguments.request(request_id)
        new_item = NewItem(payload, id, **options)
        is_derived = id is None and caller_request is not None
        if id is None:
            id = (
                arguments.item_ids(1)[0]
                if caller_request is None
                else arguments.derived_id(self.name, caller_request, 0)
            )
        row = arguments.row(new_item, id)
        result = self._enqueue(row, caller_request, 0)
        if result.differing_places and (is_derived or on_conflict) and self._differs(row):
            if is_derived:
                raise Invalid("request_id", "request_id")
            if on_conflict:
                on_conflict(Conflict(0, row[0]))
        return Enqueued(result.duplicate_id or row[0], result.added == 1)

    def enqueue_many(
        self,
        items: Iterable[Json | NewItem],
        *,
        request_id: str | None = None,
        on_conflict: OnConflict | None = None,
        on_invalid: OnInvalid | None = None,
    ) -> EnqueuedMany:
        """Add any number of payloads or NewItems, in chunks. Each chunk is added as a whole or not at all.

        Raises Invalid for an invalid item, with its place in ``field`` (``items[17].priority``); the chunks
        before it are added, its own and later ones are not. With explicit ids, or with a ``request_id``, from
        which ids are then derived, repeating the call adds only what is missing. An item whose id exists with
        another payload counts as a conflict, and ``on_conflict`` is called with it. ``on_invalid`` is called
        with the place and the error of each invalid item, which is skipped and not counted, instead of
        raising.
        """
        caller_request = None if request_id is None else arguments.request(request_id)
        make_id = arguments.id_maker(self.name, caller_request, _BATCH)
        added = total = invalid_count = conflicts = size = chunk = 0
        rows: list[str] = []
        places: list[int] = []  # the places of the rows among the items

        def send() -> None:
            nonlocal added, conflicts, size, chunk, rows, places
            result = self._enqueue(rows, caller_request, chunk)
            for place in with_checkpoints(result.differing_places):
                row = rows[3 * place - 3 : 3 * place]
                if not self._differs(row):
                    continue
                conflicts += 1
                if on_conflict:
                    on_conflict(Conflict(places[place - 1], row[0]))
            added, chunk, rows, places, size = added + result.added, chunk + 1, [], [], 0

        for item in each(items):
            checkpoint()
            try:
                row = _row(item, make_id, total)
            except Invalid as error:
                if on_invalid is None:
                    raise error.at(f"items[{total}].{error.field}") from None
                on_invalid(total, error)
                total, invalid_count = total + 1, invalid_count + 1
                continue
            rows += row
            places.append(total)
            total += 1
            size += len(row[2])
            if len(rows) == 3 * _BATCH or size > _BATCH_BYTES:
                send()
        if rows:
            send()
        return EnqueuedMany(added, total - invalid_count - added - conflicts, conflicts)

    def _enqueue(self, rows: Sequence[str], caller_request: str | None, chunk: int) -> _EnqueueResult:
        """Send items: id, head and payload of each. ``caller_request``: the caller's request id.

        The server asks for digests if the policy requires them, and replies whether it used them, so this
        doesn't depend on a cached policy.
        """
        request = (
            arguments.request_id()
            if caller_request is None
            else arguments.numbered_request(caller_request, chunk, rows)
        )
        while True:
            sent_rows = arguments.with_digests(rows) if self._wants_digests else rows
            try:
                reply = self._commands.run("enqueue", request, *sent_rows)
            except QueueNotFound:
                self._create(Policy())
                continue
            if reply.code != replies.DIGESTS:
                break
            self._wants_digests = True
        added, duplicate_id, differing_places = [*reply.rest, None, None][:3]
        self._wants_digests = duplicate_id is not None
        return _EnqueueResult(
            int(added), duplicate_id.decode() if duplicate_id else "", differing_places or ()
        )

    def _differs(self, row: Sequence[str]) -> bool:
        """Whether the item with this row's id has another payload. True, as the server replied, if the item
        has been removed since."""
        id, _, payload = row
        try:
            existing_item = self._run_on_item("get", id)
        except ItemNotFound:
            return True
        return arguments.digest(validation.dump_json(existing_item.payload, "payload")) != arguments.digest(
            payload
        )


def _row(item: Json | NewItem, make_id: Callable[[int], str], place: int) -> list[str]:
    """The id, head and payload of an item, as `arguments.row` returns them."""
    if not isinstance(item, NewItem):
        return [make_id(place), "", validation.dump_json(item, "payload")]
    return arguments.row(item, make_id(place) if item.id is None else item.id)
