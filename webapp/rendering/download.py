"""The response for a file that is generated while it is sent."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from flask import Response, stream_with_context

from leaseq.webapp.context import person, state


def download(pieces: Iterator[bytes], content_type: str, filename: str) -> Response:
    """A response with these pieces. ``filename`` is plain ASCII without quotes.

    The first piece is generated before the response begins, so that an unreachable server still causes an
    error. Raises TooManyOpen.
    """
    first_pieces = list(itertools.islice(pieces, 1))
    call, slots = state().open_calls.begin("exports", person().name), state().request_slots

    def body() -> Iterator[bytes]:
        yield from first_pieces
        while True:
            with slots.hold():
                piece = next(pieces, None)
                call.confirm()
            if piece is None:
                call.end()
                return
            yield piece

    response = Response(stream_with_context(body()), content_type=content_type)
    response.call_on_close(call.end)
    response.headers["Content-Disposition"] = f'attachment; filename="{filename}"'
    return response
