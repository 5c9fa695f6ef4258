"""A queue's journal as an event stream: each event once, in order, resumable after a disconnect."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from typing import Any

from flask import Response, request

import leaseq
from leaseq.followers import MemoryPlace, read_on
from leaseq.webapp.api.blueprint import bp
from leaseq.webapp.api.description.openapi import LAST_EVENT_ID
from leaseq.webapp.api.models.requests import EventsQuery, QueuePath
from leaseq.webapp.api.models.responses import Event, Stats
from leaseq.webapp.context import existing_queue
from leaseq.webapp.realtime.poller import AccessCheck, QueueChannel, Stream, Watcher, message
from leaseq.webapp.rendering.downloads import stream_events
from leaseq.webapp.security.authorization import needs

TAGS: list[Any] = [{"name": "manage"}]
_STREAM = {
    "description": "While it is open: `stats` when a count changes, `journal` for each event. "
    "A comment every 15 seconds keeps it alive",
    "content": {"text/event-stream": {"schema": {"description": "Events, each with its name and JSON"}}},
}
PAGE = 1_000  # events
PAGES = 10  # per poll; the next poll sends the rest
MAX_UNSENT_BYTES = 1 << 18  # unsent bytes at which a client gets no more for now


class JournalReader(Watcher):
    """A client that gets every event after ``cursor``."""

    def __init__(self, stream: Stream, access: AccessCheck, cursor: str | None) -> None:
        super().__init__(stream, access)
        self.cursor = cursor
        self.stats: Any = None


class JournalChannel(QueueChannel):
    """Readers of the same cursor share one read of the journal."""

    def serve(self, watchers: Sequence[JournalReader]) -> None:
        self._send_stats(watchers)
        by_cursor: dict[str | None, list[JournalReader]] = defaultdict(list)
        for reader in watchers:
            by_cursor[reader.cursor].append(reader)
        for cursor, readers in by_cursor.items():
            self._send_events(cursor, readers)

    def _send_stats(self, watchers: Sequence[JournalReader]) -> None:
        stats = Stats.from_record(self.queue.stats())
        counts = {**stats, "oldest_inbound_seconds": None}  # grows all the time: not a change
        for reader in watchers:
            if reader.stats != counts:
                reader.stats = counts
                reader.stream.put(message("stats", stats))

    def _send_events(self, cursor: str | None, readers: Sequence[JournalReader]) -> None:
        place, sent_count = MemoryPlace(cursor), PAGE
        for _ in range(PAGES):
            ready_readers = [
                reader
                for reader in readers
                if reader.cursor == place.cursor and reader.stream.pending < MAX_UNSENT_BYTES
            ]
            if not ready_readers or sent_count < PAGE:
                return
            sent_count = read_on(self.queue.journal, place, partial(_send, ready_readers), PAGE)


def _send(readers: Sequence[JournalReader], events: Sequence[leaseq.Event]) -> None:
    data = b"".join(message("journal", Event.from_record(event), event.cursor) for event in events)
    for reader in readers:
        reader.cursor = events[-1].cursor
        reader.stream.put(data)


@bp.get("/queues/<q>/events", tags=TAGS, responses={"200": _STREAM})
@needs("manager")
def events(path: QueuePath, query: EventsQuery) -> Response:
    """Stream the queue's events and counts, as server-sent events.

    The stream starts with the next event, or after the event that `Last-Event-ID` or `after` names. The id of
    a `journal` event is its cursor, so a browser that reconnects misses no event that is still in the
    journal.
    """
    queue = existing_queue(path.q)
    after = request.headers.get(LAST_EVENT_ID) or query.after
    if after is None:
        last_events = queue.latest_events(1)
        after = last_events[0].cursor if last_events else None
    else:
        queue.journal(after=after, limit=1)  # refuses an invalid cursor

    return stream_events(JournalChannel(queue), lambda stream, access: JournalReader(stream, access, after))
