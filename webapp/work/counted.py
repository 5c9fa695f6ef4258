"""What was just done here goes into the figures of the day."""

from __future__ import annotations

from flask import request

from leaseq.webapp.context import person, state
from leaseq.webapp.serving.numbers import whole
from leaseq.webapp.store.activity import DayFigures, How


def count(queue: str, how: How, id: str, token: int, held_seconds: float = 0) -> DayFigures | None:
    """Count one item, with the active time that the page measured (the form's field ``active_ms``). Gives the
    person's figures of today, where they are to be had."""
    return state().days.record(
        person().name,
        queue,
        how,
        id=id,
        token=token,
        active_ms=whole(request.form.get("active_ms")) or 0,
        held_ms=round(held_seconds * 1_000),
    )
