"""The list of people as shown on its page, and the stream that updates it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import Response, jsonify, request

from leaseq.transfer import rfc3339
from leaseq.webapp.context import State, person, state
from leaseq.webapp.item_title import item_title
from leaseq.webapp.people.roster import CRITERIA, Roster, Row, View
from leaseq.webapp.realtime.poller import Channel, Watcher, message
from leaseq.webapp.realtime.stream import AccessCheck, Stream
from leaseq.webapp.rendering.event_stream import stream_events, with_time
from leaseq.webapp.serving.bodies import whole_number

PAGE = 100
_READ_SECONDS = 2.0  # seconds between two reads, shared by all watchers


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of the list: the search, its order, and the index of the first row."""

    criteria: Mapping[str, str]
    start: int

    @classmethod
    def of_request(cls) -> Listing:
        criteria = {name: request.args[name] for name in CRITERIA if request.args.get(name)}
        return cls(criteria, whole_number(request.args.get("from")) or 0)

    def pages(self, count: int) -> dict[str, int | None]:
        """The first index of this, the previous and the next page in a list of this length; None: no page."""
        after = self.start + PAGE
        return {
            "start": self.start,
            "previous_start": max(self.start - PAGE, 0) if self.start else None,
            "next_start": after if count > after else None,
        }

    def figures(self, roster: Roster, view: View) -> dict[str, Any]:
        rows = view.matching(self.criteria, roster.access)
        doing = [row.work_state for row in rows]
        return {
            "people": [_row_json(row) for row in rows[self.start : self.start + PAGE]],
            "count": len(rows),
            "working": doing.count("working"),
            "on_break": doing.count("break"),
            "last_hour": sum(row.last_hour for row in rows),
            "done": sum(row.today.finished for row in rows),
        }


def _row_json(row: Row) -> dict[str, Any]:
    """A row as JSON, from which the page is rendered too."""
    account, today, lease = row.person, row.today, row.held[0] if row.work_state == "working" else None
    return {
        "key": account.name,
        "name": account.name,
        "role": account.role,
        "doing": row.work_state,
        "working": row.work_state == "working",
        "on_break": row.work_state == "break",
        "away": row.work_state in ("idle", "disabled"),
        "since": rfc3339(row.since) if row.since else None,
        "id": lease.id if lease else None,
        "title": item_title(lease.payload, lease.id) if lease else None,
        "queue": lease.queue if lease else None,
        "more": len(row.held) - 1 if lease else len(row.held),
        "last_hour": row.last_hour,
        "done": today.finished,
        "each": None if today.seconds_each is None else round(today.seconds_each),
        "back": today.abandoned,
        "seen": rfc3339(row.signed_in_at) if row.signed_in_at else None,
        "factor": row.has_factor,
        "team": account.team,
        "skills": ", ".join(account.skills),
    }


class PeopleWatcher(Watcher):
    """A client that watches a page of the list."""

    def __init__(self, stream: Stream, access: AccessCheck, viewer: str, listing: Listing) -> None:
        super().__init__(stream, access)
        self.viewer = viewer
        self.listing = listing
        self.figures: Any = None


class PeopleChannel(Channel):
    """Sends each watcher its page whenever that changes."""

    name = "people"

    def __init__(self, state: State, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._state = state
        self._clock = clock
        self._cache: tuple[float, Roster] | None = None  # time of the read, and the roster

    def serve(self, watchers: Sequence[PeopleWatcher]) -> None:
        now = self._clock()
        if self._cache is None or now - self._cache[0] >= _READ_SECONDS:
            self._cache = (now, Roster.read(self._state))
        roster = self._cache[1]
        for watcher in watchers:
            viewer = roster.person(watcher.viewer)  # read again: their role or team may have changed
            if viewer is None:
                watcher.stream.end()
                continue
            figures = watcher.listing.figures(roster, roster.view_for(viewer))
            if figures != watcher.figures:
                watcher.figures = figures
                watcher.stream.put(message("figures", with_time(figures)))


def as_stream() -> Response:
    """An event stream with the URL's page of the list, whenever it changes."""
    listing, viewer = Listing.of_request(), person().name
    return stream_events(
        PeopleChannel(state()), lambda stream, access: PeopleWatcher(stream, access, viewer, listing)
    )


def as_json() -> Response:
    roster = Roster.read(state())
    return jsonify(with_time(Listing.of_request().figures(roster, roster.view_for(person()))))
