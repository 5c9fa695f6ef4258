"""The list of people: their current and today's work, and open invitations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Response, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response as BaseResponse

from leaseq.webapp.context import accounts, person, state
from leaseq.webapp.people import bp
from leaseq.webapp.people.inviting import InvitationLink, invite_all
from leaseq.webapp.people.live import Listing, as_json, as_stream
from leaseq.webapp.people.roster import Roster, is_downward, sort_of
from leaseq.webapp.rendering.filters import ago
from leaseq.webapp.rendering.roles import role_word
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.store.accounts import ROLES
from leaseq.webapp.store.accounts.invitations import DAYS, MAX_DAYS


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
        ago=ago,
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
