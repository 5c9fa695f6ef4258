"""Who may call what: one look at every request, before anything else of it is read.

A route says by ``needs`` which role it takes. A route that says nothing is closed to everybody, so that
forgetting fails closed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import flask_login
from flask import Flask, Response, current_app, g, redirect, request, url_for
from flask_wtf.csrf import CSRFProtect
from werkzeug.exceptions import Forbidden, HTTPException, Unauthorized
from werkzeug.wrappers import Response as BaseResponse

from webapp.accounts import Accounts, Person, Role, at_least
from webapp.state import accounts

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

ANYONE: Literal["anyone"] = "anyone"
Need: TypeAlias = Role | Literal["anyone"]

OPEN_TO_ANYONE = frozenset(
    {
        "static",
        "auth.login",
        "auth.setup",
        "auth.welcome",
        "language.choose",
        "health.healthz",
        "health.readyz",
        "docs.openapi",
        "docs.page",
        "docs.asset",
    }
)
"""The only endpoints that take a request without knowing whose it is."""

_View = TypeVar("_View", bound=Callable[..., Any])
csrf = CSRFProtect()


def needs(role: Role) -> Callable[[_View], _View]:
    """Say which role a route takes, at least."""

    def mark(view: _View) -> _View:
        view.needs = role  # type: ignore[attr-defined]
        return view

    return mark


def takes_any_size(view: _View) -> _View:
    """Say that a route streams its body, which may then be of any size."""
    view.takes_any_size = True  # type: ignore[attr-defined]
    return view


def need_of(app: Flask, endpoint: str) -> Need | None:
    """What the endpoint takes; None where it declares nothing, and so takes nobody."""
    if endpoint in OPEN_TO_ANYONE:
        return ANYONE
    found: Role | None = getattr(app.view_functions[endpoint], "needs", None)
    return found


class Visitor(flask_login.UserMixin):  # type: ignore[misc]  # flask-login carries no types
    """A person as flask-login wants one. The session holds name and version, so that it can be ended."""

    def __init__(self, person: Person) -> None:
        self.person = person

    def get_id(self) -> str:
        return f"{self.person.name}:{self.person.version}"


def visitor_of(accounts: Accounts, session_id: str) -> Visitor | None:
    name, _, version = session_id.rpartition(":")
    person = accounts.find(name) if name else None
    if person is None or person.disabled or str(person.version) != version:
        return None
    return Visitor(person)


def init_gate(app: Flask) -> None:
    manager = flask_login.LoginManager()
    manager.session_protection = None  # it only marks a session as not fresh, which nothing here asks for
    manager.init_app(app, add_context_processor=False)
    manager.user_loader(lambda session_id: visitor_of(accounts(), session_id))
    app.config["WTF_CSRF_CHECK_DEFAULT"] = False  # the gate asks for it, after it knows who calls
    app.config["WTF_CSRF_TIME_LIMIT"] = None  # as long as the session: a form may lie open over lunch
    csrf.init_app(app)
    app.before_request(_guard)
    app.context_processor(lambda: {"person": g.get("person"), "at_least": at_least})


def _guard() -> BaseResponse | None:
    if request.endpoint is None:
        return None  # no such path or method: Flask says so
    need = need_of(current_app, request.endpoint)
    if need is None:
        raise Forbidden("this route declares no role")
    if need != ANYONE:
        by_token = _identify()
        if g.person is None:
            return _ask_to_sign_in()
        if not at_least(g.person.role, need):
            raise Forbidden(f"this takes the role {need}; yours is {g.person.role}")
        if getattr(current_app.view_functions[request.endpoint], "takes_any_size", False):
            request.max_content_length = sys.maxsize
        if by_token:
            return None
    csrf.protect()
    return None


def still_lets(app: Flask, environ: WSGIEnvironment) -> bool:
    """Whether the gate would let a request in that it let in before: for answers that go on for long."""
    with app.request_context(environ):
        try:
            return _guard() is None
        except HTTPException:
            return False


def _identify() -> bool:
    """Find out who calls: by a bearer token under /api, else by the session. Whether it was a token."""
    g.person = None
    header = request.headers.get("Authorization") if in_api() else None
    if header is None:
        visitor = flask_login.current_user
        g.person = visitor.person if visitor.is_authenticated else None
        return False
    scheme, _, token = header.partition(" ")
    if scheme.lower() == "bearer":
        g.person = accounts().person_by_token(token.strip())
    return True


def _ask_to_sign_in() -> Response:
    if in_api():
        raise Unauthorized("send a token by `Authorization: Bearer ...`, or sign in")
    here = request.full_path.rstrip("?") if request.method == "GET" else _page_of_post()
    return redirect(url_for("auth.login", next=here), 303)  # type: ignore[return-value]


def _page_of_post() -> str:
    """Where somebody goes on whose session ended while a form was open."""
    queue = (request.view_args or {}).get("q")
    return url_for("work.page", q=queue) if queue and request.blueprint == "work" else url_for("work.home")


def in_api() -> bool:
    return request.path.startswith("/api/")
