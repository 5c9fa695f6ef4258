"""What every way in has in common: a new session, limited tries, and where one goes on."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import flask_login
from flask import Blueprint, redirect, request, session, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

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


Step = Literal["password", "code"]


@dataclass(frozen=True, slots=True)
class HalfWay:
    """A sign-in that waits for its next step: whose it is, and where it leads."""

    name: str
    version: int  # of the person's sessions, when it began
    step: Step  # what is asked for next
    next: str
    subject: str = ""  # who they are at the identity provider, where the account is to be tied to it
    at: float = 0.0


def wait_for(step: Step, who: Person, target: str, subject: str = "") -> Response:
    """Keep what was shown so far, and ask for the next step."""
    end_session()
    session[_HALF_WAY] = asdict(HalfWay(who.name, who.version, step, target, subject, time.time()))
    return redirect(url_for("auth.tie" if step == "password" else "auth.code"), 303)


def half_way(step: Step) -> tuple[HalfWay, Person] | None:
    """The sign-in of this browser that waits for the step, and its person, as long as it may go on."""
    try:
        found = HalfWay(**session.get(_HALF_WAY, {}))
    except TypeError:  # nothing waits, or it began before an upgrade
        return None
    who = accounts().find(found.name)
    late = time.time() - found.at >= HALF_WAY_SECONDS
    if late or found.step != step or who is None or who.disabled or who.version != found.version:
        return None
    return found, who


def go_on(who: Person, target: str, subject: str = "") -> Response:
    """After the first step: ask for the code where there is a second one, else sign in."""
    if accounts().factors.find(who.name) is not None:
        return wait_for("code", who, target, subject)
    return let_in(who, target, subject)


def let_in(who: Person, target: str, subject: str = "") -> Response:
    """After the last step. ``subject`` ties the account to who they are at the identity provider."""
    if subject:
        accounts().tie(who.name, subject)
    sign_in(who)
    return redirect(own_path(target), 303)


def begin_try(counters: list[Counter]) -> None:
    """Count a try, or refuse it where too many failed."""
    wait = accounts().attempts.begin(counters)
    if wait:
        text = _("Too many sign-ins failed. Wait a few minutes and try again.")
        problem = Problem(429, "too-many-requests", text)
        problem.headers["Retry-After"] = str(wait)
        raise problem


def by_password(name: str) -> Person | None:
    """The person, where the form has their password. Each wrong one counts, by the account's own spelling of
    the name."""
    known = accounts().find(name)
    counters = of_password(known.name if known else name, request.remote_addr or "")
    begin_try(counters)
    who = accounts().verify(name, request.form.get("password", ""))
    if who is not None:
        accounts().attempts.forgive(counters)
    return who


def check_present_password() -> None:
    """Before a change that would lock the person out: whoever sits at their desk does not know it."""
    if by_password(person().name) is None:
        raise Invalid("password", "your present one", _("That is not your present password."))


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
