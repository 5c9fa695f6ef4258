"""What every way in has in common: a new session, limited tries, and where one goes on."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import flask_login
from flask import Blueprint, request, session, url_for
from flask_babel import gettext as _

from leaseq import Invalid
from webapp.accounts import Person
from webapp.accounts.attempts import Counter, of_password
from webapp.errors import Problem
from webapp.gate import Visitor
from webapp.numbers import whole
from webapp.state import accounts, person

bp = Blueprint("auth", __name__)

HALF_WAY_SECONDS = 600
_HALF_WAY = "half-way"
TOKEN_DAYS: Sequence[int] = (30, 90, 365)
"""What the form for a token offers, besides never; the second is chosen already."""


def own_path(target: str | None) -> str:
    """``target`` where it is a path of this app, else home: nobody is sent elsewhere by a link to us."""
    # Two slashes begin a host. A browser takes a backslash for a slash, and leaves out tabs and line ends.
    own = target and target.startswith("/") and not target.startswith("//")
    if target and own and "\\" not in target and target.isprintable():
        return target
    return url_for("work.home")


def sign_in(who: Person) -> None:
    """A new session, whatever the browser had before: what was known of the old one opens nothing."""
    end_session()
    session.permanent = True
    flask_login.login_user(Visitor(who, accounts().sessions.start(who)))


def end_session() -> None:
    """End the session on the server too, so that a copy of its cookie is worth nothing."""
    known = session.get("_user_id")
    if isinstance(known, str):
        accounts().sessions.end(known)
    flask_login.logout_user()
    session.clear()


@dataclass(frozen=True, slots=True)
class HalfWay:
    """Who gave the right password and is to give a code yet."""

    name: str
    version: int
    at: float
    next: str


def go_half_way(who: Person, target: str) -> None:
    end_session()
    session[_HALF_WAY] = [who.name, who.version, time.time(), target]


def half_way() -> HalfWay | None:
    kept = session.get(_HALF_WAY)
    if not isinstance(kept, list) or len(kept) != 4:
        return None
    found = HalfWay(*kept)
    return found if time.time() - found.at < HALF_WAY_SECONDS else None


def begin_try(counters: list[Counter]) -> None:
    """Count a try, or refuse it where too many failed."""
    wait = accounts().attempts.begin(counters)
    if wait:
        text = _("Too many sign-ins failed. Wait a few minutes and try again.")
        problem = Problem(429, "too-many-requests", text)
        problem.headers["Retry-After"] = str(wait)
        raise problem


def check_present_password() -> None:
    """Before a change that would lock the person out: whoever sits at their desk does not know it."""
    me = person()
    counters = of_password(me.name, request.remote_addr or "")
    begin_try(counters)
    if accounts().verify(me.name, request.form.get("password", "")) is None:
        raise Invalid("password", "your present one", _("That is not your present password."))
    accounts().attempts.forgive(counters)


def new_password() -> str:
    """The password of a form that asks for it twice."""
    password = request.form.get("new_password", "")
    if password != request.form.get("again", ""):
        raise Invalid("password", "the same twice", _("The two passwords differ. Type the same twice."))
    return password


def token_fields() -> dict[str, Any]:
    """What the form for a token says, as ``Accounts.create_token`` takes it."""
    sent = request.form
    days = sent.get("days", str(TOKEN_DAYS[1]))
    count = whole(days)
    if days != "never" and count is None:
        raise Invalid("days", "a number of days, or never")
    return {
        "name": sent.get("token_name", ""),
        "scope": sent.get("scope") or None,
        "queue": sent.get("queue") or None,
        "days": count,
    }
