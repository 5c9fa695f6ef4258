"""The event stream of a work page: leases that a manager ended, answers to questions, announcements, and
pauses."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from flask import Response, request

import leaseq
from leaseq.followers import MemoryPlace, read_on
from leaseq.webapp.context import existing_queue, person, state
from leaseq.webapp.realtime.poller import AccessCheck, QueueChannel, Stream, Watcher, message
from leaseq.webapp.rendering.downloads import stream_events
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.serving.bodies import whole_number
from leaseq.webapp.store.announcements import Announcement, Announcements
from leaseq.webapp.store.threads import AnswerNotice, Position, Threads
from leaseq.webapp.work.blueprint import bp

GRANTS: Final = ("reserved", "undone")
_MAX_LEASES = 200  # of a person, of which this many of the latest are remembered
ENDED_BY_OTHERS: Final = ("released", "removed")
_READ_SECONDS = 0.5  # seconds; all watchers of a queue share a read
_PAGE = 5_000  # events per read; the next read gets the rest
_KEPT_MICROS = 60_000_000  # how long an ended lease is kept for a page about to connect


class LeaseWatcher(Watcher):
    """A work page, with the leases (id by token) that its person held when it connected. It was sent the
    leases that ended up to ``position``, and the answers up to ``answer_position``."""

    def __init__(
        self,
        stream: Stream,
        access: AccessCheck,
        person: str,
        leases: Mapping[int, str],
        position: int,
        answer_position: Position,
    ) -> None:
        super().__init__(stream, access)
        self.person = person
        self.leases = dict(leases)
        self.position = position
        self.answer_position = answer_position
        self.knows_state = False  # whether it was sent the pause and the announcement
        self.paused: str | None = None
        self.announcement: Announcement | None = None


class LeaseChannel(QueueChannel):
    """Sends `ended` with the tokens of leases that managers ended, `answered` with the ids of items that
    managers wrote about, `paused` with the reason or null, and `announcement` with its id and text or
    null."""

    def __init__(
        self,
        queue: leaseq.Queue,
        threads: Threads,
        announcements: Announcements,
        position: int,
        answer_position: Position,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(queue)
        self._threads = threads
        self._announcements = announcements
        self._announcement: Announcement | None = None
        self._clock = clock
        self._answer_position = answer_position
        self._answers: list[AnswerNotice] = []  # oldest first
        self._read_at = -_READ_SECONDS
        self._position = position  # of the latest event read
        self._place = MemoryPlace(f"{position}.0" if position else None)
        self._ended_leases: list[tuple[int, int]] = []  # (position, token), oldest first
        self._granted: dict[str, dict[int, str]] = {}  # id by token, by person, since this channel began
        self._paused: str | None = None

    def serve(self, watchers: Sequence[LeaseWatcher]) -> None:
        now = self._clock()
        if now - self._read_at >= _READ_SECONDS:
            self._read_at = now
            try:
                self._read()
            except leaseq.QueueNotFound:  # it was deleted with all its leases
                for watcher in watchers:
                    watcher.stream.put(message("ended", list(self._leases_of(watcher))))
                raise
            self._read_answers()
        for watcher in watchers:
            if watcher.position < self._position:
                own_tokens = self._leases_of(watcher)
                tokens = [
                    token
                    for position, token in self._ended_leases
                    if position > watcher.position and token in own_tokens
                ]
                watcher.position = self._position
                if tokens:
                    watcher.stream.put(message("ended", tokens))
            if watcher.answer_position < self._answer_position:
                own_ids = set(self._leases_of(watcher).values())
                ids = [
                    answer.id
                    for answer in self._answers
                    if answer.position > watcher.answer_position and answer.id in own_ids
                ]
                watcher.answer_position = self._answer_position
                if ids:
                    watcher.stream.put(message("answered", ids))
            self._send_state(watcher)

    def _send_state(self, watcher: LeaseWatcher) -> None:
        """Send the pause and the announcement that the watcher does not know."""
        is_new = not watcher.knows_state
        if is_new or watcher.paused != self._paused:
            watcher.paused = self._paused
            watcher.stream.put(message("paused", self._paused))
        if is_new or watcher.announcement != self._announcement:
            watcher.announcement = self._announcement
            watcher.stream.put(message("announcement", _shown(self._announcement)))
        watcher.knows_state = True

    def _leases_of(self, watcher: LeaseWatcher) -> Mapping[int, str]:
        """The leases that the watcher's person held when it connected, and has been granted since."""
        return {**watcher.leases, **self._granted.get(watcher.person, {})}

    def _note(self, rows: Sequence[leaseq.EventRow]) -> None:
        for row in rows:
            if row.what in GRANTS and row.person and row.id and row.token is not None:
                leases = self._granted.setdefault(row.person, {})
                leases[row.token] = row.id
                if len(leases) > _MAX_LEASES:
                    del leases[next(iter(leases))]
        self._position = rows[-1].position
        self._ended_leases = [
            lease for lease in self._ended_leases if lease[0] > self._position - _KEPT_MICROS
        ]
        self._ended_leases += [
            (row.position, row.token) for row in rows if row.token is not None and row.what in ENDED_BY_OTHERS
        ]

    def _read(self) -> None:
        self._paused = self.queue.stats().paused
        self._announcement = self._announcements.get(self.queue.name)
        read_on(self.queue.event_rows, self._place, self._note, _PAGE)

    def _read_answers(self) -> None:
        answers = self._threads.answered_since(self._answer_position)
        if answers:
            self._answer_position = answers[-1].position
            since = self._answer_position[0] - _KEPT_MICROS // 1_000
            recent_answers = (answer for answer in self._answers if answer.position[0] > since)
            self._answers = [
                *recent_answers,
                *(answer for answer in answers if answer.queue == self.queue.name),
            ]


def _shown(announcement: Announcement | None) -> dict[str, str] | None:
    return {"id": announcement.id, "text": announcement.text} if announcement else None


@bp.get("/q/<q>/live")
@needs("worker")
def live(q: str) -> Response:
    """The actions of others while a person works on the lease with this ``token``, as an event stream. A
    lease that has already ended is reported first."""
    queue, token = existing_queue(q), whole_number(request.args.get("token"))
    events = queue.latest_events(1)
    position = int(events[0].cursor.partition(".")[0]) if events else 0
    threads, announcements, name = state().threads, state().announcements, person().name
    answer_position = threads.latest_answer()
    leases = {lease.token: lease.id for lease in queue.mine(name)}
    is_over = token is not None and token not in leases

    def watch(stream: Stream, access: AccessCheck) -> LeaseWatcher:
        if is_over:
            stream.put(message("ended", [token]))
        return LeaseWatcher(stream, access, name, leases, position, answer_position)

    return stream_events(LeaseChannel(queue, threads, announcements, position, answer_position), watch)
