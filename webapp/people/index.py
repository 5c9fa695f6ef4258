"""The list of people: who they are, what they do now and did today, and open invitations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from flask import flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

from leaseq.webapp.context import accounts, person, queue_names, state
from leaseq.webapp.people import bp
from leaseq.webapp.people.inviting import Invited, invite_all
from leaseq.webapp.people.roster import ORDERS, rows_of
from leaseq.webapp.rendering.filters import span
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.serving.numbers import whole
from leaseq.webapp.store.accounts import ROLES
from leaseq.webapp.store.accounts.invitations import DAYS, MAX_DAYS

PAGE = 100
_CRITERIA = ("q", "role", "state", "team", "queue", "sort")


@bp.get("/people")
@needs("admin")
def everybody() -> str:
    return people_page()


def people_page(
    *,
    errors: Sequence[str] = (),
    typed: Mapping[str, str] | None = None,
    invited: Sequence[Invited] = (),
) -> str:
    rows, start = rows_of(request.args), max(whole(request.args.get("from", "0")) or 0, 0)
    known = accounts().people()
    now = datetime.now(UTC)
    return render_template(
        "people/index.html",
        rows=rows[start : start + PAGE],
        count=len(rows),
        following=start + PAGE if len(rows) > start + PAGE else None,
        criteria={name: request.args[name] for name in _CRITERIA if request.args.get(name)},
        sort=request.args.get("sort") if request.args.get("sort") in ORDERS else "name",
        roles=ROLES,
        teams=sorted({one.team for one in known if one.team}),
        queues=queue_names("manage"),
        downward={name for name, (_key, downward) in ORDERS.items() if downward},
        zone=state().settings.time_zone,
        ago=lambda since: span((now - since).total_seconds()),
        invitations=accounts().invitations(),
        days=DAYS,
        most_days=MAX_DAYS,
        invited=[(one, url_for("auth.welcome", token=one.token, _external=True)) for one in invited],
        errors=errors,
        typed=typed or {},
    )


@bp.post("/people")
@needs("admin")
def invite() -> str | tuple[str, int]:
    """Invite people, and show the links by which they join. The names that can't be stay in the form."""
    invited, refused = invite_all(request.form)
    if not refused:
        return people_page(invited=invited)
    kept = {**request.form, "name": "\n".join(refused)}
    return people_page(errors=list(refused.values()), typed=kept, invited=invited), 200 if invited else 400


@bp.post("/people/invitations/<id>/revoke")
@needs("admin")
def revoke_invitation(id: str) -> Response:
    accounts().revoke_invitation(id, by=person().name)
    flash(_("The invitation is revoked."))
    return redirect(url_for("people.everybody"), 303)
