"""The list of people: who they are, their leases and activity today, and open invitations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from flask import flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

from leaseq import Invalid
from leaseq.webapp.context import accounts, person, state
from leaseq.webapp.people import bp
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.serving.numbers import whole
from leaseq.webapp.store.accounts import ROLES, Person
from leaseq.webapp.store.accounts.invitations import DAYS, MAX_DAYS
from leaseq.webapp.store.activity import DayFigures

PAGE = 100


@dataclass(frozen=True, slots=True)
class Row:
    person: Person
    signed_in_at: datetime | None
    held: int
    today: DayFigures
    has_factor: bool


@bp.get("/people")
@needs("admin")
def everybody() -> str:
    return people_page()


def people_page(
    *, error: str | None = None, typed: Mapping[str, str] | None = None, link: str | None = None
) -> str:
    matching = [one for one in accounts().people() if _matches(one, request.args)]
    after = request.args.get("after", "").casefold()
    following = [one for one in matching if one.name.casefold() > after]
    shown = following[:PAGE]
    return render_template(
        "people/index.html",
        rows=_rows(shown),
        count=len(matching),
        after=shown[-1].name if len(following) > PAGE else None,
        query=request.args,
        roles=ROLES,
        invitations=accounts().invitations(),
        days=DAYS,
        most_days=MAX_DAYS,
        link=url_for("auth.welcome", token=link, _external=True) if link else None,
        error=error,
        typed=typed or {},
    )


def _matches(one: Person, criteria: Mapping[str, str]) -> bool:
    text, role, shows = criteria.get("q", "").strip().casefold(), criteria.get("role"), criteria.get("state")
    if text and text not in one.name.casefold() and text not in one.skills:
        return False
    if role and role != one.role:
        return False
    return {"active": not one.disabled, "disabled": one.disabled}.get(shows or "", True)


def _rows(people: list[Person]) -> list[Row]:
    held = accounts().held_counts([one.name for one in people])
    today = state().activity.of_everybody()
    signed_in, factors = accounts().signed_in(), accounts().factors.who()
    return [
        Row(
            one,
            signed_in.get(one.name),
            held[one.name],
            sum(today.get(one.name, {}).values(), DayFigures()),
            one.name in factors,
        )
        for one in people
    ]


@bp.post("/people")
@needs("admin")
def invite() -> str | tuple[str, int]:
    """Invite somebody, and show the link by which they join."""
    days = whole(request.form.get("days", str(DAYS)))
    try:
        if days is None:
            raise Invalid("days", f"a whole number from 1 to {MAX_DAYS}")
        token = accounts().invite(
            by=person().name,
            role=request.form.get("role", "worker"),
            skills=request.form.get("skills", "").split(),
            name=request.form.get("name", "").strip() or None,
            days=days,
        )
    except Invalid as refused:
        return people_page(error=str(refused), typed=request.form), 400
    return people_page(link=token)


@bp.post("/people/invitations/<id>/revoke")
@needs("admin")
def revoke_invitation(id: str) -> Response:
    accounts().revoke_invitation(id, by=person().name)
    flash(_("The invitation is revoked."))
    return redirect(url_for("people.everybody"), 303)
