"""What somebody just finished: for a few seconds the pages offer to undo it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from flask import session

from webapp.work import bp

SECONDS = 10
_KEY = "saved"


@dataclass(frozen=True, slots=True)
class Saved:
    queue: str
    id: str
    token: int
    late: bool
    seconds: float  # for how long it may still be undone


def remember(queue: str, id: str, token: int, late: bool) -> None:
    session[_KEY] = [queue, id, token, late, time.time()]


def forget() -> None:
    session.pop(_KEY, None)


@bp.app_template_global()
def last_saved() -> Saved | None:
    """The last finish, while it may be undone."""
    found: list[Any] | None = session.get(_KEY)
    if found is None:
        return None
    queue, id, token, late, at = found
    seconds = at + SECONDS - time.time()
    return Saved(queue, id, token, late, seconds) if 0 < seconds <= SECONDS else None
