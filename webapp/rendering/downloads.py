"""Downloads, which ask while they are sent who may see them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from flask import Response, stream_with_context
from werkzeug.exceptions import Forbidden

import leaseq
from leaseq import transfer, validation
from leaseq.webapp.context import person, state
from leaseq.webapp.security.authorization import request_check
from leaseq.webapp.store.base import reader_of

PIECES_PER_CHECK = 100
"""After so many pieces, mostly rows, it is checked that the person may still have them."""


def download(pieces: Iterator[bytes], content_type: str, filename: str) -> Response:
    """A response with these pieces; nothing more is sent once the person has lost access. ``filename`` is
    plain ASCII without quotes.

    The first piece is generated before the response begins, so that an unreachable server still causes an
    error. Raises TooManyOpen.
    """
    first_piece = next(pieces, b"")
    call, slots = state().open_calls.begin("exports", person().name), state().request_slots
    check, read = request_check(call.confirm), reader_of(state().client)

    def refuse_without_access() -> None:
        if not check.passes(read(check.reads)):
            raise Forbidden("you may not have this any more: your account, token or access has changed")

    def body() -> Iterator[bytes]:
        if first_piece:
            yield first_piece
        for number, piece in enumerate(iter(next_piece, None), 1):
            if number % PIECES_PER_CHECK == 0:
                refuse_without_access()
            yield piece
        call.end()

    def next_piece() -> bytes | None:
        with slots.hold():
            piece = next(pieces, None)
            call.confirm()
        return piece

    try:
        refuse_without_access()  # the first piece may have taken long
    except BaseException:
        call.end()
        raise
    response = Response(stream_with_context(body()), content_type=content_type)
    response.call_on_close(call.end)
    response.headers["Content-Disposition"] = f'attachment; filename="{filename}"'
    return response


def streamed_answers(
    queue: leaseq.Queue,
    format: transfer.Format,
    *,
    since: datetime | None,
    until: datetime | None,
    person: str | None,
    late: bool | None,
    with_late: bool,
    raw_cells: bool = False,
    bom: bool = False,
) -> Response:
    """The answers that match the filters; None: any. Raises Invalid with the field, and TooManyOpen."""
    answers = queue.answers(
        with_late=with_late,
        person=None if person is None else validation.person_name(person),
        since=since,
        until=until,
        late=late,
    )
    pieces = transfer.encode(answers, format, form=queue.policy.form, raw_cells=raw_cells, bom=bom)
    return download(iter(pieces), transfer.CONTENT_TYPES[format], f"{queue.name}.{format}")
