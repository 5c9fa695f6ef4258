"""The download of answers, for REST and the export page."""

from __future__ import annotations

from datetime import datetime

from flask import Response

import leaseq
from leaseq import transfer, validation
from leaseq.webapp.rendering.download import download


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
