"""The undo cookie: the person's last act on an item, which pages offer to undo for a few seconds.

It is separate from the session cookie, which would have to be signed at each finish: that takes longer than
the finish itself. This one needs no signature, since the server checks who may undo what.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast, get_args
from urllib.parse import quote, unquote

from flask import Response, after_this_request, current_app, g, request

from leaseq.webapp.context import person, state
from leaseq.webapp.work import bp

SECONDS = 10

Act: TypeAlias = Literal["finish", "finish late", "later", "never", "fail", "fail for good"]


@dataclass(frozen=True, slots=True)
class UndoableAct:
    """The act that the cookie names."""

    queue: str
    id: str
    token: int
    act: Act
    seconds: float  # left for undoing


def remember_act(queue: str, id: str, token: int, act: Act) -> None:
    parts = (person().name, queue, id, str(token), act, str(time.time()))
    g.undo_cookie, g.last_act = "/".join(map(_quote, parts)), UndoableAct(queue, id, token, act, SECONDS)
    after_this_request(_set_cookie)


def forget_act() -> None:
    """Delete the cookie, because an undo would no longer undo the last act."""
    if _cookie_name() in request.cookies:
        g.undo_cookie, g.last_act = "", None
        after_this_request(_set_cookie)


@bp.app_template_global()
def last_act() -> UndoableAct | None:
    """The last act, if it can still be undone."""
    if "last_act" in g:
        return cast("UndoableAct | None", g.last_act)
    cookie = request.cookies.get(_cookie_name(), "")
    try:
        name, queue, id, token, act, at = map(unquote, cookie.split("/"))
        undoable_act = UndoableAct(queue, id, int(token), cast("Act", act), float(at) + SECONDS - time.time())
    except ValueError:
        return None  # no cookie, or a forged one
    is_own = g.get("person") is not None and person().name == name and act in get_args(Act)
    return undoable_act if is_own and 0 < undoable_act.seconds <= SECONDS else None


def _quote(part: str) -> str:
    return quote(part, safe="")


def _set_cookie(response: Response) -> Response:
    secure, seconds = state().settings.secure_cookies, SECONDS if g.undo_cookie else 0
    response.set_cookie(
        _cookie_name(), g.undo_cookie, max_age=seconds, secure=secure, httponly=True, samesite="Lax"
    )
    return response


def _cookie_name() -> str:
    return f"{current_app.config['SESSION_COOKIE_NAME']}-saved"
