"""The admin's page of people."""

from __future__ import annotations

from collections.abc import Mapping

from flask import Blueprint, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from leaseq import Invalid
from webapp.accounts import ROLES
from webapp.accounts.people import NoSuchPerson
from webapp.gate import needs
from webapp.state import accounts, person

bp = Blueprint("people", __name__)


@bp.get("/people")
@needs("admin")
def everybody() -> str:
    return _everybody()


def _everybody(error: str | None = None, sent: Mapping[str, str] | None = None) -> str:
    return render_template(
        "people/everybody.html",
        people=accounts().people(),
        log=accounts().log(),
        roles=ROLES,
        error=error,
        sent=sent or {},
    )


@bp.post("/people")
@needs("admin")
def add() -> str | tuple[str, int]:
    """Add a person, and show the link by which they choose a password."""
    me = person().name
    try:
        added = accounts().add(
            request.form.get("name", "").strip(),
            by=me,
            role=request.form.get("role", "worker"),
            skills=request.form.get("skills", "").split(),
        )
    except Invalid as refused:
        return _everybody(str(refused), request.form), 400
    return _one(added.name, link=accounts().password_link(added.name, by=me))


@bp.get("/people/<name:name>")
@needs("admin")
def one(name: str) -> str:
    return _one(name)


def _one(name: str, *, link: str | None = None, error: str | None = None) -> str:
    known = accounts().get(name)
    url = url_for("auth.welcome", token=link, _external=True) if link else None
    return render_template(
        "people/one.html", known=known, tokens=accounts().tokens(name), roles=ROLES, link=url, error=error
    )


@bp.post("/people/<name:name>/change")
@needs("admin")
def change(name: str) -> Response | tuple[str, int]:
    try:
        accounts().change(
            name,
            by=person().name,
            role=request.form.get("role") or None,
            skills=request.form.get("skills", "").split(),
        )
    except NoSuchPerson:
        raise
    except Invalid as refused:
        return _one(name, error=str(refused)), 400
    flash("Saved.")
    return redirect(url_for("people.one", name=name), 303)


@bp.post("/people/<name:name>/disable")
@needs("admin")
def disable(name: str) -> Response | tuple[str, int]:
    return _set_disabled(name, True)


@bp.post("/people/<name:name>/enable")
@needs("admin")
def enable(name: str) -> Response | tuple[str, int]:
    return _set_disabled(name, False)


def _set_disabled(name: str, disabled: bool) -> Response | tuple[str, int]:
    try:
        accounts().change(name, by=person().name, disabled=disabled)
    except NoSuchPerson:
        raise
    except Invalid as refused:
        return _one(name, error=str(refused)), 400
    flash(f"{name} can't sign in any more." if disabled else f"{name} can sign in again.")
    return redirect(url_for("people.one", name=name), 303)


@bp.post("/people/<name:name>/link")
@needs("admin")
def link(name: str) -> str:
    """A one-time link by which the person chooses a new password."""
    return _one(name, link=accounts().password_link(name, by=person().name))


@bp.post("/people/<name:name>/tokens/<id>/revoke")
@needs("admin")
def revoke_token(name: str, id: str) -> Response:
    accounts().revoke_token(id, by=person().name, person=name)
    flash("The token does not work any more.")
    return redirect(url_for("people.one", name=name), 303)
