"""Answers as a download, for REST and for the manager's page."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from flask import Response, stream_with_context

import leaseq
from leaseq import transfer, validation


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which answers an export is to have."""

    since: datetime | None = None
    until: datetime | None = None
    person: str | None = None
    late: bool | None = None
    with_late: bool = False

    @classmethod
    def of(
        cls,
        *,
        since: str | None = None,
        until: str | None = None,
        person: str | None = None,
        late: bool | None = None,
        with_late: bool = False,
    ) -> Wanted:
        """As an address names them; None: all. Invalid with the field's name."""
        return cls(
            since=None if since is None else transfer.time_of(since, "from"),
            until=None if until is None else transfer.time_of(until, "to", last=True),
            person=None if person is None else validation.person_name(person),
            late=late,
            with_late=with_late,
        )


def streamed_answers(queue: leaseq.Queue, format: transfer.Format, wanted: Wanted) -> Response:
    """Its first piece is made before the answer begins, so that a server that is away is still an error."""
    answers = queue.answers(
        with_late=wanted.with_late,
        person=wanted.person,
        since=wanted.since,
        until=wanted.until,
        late=wanted.late,
    )
    pieces: Iterator[bytes] = iter(transfer.encode(answers, format))
    first = list(itertools.islice(pieces, 1))
    body = stream_with_context(itertools.chain(first, pieces))
    response = Response(body, content_type=transfer.CONTENT_TYPES[format])
    response.headers["Content-Disposition"] = f'attachment; filename="{queue.name}.{format}"'
    return response
