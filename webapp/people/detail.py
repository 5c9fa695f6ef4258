"""The page of a person, and the erasing of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from flask import flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from flask_babel import ngettext
from werkzeug.wrappers import Response

import leaseq
from leaseq import Invalid
from leaseq.webapp.auth.account import token_choices
from leaseq.webapp.auth.session import require_recent_proof, revoke_tokens_if_asked, token_fields
from leaseq.webapp.context import accounts, person, state
from leaseq.webapp.people.blueprint import bp
from leaseq.webapp.people.roster import Roster
from leaseq.webapp.refusals import in_words
from leaseq.webapp.rendering.notices import flash_unassigned
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.services import people
from leaseq.webapp.store.accounts.model import ROLES
from leaseq.webapp.store.accounts.people import NoSuchPerson
from leaseq.webapp.store.accounts.traces import held_by
from leaseq.webapp.store.activity import DayFigures
from leaseq.webapp.store.person_data import UnreadableQueues, journal_since, of_people

DAYS = 30


@dataclass(frozen=True, slots=True)
class Figures:
    """A person's activity: by day, oldest first, and by queue."""

    days: list[tuple[date, DayFigures]]
    queues: list[tuple[str, DayFigures]]

    @classmethod
    def from_days(cls, by_day: Mapping[date, Mapping[str, DayFigures]]) -> Figures:
        queues: dict[str, DayFigures] = {}
        for by_queue in by_day.values():
            for queue, figures in by_queue.items():
                queues[queue] = queues.get(queue, DayFigures()) + figures
        days = [(day, sum(by_queue.values(), DayFigures())) for day, by_queue in by_day.items()]
        return cls(sorted(days), sorted(queues.items()))

    @property
    def all(self) -> DayFigures:
        return sum((figures for _, figures in self.days), DayFigures())

    @property
    def maximum(self) -> int:
        """The highest number of items finished on a day: the height of the chart."""
        return max(1, *(figures.finished for _, figures in self.days))


@bp.get("/people/<name>")
@needs("manager")
def detail(name: str) -> str:
    """For admins, the person's account; for managers, the person's work on the queues they may manage."""
    return person_page(name) if person().role == "admin" else _figures_page(name)


def _figures_page(name: str) -> str:
    view = Roster.read(state()).view_for(person())
    row = view.find(accounts().get(name).name)
    if row is None:
        raise NoSuchPerson(name)
    by_day = {
        day: {queue: figures for queue, figures in by_queue.items() if queue in view.queues}
        for day, by_queue in state().activity.of_person(row.person.name, DAYS).items()
    }
    return render_template(
        "people/figures.html",
        row=row,
        figures=Figures.from_days(by_day),
        is_complete=view.is_complete,
        title_of=_title,
    )


def person_page(
    name: str, *, link: str | None = None, token: str | None = None, error: str | None = None
) -> str:
    account = accounts().get(name)
    name = account.name
    return render_template(
        "people/detail.html",
        account=account,
        leases=held_by(state().client, name),
        figures=Figures.from_days(state().activity.of_person(name, DAYS)),
        has_factor=accounts().factors.find(name) is not None,
        is_linked=accounts().has_provider_link(name),
        signed_in_at=accounts().last_sign_ins().get(name),
        title_of=_title,
        roles=ROLES,
        link=url_for("auth.welcome", token=link, _external=True) if link else None,
        error=error,
        **token_choices(account, token),
    )


def _title(queue: str) -> str:
    return state().shared_queue(queue).title


def _back(name: str) -> Response:
    return redirect(url_for("people.detail", name=name), 303)


@bp.post("/people/<name>/change")
@needs("admin")
def change(name: str) -> Response | tuple[str, int]:
    try:
        changed = people.change(
            name,
            role=request.form.get("role") or None,
            skills=request.form.get("skills", "").split(),
            team=request.form.get("team", "").strip(),
            shown_name=request.form.get("shown_name", "").strip(),
        )
    except Invalid as error:
        return person_page(name, error=in_words(error)), 400
    flash(_("Saved."))
    flash_unassigned(changed.unassigned)
    return _back(name)


@bp.post("/people/<name>/disable")
@needs("admin")
def disable(name: str) -> Response | tuple[str, int]:
    count = len(held_by(state().client, name))
    try:
        changed = people.change(name, disabled=True)
    except Invalid as error:
        return person_page(name, error=in_words(error)), 400
    flash(_("%(name)s can no longer sign in.", name=name))
    if count:
        flash(
            ngettext(
                "The %(num)s item that they held is waiting again.",
                "The %(num)s items that they held are waiting again.",
                count,
            )
        )
    flash_unassigned(changed.unassigned)
    return _back(name)


@bp.post("/people/<name>/enable")
@needs("admin")
def enable(name: str) -> Response:
    people.change(name, disabled=False)
    flash(_("%(name)s can sign in again.", name=name))
    return _back(name)


@bp.post("/people/<name>/link")
@needs("admin")
def create_password_link(name: str) -> str:
    """Create a one-time link with which the person chooses a new password."""
    return person_page(name, link=accounts().password_link(name, by=person().name))


@bp.post("/people/<name>/sign-out")
@needs("admin")
def sign_out(name: str) -> Response:
    accounts().end_sessions(name, by=person().name)
    revoke_tokens_if_asked(name, by=person().name)
    flash(_("%(name)s is signed out everywhere.", name=name))
    return _back(name)


@bp.post("/people/<name>/factor")
@needs("admin")
def reset_factor(name: str) -> Response:
    """Turn off the person's two-factor sign-in, for a lost device; they can turn it on again."""
    if people.reset_factor(name):
        flash(_("%(name)s now signs in with the password alone, and is signed out everywhere.", name=name))
    return _back(name)


@bp.post("/people/<name>/link-provider")
@needs("admin")
def allow_provider_link(name: str) -> Response:
    """Allow one sign-in through the identity provider to link the account without its password."""
    accounts().allow_provider_link(name, by=person().name)
    flash(
        _(
            "%(name)s can now sign in through the identity provider. "
            "The first sign-in must be within three days.",
            name=name,
        )
    )
    return _back(name)


@bp.post("/people/<name>/unlink-provider")
@needs("admin")
def unlink_provider(name: str) -> Response:
    accounts().unlink_provider(name, by=person().name)
    flash(_("%(name)s is no longer linked to the identity provider.", name=name))
    return _back(name)


@bp.post("/people/<name>/tokens")
@needs("admin")
def create_token(name: str) -> str | tuple[str, int]:
    """Create a token for a program with its own account."""
    try:
        require_recent_proof()
        token = accounts().create_token(name, by=person().name, **token_fields())
    except Invalid as error:
        return person_page(name, error=in_words(error)), 400
    return person_page(name, token=token)


@bp.post("/people/<name>/tokens/<id>/revoke")
@needs("admin")
def revoke_token(name: str, id: str) -> Response:
    accounts().revoke_token(id, by=person().name, person=name)
    flash(_("The token is revoked."))
    return _back(name)


@bp.get("/people/<name>/erase")
@needs("admin")
def confirm_erase(name: str) -> str:
    return _page(name)


@bp.post("/people/<name>/erase")
@needs("admin")
def erase_person(name: str) -> str | Response | tuple[str, int]:
    if request.form.get("name", "").strip() != name:
        return _page(name, error=_("That is not the person's name. Nothing was erased.")), 400
    is_self = person().name == name
    try:
        erasure = people.erase(name)
    except Invalid as error:
        return _page(name, error=in_words(error)), 400
    except UnreadableQueues as error:
        return _page(name, error=in_words(error)), 503
    if is_self:
        return redirect(url_for("auth.login"), 303)
    flash(_("%(name)s is erased.", name=erasure.name))
    return render_template("people/erased.html", erasure=erasure)


def _page(name: str, error: str = "") -> str:
    """The confirmation of an erasure, or of finishing an interrupted one."""
    client = state().client
    erasure, account = accounts().erasures.find(name), accounts().find(name)
    if account is None and erasure is None:
        raise NoSuchPerson(name)
    name = erasure.name if erasure else account.name if account else name
    journals, errors = leaseq.read_queues(client, journal_since, of_people(client))
    return render_template(
        "people/erase.html",
        name=name,
        erasure=erasure,
        leases=held_by(state().client, name),
        token_count=len(accounts().tokens(name)),
        journals=[(_title(queue), since) for queue, since in journals.items() if since],
        unreadable=sorted(errors),
        name_input=request.form.get("name", ""),
        error=error,
    )
