"""Authorization: every request is checked before anything else is read from it.

A route declares the role that it requires with ``needs``. A route that declares none is closed to everybody,
so that a forgotten declaration fails closed.
"""

from __future__ import annotations

import hmac
import pickle
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, cast

import flask_login
from flask import Flask, Request, Response, g, redirect, request, session, url_for
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface, SessionMixin
from flask_wtf.csrf import CSRFProtect, same_origin
from itsdangerous import BadData, SignatureExpired, URLSafeTimedSerializer
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response as BaseResponse

from leaseq import LeaseqError, QueueNotFound
from leaseq.webapp.context import accounts, person, state, this_app, this_context
from leaseq.webapp.form_input import input_fields
from leaseq.webapp.paths import current_url
from leaseq.webapp.realtime.poller import AccessCheck
from leaseq.webapp.serving.bodies import strict_request
from leaseq.webapp.serving.middleware import PERSON, in_api
from leaseq.webapp.serving.problem import Problem
from leaseq.webapp.store.accounts.model import (
    FULL_SCOPE,
    HIGHEST_ROLE,
    NARROW_SCOPES,
    SCOPES,
    ApiToken,
    Person,
    Role,
    Scope,
    at_least,
)
from leaseq.webapp.store.accounts.sessions import SEEN_SECONDS
from leaseq.webapp.store.base import Command

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment


class Serializer(URLSafeTimedSerializer):
    """Reads signed texts. It verifies each once, since a session's cookie and token come with every request:
    a signature that was right stays right. The age is compared each time."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._verified = lru_cache(maxsize=4_096)(self._verify)

    def _verify(self, text: str) -> tuple[bytes, float]:
        value, signed_at = super().loads(text, return_timestamp=True)
        return pickle.dumps(value), signed_at.timestamp()  # each reader gets a value of its own

    def loads(self, s: str, max_age: int | None = None, **_options: Any) -> Any:  # type: ignore[override]
        pickled, signed_at = self._verified(s)
        if max_age is not None and not 0 <= int(time.time()) - signed_at <= max_age:
            raise SignatureExpired(f"signed over {max_age} seconds ago")
        return pickle.loads(pickled)  # noqa: S301 - pickled above


class SessionCookie(SecureCookieSessionInterface):
    """Flask's session cookie, with a serializer that is created once, since the app's keys don't change."""

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        if "HTTP_COOKIE" not in request.environ:  # from a program with a token: there is nothing to parse
            return self.session_class()
        return super().open_session(app, request)

    def save_session(self, app: Flask, session: SessionMixin, response: Response) -> None:
        if session.accessed or session.modified:  # if it was not accessed, it has not changed
            super().save_session(app, session, response)

    @cache  # noqa: B019 - one for each app, for the app's lifetime
    def get_signing_serializer(self, app: Flask) -> URLSafeTimedSerializer | None:
        serializer = super().get_signing_serializer(app)
        if serializer is None:
            return None
        options = {"serializer": self.serializer, "signer_kwargs": serializer.signer_kwargs}
        return Serializer(serializer.secret_keys, self.salt, **options)


class Csrf(CSRFProtect):  # type: ignore[misc]  # flask-wtf carries no types
    """Flask-WTF's protection, which verifies the signature of a token once. Whatever this does not find valid
    is left to it."""

    def protect(self, apply_exemptions: bool = False) -> None:
        this_request = strict_request()
        if this_request.method in _SAFE:
            return
        if self._is_valid(this_request):
            this_context().csrf_valid = True
        else:
            super().protect(apply_exemptions)

    def _is_valid(self, this_request: Request) -> bool:
        token, value = this_request.form.get("csrf_token"), session.get("csrf_token")
        if not token or not value:
            return False
        try:
            is_own = hmac.compare_digest(value, _csrf_serializer(this_app().secret_key).loads(token))
        except (BadData, TypeError):
            return False
        if not this_request.is_secure:
            return is_own
        return is_own and same_origin(this_request.referrer or "", f"https://{this_request.host}/")


@lru_cache(maxsize=8)  # one for each app
def _csrf_serializer(secret_key: str | bytes | None) -> Serializer:
    return Serializer(secret_key, salt="wtf-csrf-token")


_SAFE = ("GET", "HEAD")
_COVERED: dict[Scope, tuple[Scope, ...]] = {
    "read": ("read",),
    "work": ("work",),
    "enqueue": ("enqueue",),
    "ask": ("ask",),
    "manage": ("work", "enqueue", "ask", "manage"),
    "admin": ("work", "enqueue", "ask", "manage", "admin"),
}
"""The scopes whose calls a scope allows, too."""


def refusal(
    token: ApiToken, need: Role, method: str, queue: str | None, scopes: tuple[Scope, ...] = ()
) -> Problem | None:
    """The reason why this token may not make a call that requires the role ``need``; None if it may.

    ``queue`` is the one in the call's path. A token for one queue may not make calls without a queue.
    ``scopes``: the narrow scopes that the call names.
    """
    if token.scope == "read" and method not in _SAFE:
        return Problem.of(403, "forbidden", "forbidden", what="read_only")
    is_named, is_narrow = token.scope in scopes, token.scope in NARROW_SCOPES
    if not (is_named if is_narrow else at_least(HIGHEST_ROLE[token.scope], need)):
        wider_scopes = [
            scope
            for scope in SCOPES
            if scope in scopes
            or (scope != "read" and scope not in NARROW_SCOPES and at_least(HIGHEST_ROLE[scope], need))
        ]
        return Problem.of(
            403, "forbidden", "forbidden", what="scopes", scopes=wider_scopes, scope=token.scope
        )
    if token.queue not in (None, queue):
        return Problem.of(403, "forbidden", "forbidden", what="other_queue", queue=token.queue)
    return None


def is_whole(token: ApiToken, role: Role) -> bool:
    """Whether a token of a person with this role has all of their rights, in all queues."""
    return token.scope == FULL_SCOPE[role] and token.queue is None


def may_grant(token: ApiToken, scope: Scope, role: Role) -> bool:
    """Whether this token, of a person with this role, may be used to create another one of that scope.

    ``read`` reads everything that its person may read, so only a token that may read all of that can pass it
    on.
    """
    return scope in _COVERED[token.scope] or (scope == "read" and token.scope == FULL_SCOPE[role])


ANYONE: Literal["anyone"] = "anyone"
Need: TypeAlias = Role | Literal["anyone"]

OPEN_TO_ANYONE = frozenset(
    {
        "static",
        "auth.login",
        "auth.code",
        "auth.provider",
        "auth.provider_callback",
        "auth.link_provider",
        "auth.setup",
        "auth.welcome",
        "auth.language",
        "monitoring.healthz",
        "monitoring.readyz",
        "docs.openapi",
        "docs.page",
    }
)
"""The only endpoints that accept anonymous requests."""

_SENT_AT = "sent_at"
_View = TypeVar("_View", bound=Callable[..., Any])
csrf = Csrf()


@dataclass(frozen=True, slots=True)
class Needs:
    """The decorator that sets the minimum role of a route, and what else the route needs."""

    role: Role
    _: KW_ONLY
    unless: Callable[[], bool] | None = None  # lets in callers that are not people, such as a scraper
    reads: Callable[[str], Command] | None = None
    """Called with a person's name, it returns a command that is sent with the one for the session, to save
    the view a round trip: `extra_reply` returns its reply."""
    all_queues: bool = False  # it concerns all queues: the caller must be allowed to manage all of them
    any_token: bool = False  # it is about the token itself: one for a single queue may call it, too
    makes_queue: bool = False  # the call creates a queue of an unused name, so the answer must not be 404
    scopes: tuple[Scope, ...] = ()  # the narrow scopes of tokens that may make the call, too
    whole_token: bool = False  # a token may make the call only if it has all rights of its person

    def __call__(self, view: _View) -> _View:
        view.needs = self  # type: ignore[attr-defined]
        return view


needs = Needs


def takes_any_size(view: _View) -> _View:
    """Mark a route as streaming its body, which may then be of any size."""
    view.takes_any_size = True  # type: ignore[attr-defined]
    return view


def need_of(app: Flask, endpoint: str) -> Need | None:
    """The role that the endpoint requires; None if it declares none, and so is closed."""
    if endpoint in OPEN_TO_ANYONE:
        return ANYONE
    needs = needs_of(app, endpoint)
    return needs.role if needs else None


def needs_of(app: Flask, endpoint: str | None) -> Needs | None:
    return getattr(app.view_functions.get(endpoint or ""), "needs", None)


class Visitor(flask_login.UserMixin):  # type: ignore[misc]  # flask-login carries no types
    """A person in the form that flask-login requires. The cookie names their session, which the server can
    end."""

    def __init__(self, person: Person, session: str) -> None:
        self.person = person
        self.session = session

    def get_id(self) -> str:
        return self.session


def _visitor_of(session: str) -> Visitor | None:
    """The person of a session, with the reply to the command of ``reads`` in `needs`."""
    needs = needs_of(this_app(), strict_request().endpoint)
    reads = needs.reads if needs else None
    result = accounts().sessions.person_with_replies(session, lambda name: [reads(name)] if reads else [])
    if result is None:
        return None
    person, this_context().extra_reply = result
    return Visitor(person, session)


def extra_reply() -> Any:
    """The reply to the command of ``reads`` in `needs`."""
    return this_context().extra_reply[0]


def init_authorization(app: Flask) -> None:
    manager = flask_login.LoginManager()
    manager.session_protection = None  # it only marks a session as not fresh, which nothing here checks
    app.login_manager = manager  # type: ignore[attr-defined]  # init_app adds a hook for its remember-me cookie
    manager.user_loader(_visitor_of)
    app.config["WTF_CSRF_CHECK_DEFAULT"] = False  # authorization checks it, once the caller is known
    app.config["WTF_CSRF_TIME_LIMIT"] = None  # as long as the session: a form may lie open over lunch
    csrf.init_app(app)
    app.before_request(_guard)
    app.context_processor(lambda: {"person": _signed_in_person(), "at_least": at_least})


def _signed_in_person() -> Person | None:
    """The signed-in person, for the top of the page; also on pages that require no role, such as public ones
    and 404."""
    if "person" not in g and request.endpoint in (None, "docs.page"):
        with suppress(LeaseqError):
            identify(strict_request())
    return cast("Person | None", g.get("person"))


def _guard(*, again: bool = False) -> BaseResponse | None:
    """``again``: the request was let in before, and its body, with its CSRF token, has been read."""
    this_request, app = strict_request(), this_app()
    endpoint = this_request.endpoint
    if endpoint is None:
        return None  # no such path or method: Flask refuses it
    if endpoint not in OPEN_TO_ANYONE:
        needs = needs_of(app, endpoint)
        if needs is None:
            raise Problem.of(403, "forbidden", "forbidden", what="route")
        if needs.unless is not None and needs.unless():
            return None
        token = identify(this_request)
        person = this_context().person
        if person is None:
            return _ask_to_sign_in()
        if not at_least(person.role, needs.role):
            raise _low_role(needs.role, person.role)
        if isinstance(token, ApiToken) and not needs.any_token:
            _check_scope(this_request, token, needs)
        _refuse_other_queues(this_request, person, needs)
        if getattr(app.view_functions[endpoint], "takes_any_size", False):
            this_request.max_content_length = sys.maxsize
        if token is not None or again:
            return None
    csrf.protect()
    _keep_csrf_token()
    return None


def _keep_csrf_token() -> None:
    """Use the request's valid token in the response's forms, too, since signing another one is slow."""
    context, token = this_context(), strict_request().form.get("csrf_token")
    if token and context.get("person") and context.get("csrf_valid"):
        context.csrf_token = token


def request_check(on_check: Callable[[], None]) -> AccessCheck:
    """A check that the current request would still be authorized; calls ``on_check`` whenever it is made."""
    app, environ = this_app(), request.environ
    token = bearer_token(request.headers.get("Authorization", "")) if "token" in g else None
    credential_reads = (
        accounts().sessions.reads(session["_user_id"])
        if token is None
        else accounts().callers.reads(token, person().name)
    )
    access_reads = state().access.reads((request.view_args or {}).get("q"))

    def is_allowed() -> bool:
        on_check()
        return is_still_authorized(app, environ)

    return AccessCheck(is_allowed, (*credential_reads, *access_reads))


def is_still_known() -> bool:
    """Whether the token or the session of the current request is valid now."""
    if "token" not in g:
        return accounts().sessions.person(session["_user_id"]) is not None
    token = bearer_token(request.headers.get("Authorization", ""))
    return token is not None and accounts().callers.find_now(token) is not None


def is_still_authorized(app: Flask, environ: WSGIEnvironment) -> bool:
    """Whether authorization would let a request in now, by what is stored and not by what was read within the
    last second: for long-lived responses."""
    # A context of its own: within a request, the person would be the one that was read at its start.
    with app.app_context(), app.request_context(environ):
        state().access.expire()
        token = bearer_token(environ.get("HTTP_AUTHORIZATION", ""))
        if token is not None:
            accounts().callers.find_now(token)  # the guard finds it in the cache
        try:
            return _guard(again=True) is None
        except (HTTPException, Problem, QueueNotFound):
            return False


def _refuse_other_queues(this_request: Request, person: Person, needs: Needs) -> None:
    """Refuse queues without access. One that the person may not work on gets the same error as a missing
    one."""
    if needs.all_queues and not state().access.lets_manage_all(person):
        raise Problem.of(403, "forbidden", "forbidden", what="all_queues")
    queue = (this_request.view_args or {}).get("q")
    if queue is None:
        return
    access = state().access.get(queue)
    if not access.lets_work(person) and not needs.makes_queue:
        raise QueueNotFound(queue)
    if needs.role != "worker" and not access.lets_manage(person):
        raise Problem.of(403, "forbidden", "forbidden", what="queue", queue=queue)


def may_manage(queue: str) -> bool:
    """Whether the request's caller may also make manager calls on a queue that they may work on."""
    person, token = cast("Person", g.person), g.get("token")
    if not at_least(person.role, "manager") or not state().access.get(queue).lets_manage(person):
        return False
    return token is None or refusal(token, "manager", request.method, queue) is None


def _check_scope(this_request: Request, token: ApiToken, needs: Needs) -> None:
    queue = (this_request.view_args or {}).get("q")
    reason = refusal(token, needs.role, this_request.method, queue, needs.scopes)
    if reason is not None:
        raise reason
    if needs.whole_token and not is_whole(token, g.person.role):
        raise Problem.of(403, "forbidden", "forbidden", what="whole_token")


def identify(this_request: Request) -> ApiToken | Literal["unknown"] | None:
    """Identify the caller: by a bearer token under /api, else by the session. Returns the token, if any."""
    header: str | None = this_request.environ.get("HTTP_AUTHORIZATION")
    context = this_context()
    context.person = None
    if header is None or not in_api():
        visitor = flask_login.current_user._get_current_object()  # noqa: SLF001 - its proxy would look it up twice
        if visitor.is_authenticated:
            context.person = visitor.person
            this_request.environ[PERSON] = visitor.person.name
            extend_session()
        return None
    token = bearer_token(header)
    caller = accounts().callers.find(token) if token is not None else None
    if caller is None:
        return "unknown"
    context.person, context.token = caller.person, caller.token
    this_request.environ[PERSON] = caller.person.name
    return caller.token


def extend_session() -> None:
    """Renew the cookie, which expires some days after it was last sent. It is sent again only once an hour,
    not with each response, since signing it costs as much as a whole operation."""
    now = int(time.time())
    if now - session.get(_SENT_AT, 0) >= SEEN_SECONDS:
        session[_SENT_AT] = now


def bearer_token(header: str) -> str | None:
    """The token in an ``Authorization`` header."""
    scheme, _, token = header.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def _low_role(needed: str, role: Role) -> Problem:
    if in_api():
        return Problem.of(403, "forbidden", "role", needed=needed, yours=role)
    what = "admins_only" if needed == "admin" else "managers_only"
    return Problem.of(403, "forbidden", "forbidden", what=what)


def _ask_to_sign_in() -> Response:
    cookie = session.get("_user_id")
    if isinstance(cookie, str) and accounts().sessions.is_of_disabled_person(cookie):
        raise Problem.of(403, "forbidden", "sign_in", what="disabled")
    if in_api():
        header = request.headers.get("Authorization")
        if header is not None:
            what = "token" if bearer_token(header) else "header"
            raise Problem.of(401, "unauthorized", "unauthorized", what=what)
        raise Problem.of(401, "unauthorized", "unauthorized", what="nobody")
    page = current_url() if request.method == "GET" else _page_of_post()
    sign_in = url_for("auth.login", next=page)
    shows_page = "text/html" in request.accept_mimetypes.values()  # a script accepts */*, and keeps its form
    if shows_page and input_fields():
        raise Problem.of(401, "unauthorized", "unauthorized", what="signed_out", members={"sign_in": sign_in})
    return redirect(sign_in, 303)  # type: ignore[return-value]


def _page_of_post() -> str:
    """The page to continue on after signing in again, if the session ended while a form was open."""
    queue = (request.view_args or {}).get("q")
    return url_for("work.page", q=queue) if queue and request.blueprint == "work" else url_for("work.home")
