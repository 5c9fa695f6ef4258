"""The list of people, and invitations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from flask import Response, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response as BaseResponse

from leaseq import Invalid
from leaseq.webapp.context import accounts, person, state
from leaseq.webapp.i18n import whole_number_in
from leaseq.webapp.people.blueprint import bp
from leaseq.webapp.people.live import Listing, as_json, as_stream
from leaseq.webapp.people.roster import Roster, is_downward, sort_of
from leaseq.webapp.refusals import in_words, role_word
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.store.accounts import ROLES
from leaseq.webapp.store.accounts.invitations import DAYS, MAX_DAYS

MAX_NAMES = 500


class InvitationLink(NamedTuple):
    """A new invitation."""

    name: str  # "": the person chooses it
    token: str


def invite_all(fields: Mapping[str, str]) -> tuple[list[InvitationLink], dict[str, str]]:
    """Invite each name, one per line. Return the links, and the reasons of refusals by name."""
    names = list(dict.fromkeys(filter(None, map(str.strip, fields.get("name", "").splitlines()))))
    links: list[InvitationLink] = []
    errors: dict[str, str] = {}
    try:
        if len(names) > MAX_NAMES:
            raise Invalid("name", "names", maximum=MAX_NAMES, count=len(names))
        days = whole_number_in(fields.get("days", str(DAYS)), "days")
        if days is None:
            raise Invalid("days", "range", minimum=1, maximum=MAX_DAYS, value=fields.get("days"))
        for name in names or [""]:
            try:
                links.append(InvitationLink(name, _invite(name, fields, days)))
            except Invalid as error:
                errors[name] = in_words(error)
    except Invalid as error:
        errors = dict.fromkeys(names or [""], "") | {names[0] if names else "": in_words(error)}
    return links, errors


def _invite(name: str, fields: Mapping[str, str], days: int) -> str:
    return accounts().invite(
        by=person().name,
        role=fields.get("role", "worker"),
        skills=fields.get("skills", "").split(),
        team=fields.get("team", "").strip(),
        name=name or None,
        days=days,
    )


@bp.get("/people")
@needs("manager")
def index() -> str | Response:
    """The people whom the caller may see: a page, JSON or an event stream, by the Accept header."""
    if "text/event-stream" in request.headers.get("Accept", ""):
        return as_stream()
    if request.accept_mimetypes.best == "application/json":
        return as_json()
    return people_page()


def people_page(
    *,
    errors: Sequence[str] = (),
    form_values: Mapping[str, str] | None = None,
    links: Sequence[InvitationLink] = (),
) -> str:
    listing, roster = Listing.of_request(), Roster.read(state())
    view = roster.view_for(person())
    figures = listing.figures(roster, view)
    return render_template(
        "people/index.html",
        figures=figures,
        **listing.pages(figures["count"]),
        criteria=listing.criteria,
        sort=sort_of(listing.criteria),
        is_descending=is_downward(listing.criteria),
        roles={role: role_word(role) for role in ROLES},
        teams=view.teams,
        queues=view.queues,
        is_complete=view.is_complete,
        **(_accounts(errors, form_values, links) if person().role == "admin" else {}),
    )


def _accounts(
    errors: Sequence[str], form_values: Mapping[str, str] | None, links: Sequence[InvitationLink]
) -> dict[str, Any]:
    """The template's context that is only for admins."""
    return {
        "erasures": accounts().erasures.all(),
        "invitations": accounts().invitations(),
        "default_days": DAYS,
        "max_days": MAX_DAYS,
        "new_invitations": [
            (link, url_for("auth.welcome", token=link.token, _external=True)) for link in links
        ],
        "errors": errors,
        "form_values": form_values or {},
    }


@bp.post("/people")
@needs("admin")
def invite() -> str | tuple[str, int]:
    """Invite people, and show their links. Names that were refused stay in the form."""
    links, errors = invite_all(request.form)
    if not errors:
        return people_page(links=links)
    form_values = {**request.form, "name": "\n".join(errors)}
    return people_page(
        errors=list(errors.values()), form_values=form_values, links=links
    ), 200 if links else 400


@bp.post("/people/invitations/<id>/revoke")
@needs("admin")
def revoke_invitation(id: str) -> BaseResponse:
    accounts().revoke_invitation(id, by=person().name)
    flash(_("The invitation is revoked."))
    return redirect(url_for("people.index"), 303)
