"""Sign in and out, the first admin, links to set a password, and one's own account."""

from __future__ import annotations

import flask_login
from flask import Blueprint, flash, redirect, render_template, request, session, url_for
from werkzeug.wrappers import Response

from leaseq import Invalid
from webapp.accounts import Person
from webapp.errors import Problem
from webapp.gate import Visitor, needs
from webapp.state import accounts, person

bp = Blueprint("auth", __name__)


def own_path(target: str | None) -> str:
    """``target`` where it is a path of this app, else home: nobody is sent elsewhere by a link to us."""
    # Two slashes begin a host. A browser takes a backslash for a slash, and leaves out tabs and line ends.
    own = target and target.startswith("/") and not target.startswith("//")
    if target and own and "\\" not in target and target.isprintable():
        return target
    return url_for("work.home")


def _sign_in(who: Person) -> None:
    session.clear()
    session.permanent = True
    flask_login.login_user(Visitor(who))


@bp.route("/login", methods=["GET", "POST"])
def login() -> str | Response | tuple[str, int]:
    target = request.values.get("next", "")
    if request.method == "GET":
        return render_template("auth/login.html", next=target, name="", error=None)
    name, password = request.form.get("name", "").strip(), request.form.get("password", "")
    address = request.remote_addr or ""
    wait = accounts().attempts.wait_seconds(name, address)
    if wait:
        problem = Problem(
            429, "too-many-requests", "Too many sign-ins failed. Wait a few minutes and try again."
        )
        problem.headers["Retry-After"] = str(wait)
        raise problem
    who = accounts().verify(name, password)
    if who is None:
        accounts().attempts.note_failure(name, address)
        error = "The name or the password is wrong."
        return render_template("auth/login.html", next=target, name=name, error=error), 401
    _sign_in(who)
    return redirect(own_path(target), 303)


@bp.post("/logout")
@needs("worker")
def logout() -> Response:
    flask_login.logout_user()
    session.clear()
    return redirect(url_for("auth.login"), 303)


@bp.route("/setup", methods=["GET", "POST"])
def setup() -> str | Response | tuple[str, int]:
    """The first start: choose the admin's name and password."""
    token = request.values.get("token", "")
    if not accounts().setup_is_open(token):
        return render_template("auth/link_used.html", setup=True), 403
    if request.method == "GET":
        return render_template("auth/setup.html", token=token, name="", error=None)
    name = request.form.get("name", "").strip()
    try:
        who = accounts().set_up(token, name, _new_password())
    except Invalid as refused:
        error = str(refused)
        return render_template("auth/setup.html", token=token, name=name, error=error), 400
    _sign_in(who)
    flash("You are the admin now. Make a queue to begin with.")
    return redirect(url_for("manage.overview"), 303)


@bp.route("/welcome", methods=["GET", "POST"])
def welcome() -> str | Response | tuple[str, int]:
    """A person sets a password by the one-time link that an admin gave them."""
    token = request.values.get("token", "")
    name = accounts().link_is_for(token)
    if name is None:
        return render_template("auth/link_used.html", setup=False), 403
    if request.method == "GET":
        return render_template("auth/welcome.html", token=token, name=name, error=None)
    try:
        who = accounts().use_link(token, _new_password())
    except Invalid as refused:
        return render_template("auth/welcome.html", token=token, name=name, error=str(refused)), 400
    if who.disabled:
        return redirect(url_for("auth.login"), 303)
    _sign_in(who)
    return redirect(url_for("work.home"), 303)


@bp.get("/account")
@needs("worker")
def account() -> str:
    return _account()


@bp.post("/account/password")
@needs("worker")
def change_password() -> Response | tuple[str, int]:
    me, address = person(), request.remote_addr or ""
    if accounts().attempts.wait_seconds(me.name, address):
        raise Problem(429, "too-many-requests", "Too many wrong passwords. Wait a few minutes and try again.")
    if accounts().verify(me.name, request.form.get("password", "")) is None:
        accounts().attempts.note_failure(me.name, address)
        return _account(error="That is not your present password."), 400
    try:
        changed = accounts().set_password(me.name, _new_password(), by=me.name)
    except Invalid as refused:
        return _account(error=str(refused)), 400
    _sign_in(changed)
    flash("Your password is changed. You are signed out everywhere else.")
    return redirect(url_for("auth.account"), 303)


@bp.post("/account/sign-out-everywhere")
@needs("worker")
def end_sessions() -> Response:
    accounts().end_sessions(person().name)
    session.clear()
    return redirect(url_for("auth.login"), 303)


@bp.post("/account/tokens")
@needs("worker")
def create_token() -> str | tuple[str, int]:
    me = person().name
    try:
        token = accounts().create_token(me, request.form.get("token_name", ""), by=me)
    except Invalid as refused:
        return _account(error=str(refused)), 400
    return _account(token=token)


@bp.post("/account/tokens/<id>/revoke")
@needs("worker")
def revoke_token(id: str) -> Response:
    me = person().name
    revoked = accounts().revoke_token(id, by=me, person=me)
    flash(f"The token “{revoked.name}” does not work any more.")
    return redirect(url_for("auth.account"), 303)


def _account(*, error: str | None = None, token: str | None = None) -> str:
    mine = accounts().tokens(person().name)
    return render_template("auth/account.html", tokens=mine, error=error, token=token)


def _new_password() -> str:
    """The password of a form that asks for it twice."""
    password = request.form.get("new_password", "")
    if password != request.form.get("again", ""):
        raise Invalid("password", "the same twice", "The two passwords differ. Type the same twice.")
    return password
