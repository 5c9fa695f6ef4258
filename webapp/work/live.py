"""The stream of a work page: leases that a manager ended, answers to questions, and whether the queue is
paused."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from flask import Response, request

import leaseq
from leaseq.webapp.context import existing_queue, person, state
from leaseq.webapp.realtime.poller import QueueChannel, Vouch, Watcher, message
from leaseq.webapp.realtime.stream import Stream
from leaseq.webapp.rendering.event_stream import streamed
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.serving.numbers import whole
from leaseq.webapp.store.threads import Answered, Position, Threads
from leaseq.webapp.work import bp

ENDED_BY_OTHERS: Final = ("released", "removed")
_READ_EVERY = 0.5  # seconds; all watchers of a queue share what is read
_PAGE = 5_000  # events of one read; the rest is read by the next
_KEPT = 60_000_000  # microseconds for which an ended lease is kept for a page that is about to watch


class LeaseWatcher(Watcher):
    """A work page, with the token of its lease. It knows of the leases that ended by ``position``, and of the
    answers by ``answered``."""

    def __init__(
        self, stream: Stream, vouch: Vouch, token: int | None, position: int, answered: Position
    ) -> None:
        super().__init__(stream, vouch)
        self.token = token
        self.position = position
        self.answered = answered
        self.knows_pause = False
        self.paused: str | None = None


class LeaseChannel(QueueChannel):
    """Sends `ended`, with the tokens of leases that managers ended, `answered`, with the items that managers
    wrote about, and `paused`, with the reason or null."""

    def __init__(
        self,
        queue: leaseq.Queue,
        threads: Threads,
        position: int,
        answered: Position,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(queue)
        self._threads = threads
        self._clock = clock
        self._latest = answered
        self._answered: list[Answered] = []  # oldest first
        self._read_at = -_READ_EVERY
        self._position = position  # of the latest event that was read
        self._cursor = f"{position}.0" if position else None
        self._ended: list[tuple[int, int]] = []  # position and token, oldest first
        self._paused: str | None = None

    def serve(self, watchers: Sequence[LeaseWatcher]) -> None:
        now = self._clock()
        if now - self._read_at >= _READ_EVERY:
            self._read_at = now
            try:
                self._read()
            except leaseq.QueueNotFound:  # it was deleted, and all its leases with it
                for one in watchers:
                    one.stream.put(message("ended", [one.token]))
                raise
            self._read_answers()
        for one in watchers:
            if one.position < self._position:
                tokens = [token for position, token in self._ended if position > one.position]
                one.position = self._position
                if tokens:
                    one.stream.put(message("ended", tokens))
            if one.answered < self._latest:
                ids = [answer.id for answer in self._answered if answer.position > one.answered]
                one.answered = self._latest
                if ids:
                    one.stream.put(message("answered", ids))
            if not one.knows_pause or one.paused != self._paused:
                one.knows_pause, one.paused = True, self._paused
                one.stream.put(message("paused", self._paused))

    def _read(self) -> None:
        self._paused = self.queue.stats().paused
        rows = self.queue.event_rows(after=self._cursor, limit=_PAGE)
        if not rows:
            return
        self._position, self._cursor = rows[-1].position, rows[-1].cursor
        self._ended = [one for one in self._ended if one[0] > self._position - _KEPT]
        self._ended += [
            (row.position, row.token) for row in rows if row.token is not None and row.what in ENDED_BY_OTHERS
        ]

    def _read_answers(self) -> None:
        new = self._threads.answered_since(self._latest)
        if new:
            self._latest = new[-1].position
            since = self._latest[0] - _KEPT // 1_000
            kept = (one for one in self._answered if one.position[0] > since)
            self._answered = [*kept, *(one for one in new if one.queue == self.queue.name)]


@bp.get("/q/<q>/live")
@needs("worker")
def live(q: str) -> Response:
    """What others do while a person works on the lease with the token ``token``, as an event stream. One
    that is over already is said at once."""
    queue, token = existing_queue(q), whole(request.args.get("token"))
    latest = queue.latest_events(1)
    position = int(latest[0].cursor.partition(".")[0]) if latest else 0
    threads = state().threads
    answered = threads.latest_answer()
    is_over = token is not None and all(one.token != token for one in queue.mine(person().name))

    def watch(stream: Stream, vouch: Vouch) -> LeaseWatcher:
        if is_over:
            stream.put(message("ended", [token]))
        return LeaseWatcher(stream, vouch, token, position, answered)

    return streamed(LeaseChannel(queue, threads, position, answered), watch)
