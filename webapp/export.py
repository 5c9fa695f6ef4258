"""Answers as a download, for REST and for the manager's page."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from flask import Response, stream_with_context

import leaseq
from leaseq import transfer


def streamed_answers(queue: leaseq.Queue, format: transfer.Format, *, with_late: bool = False) -> Response:
    """Its first piece is made before the answer begins, so that a server that is away is still an error."""
    pieces: Iterator[bytes] = iter(transfer.encode(queue.answers(with_late=with_late), format))
    first = list(itertools.islice(pieces, 1))
    body = stream_with_context(itertools.chain(first, pieces))
    response = Response(body, content_type=transfer.CONTENT_TYPES[format])
    response.headers["Content-Disposition"] = f'attachment; filename="{queue.name}.{format}"'
    return response
