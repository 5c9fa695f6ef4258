"""Answers as a download, for REST and for the export page."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import datetime

from flask import Response, stream_with_context

import leaseq
from leaseq import transfer, validation
from leaseq.webapp.context import person as person_of_request
from leaseq.webapp.context import state


def streamed_answers(
    queue: leaseq.Queue,
    format: transfer.Format,
    *,
    since: datetime | None,
    until: datetime | None,
    person: str | None,
    late: bool | None,
    with_late: bool,
) -> Response:
    """The answers that the filters leave; None: all. Raises Invalid with the field's name.

    Its first piece is made before the answer begins, so that a server that is away is still an error. Raises
    TooManyOpen.
    """
    answers = queue.answers(
        with_late=with_late,
        person=None if person is None else validation.person_name(person),
        since=since,
        until=until,
        late=late,
    )
    pieces: Iterator[bytes] = iter(transfer.encode(answers, format))
    first = list(itertools.islice(pieces, 1))
    call, slots = state().open_calls.begin("exports", person_of_request().name), state().request_slots

    def body() -> Iterator[bytes]:
        yield from first
        while True:
            with slots.held():
                piece = next(pieces, None)
                call.confirm()
            if piece is None:
                call.end()
                return
            yield piece

    response = Response(stream_with_context(body()), content_type=transfer.CONTENT_TYPES[format])
    response.call_on_close(call.end)
    response.headers["Content-Disposition"] = f'attachment; filename="{queue.name}.{format}"'
    return response
