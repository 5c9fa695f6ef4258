"""Code that all ways to sign in share: the new session, the limit on tries, and the redirect."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

import flask_login
from flask import Blueprint, flash, g, redirect, request, session, url_for
from flask_babel import ngettext
from flask_wtf.csrf import generate_csrf
from werkzeug.wrappers import Response

from leaseq import Invalid, validation
from leaseq.webapp.context import accounts, named_queue, person, state
from leaseq.webapp.i18n import COOKIE, LANGUAGES
from leaseq.webapp.rendering.filters import span
from leaseq.webapp.rendering.notices import flash_notices, flashed_texts
from leaseq.webapp.security.authorization import Visitor, extend_session
from leaseq.webapp.serving.bodies import whole_number
from leaseq.webapp.serving.problem import Problem
from leaseq.webapp.store.accounts.model import Person
from leaseq.webapp.store.accounts.sessions import TooManyTries, password_counters

bp = Blueprint("auth", __name__)
bp.add_app_template_global(flashed_texts)

LONGEST_PATH = 1_000  # bytes
UNFINISHED_SECONDS = 600
_UNFINISHED = "half-way"
PROOF_SECONDS = 600
_PROVED_AT = "proved-at"
_YEAR_SECONDS = 365 * 86_400
TOKEN_DAYS: Sequence[int] = (30, 90, 365)
"""The lifetimes in days that the form for a token offers, in addition to unlimited; the second is the
default."""


@bp.post("/language")
def language() -> Response:
    """Set the language of the pages, in a cookie of the browser."""
    code = validation.one_of(request.form.get("language"), tuple(LANGUAGES), "language")
    response = redirect(local_path(request.form.get("next")), 303)
    secure = state().settings.secure_cookies
    response.set_cookie(COOKIE, code, max_age=_YEAR_SECONDS, secure=secure, httponly=True, samesite="Lax")
    return response


def local_path(target: str | None) -> str:
    """``target`` if it is a path of this app, else home: prevents open redirects."""
    # Two slashes begin a host. Browsers treat a backslash as a slash, and ignore tabs and line ends.
    is_path = target and target.startswith("/") and not target.startswith("//")
    if target and is_path and "\\" not in target and target.isprintable():
        return target
    return url_for("work.home")


def storable_path(target: str) -> str:
    """``target`` for the session's cookie, or '' if it is too long: a browser drops a cookie above 4 KB, and
    the sign-in with it."""
    return target if len(target.encode()) <= LONGEST_PATH else ""


def start_session(account: Person, proved_at: float | None = None) -> None:
    """Start a new session in place of any earlier one of the browser, so that an old session id is
    invalid.

    The cookie is complete from the start: if the next requests, which other tabs may send at the same time,
    each added to it, the last response would drop what the others added.
    """
    end_session()
    session.permanent = True
    session[_PROVED_AT] = time.time() if proved_at is None else proved_at
    extend_session()
    g.pop("csrf_token", None)
    generate_csrf()
    flask_login.login_user(Visitor(account, accounts().sessions.start(account)))


def sign_in(account: Person, how: str, proved_at: float | None = None) -> None:
    """Start a session after the last step, and show the person their security notices."""
    start_session(account, proved_at)
    notices = accounts().sign_ins.log_success(account.name, how, address())
    flash_notices(notices)


def has_recent_proof() -> bool:
    """Whether the person of this session authenticated in the last ten minutes, by any method."""
    return time.time() - float(session.get(_PROVED_AT, 0)) < PROOF_SECONDS


def address() -> str:
    return request.remote_addr or ""


def end_session() -> None:
    """End the session on the server, too, so that a copied cookie is worthless."""
    session_id = session.get("_user_id")
    if isinstance(session_id, str):
        accounts().sessions.end(session_id)
    session.clear()


Step = Literal["password", "code"]


@dataclass(frozen=True, slots=True)
class SignInMethod:
    """The method of a sign-in, and the path to continue at."""

    how: str  # for the log
    next: str
    subject: str = ""  # the subject at the identity provider, if the account is to be linked to it
    proved_at: float | None = None  # when they authenticated; None: just now


@dataclass(frozen=True, slots=True)
class UnfinishedSignIn:
    """A sign-in that waits for its next step."""

    name: str
    version: int  # of the person's sessions, when it began
    step: Step  # the next step
    way: SignInMethod
    at: float


def require_step(step: Step, account: Person, method: SignInMethod) -> Response:
    """Store the sign-in so far, and redirect to its next step."""
    end_session()
    method = replace(method, next=storable_path(method.next))
    session[_UNFINISHED] = asdict(UnfinishedSignIn(account.name, account.version, step, method, time.time()))
    return redirect(url_for("auth.link_provider" if step == "password" else "auth.code"), 303)


def unfinished_sign_in(step: Step) -> tuple[SignInMethod, Person] | None:
    """This browser's sign-in that waits for the step, and its person, until it times out."""
    record = session.get(_UNFINISHED)
    if not isinstance(record, dict):  # there is none, or it began before an upgrade
        return None
    attempt = UnfinishedSignIn(**{**record, "way": SignInMethod(**record["way"])})
    account = accounts().find(attempt.name)
    late = time.time() - attempt.at >= UNFINISHED_SECONDS
    if (
        late
        or attempt.step != step
        or account is None
        or account.disabled
        or account.version != attempt.version
    ):
        return None
    return attempt.way, account


def continue_sign_in(account: Person, method: SignInMethod) -> Response:
    """Continue after the first step: ask for the code if the person has a second factor, else sign in."""
    if accounts().factors.find(account.name) is not None:
        return require_step("code", account, method)
    return complete_sign_in(account, method)


def complete_sign_in(account: Person, method: SignInMethod) -> Response:
    """Sign in after the last step, and redirect."""
    sign_in(account, method.how, method.proved_at)
    if method.subject:  # last, so that its notice is shown at the next sign-in
        accounts().link_provider(account.name, method.subject)
    return redirect(local_path(method.next), 303)


def authenticate_by_password(name: str, how: str = "password") -> Person | None:
    """The person, if the form has their password, else None. Failures are counted under the account's own
    spelling of the name. Raises Invalid if the person is disabled: who knows the password may know that."""
    account = accounts().find(name)
    counters = password_counters(account.name if account else name, address())
    refusal = accounts().attempts.begin(counters)
    if refusal is not None:
        raise _too_many_tries(refusal, name, how, "sign_ins")
    account = accounts().person_of_password(name, request.form.get("password", ""))
    if account is None or account.disabled:
        accounts().sign_ins.log_failure(name, how, address())
        if account is not None:
            raise Invalid("name", "sign_in", what="disabled")
        return None
    accounts().attempts.uncount(counters)
    return account


def begin_code(name: str) -> None:
    """Count a try of a code, or refuse it if too many in a row were wrong."""
    refusal = accounts().attempts.begin_code(name, address())
    if refusal is not None:
        raise _too_many_tries(refusal, name, "code", "codes")


def _too_many_tries(refusal: TooManyTries, name: str, how: str, what: str) -> Problem:
    if refusal.is_first:
        accounts().sign_ins.log_limited(name, how, address())
    problem = Problem.of(429, "too-many-requests", "too_many", what=what, wait=span(refusal.seconds))
    problem.headers["Retry-After"] = str(refusal.seconds)
    return problem


def check_current_password() -> None:
    """Require the password before a change that could lock the person out: somebody else at their desk does
    not know it."""
    if authenticate_by_password(person().name, "present password") is None:
        raise Invalid("password", "sign_in", what="current_password")


def require_recent_proof() -> None:
    """Require a recent proof before a change that outlasts the session: the password, or for a person without
    one, a sign-in in the last ten minutes."""
    if person().has_password:
        check_current_password()
    elif not has_recent_proof():
        raise Invalid("sign-in", "sign_in", what="again")


def revoke_tokens_if_asked(name: str, *, by: str) -> None:
    """Revoke the person's tokens if the box next to a new password, or next to signing out everywhere, is
    ticked."""
    if request.form.get("revoke_tokens"):
        count = accounts().revoke_tokens(name, by=by)
        flash(ngettext("%(num)s API token is revoked.", "%(num)s API tokens are revoked.", count))


def token_count(name: str) -> int:
    """The number of valid API tokens of a person."""
    now = datetime.now(UTC)
    return sum(not token.is_over(now) for token in accounts().tokens(name))


def new_password() -> str:
    """The password of a form that asks for it twice."""
    password = request.form.get("new_password", "")
    if password != request.form.get("again", ""):
        raise Invalid("password", "sign_in", what="same_password")
    return password


def token_fields() -> dict[str, Any]:
    """The arguments of ``Accounts.create_token``, from the form."""
    form = request.form
    days = form.get("days", str(TOKEN_DAYS[1]))
    count = whole_number(days)
    if days != "never" and count is None:
        raise Invalid("days", "format", what="days_or_never", value=days)
    return {
        "name": form.get("token_name", ""),
        "scope": form.get("scope") or None,
        "queue": named_queue(form["queue"]) if form.get("queue") else None,
        "days": count,
    }
