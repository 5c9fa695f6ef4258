"""The list of people, as a page, as JSON and as an event stream."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from flask import Response, flash, jsonify, redirect, render_template, request, url_for
from flask_babel import gettext as _
from flask_babel import ngettext
from werkzeug.wrappers import Response as BaseResponse

from leaseq import Invalid
from leaseq.transfer import rfc3339
from leaseq.webapp.context import State, accounts, person, state
from leaseq.webapp.i18n import whole_number_in
from leaseq.webapp.item_title import item_title
from leaseq.webapp.people.blueprint import bp
from leaseq.webapp.people.roster import CRITERIA, Roster, Row, View, is_downward, sort_of
from leaseq.webapp.realtime.poller import AccessCheck, Channel, Stream, Watcher, message
from leaseq.webapp.refusals import in_words, role_word
from leaseq.webapp.rendering.downloads import stream_events, with_time
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.services import people
from leaseq.webapp.serving.bodies import whole_number
from leaseq.webapp.store.accounts.model import ROLES
from leaseq.webapp.store.accounts.onboarding import DAYS, MAX_DAYS

PAGE = 100
_READ_SECONDS = 2.0  # seconds between two reads, shared by all watchers


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of the list: the search, its order, and the index of the first row."""

    criteria: Mapping[str, str]
    start: int

    @classmethod
    def of_request(cls) -> Listing:
        criteria = {name: request.args[name] for name in CRITERIA if request.args.get(name)}
        return cls(criteria, whole_number(request.args.get("from")) or 0)

    def pages(self, count: int) -> dict[str, int | None]:
        """The first index of this, the previous and the next page in a list of this length; None: no page."""
        after = self.start + PAGE
        return {
            "start": self.start,
            "previous_start": max(self.start - PAGE, 0) if self.start else None,
            "next_start": after if count > after else None,
        }

    def figures(self, roster: Roster, view: View) -> dict[str, Any]:
        rows = view.matching(self.criteria, roster.access)
        doing = [row.work_state for row in rows]
        return {
            "people": [_row_json(row) for row in rows[self.start : self.start + PAGE]],
            "count": len(rows),
            "working": doing.count("working"),
            "on_break": doing.count("break"),
            "last_hour": sum(row.last_hour for row in rows),
            "done": sum(row.today.finished for row in rows),
        }


def _row_json(row: Row) -> dict[str, Any]:
    """A row as JSON, from which the page is rendered too."""
    account, today, lease = row.person, row.today, row.held[0] if row.work_state == "working" else None
    return {
        "key": account.name,
        "name": account.name,
        "label": account.label,
        "renamed": account.label != account.name,
        "role": account.role,
        "doing": row.work_state,
        "working": row.work_state == "working",
        "on_break": row.work_state == "break",
        "away": row.work_state in ("idle", "disabled"),
        "since": rfc3339(row.since) if row.since else None,
        "id": lease.id if lease else None,
        "title": item_title(lease.payload, lease.id) if lease else None,
        "queue": lease.queue if lease else None,
        "queue_title": lease.queue_title if lease else None,
        "more": len(row.held) - 1 if lease else len(row.held),
        "last_hour": row.last_hour,
        "done": today.finished,
        "each": None if today.seconds_each is None else round(today.seconds_each),
        "back": today.abandoned,
        "seen": rfc3339(row.signed_in_at) if row.signed_in_at else None,
        "factor": row.has_factor,
        "team": account.team,
        "skills": ", ".join(account.skills),
    }


class PeopleWatcher(Watcher):
    """A client that watches a page of the list."""

    def __init__(self, stream: Stream, access: AccessCheck, viewer: str, listing: Listing) -> None:
        super().__init__(stream, access)
        self.viewer = viewer
        self.listing = listing
        self.figures: Any = None


class PeopleChannel(Channel):
    """Sends each watcher its page whenever that changes."""

    name = "people"

    def __init__(self, state: State, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._state = state
        self._clock = clock
        self._cache: tuple[float, Roster] | None = None  # time of the read, and the roster

    def serve(self, watchers: Sequence[PeopleWatcher]) -> None:
        now = self._clock()
        if self._cache is None or now - self._cache[0] >= _READ_SECONDS:
            self._cache = (now, Roster.read(self._state))
        roster = self._cache[1]
        for watcher in watchers:
            viewer = roster.person(watcher.viewer)  # read again: their role or team may have changed
            if viewer is None:
                watcher.stream.end()
                continue
            figures = watcher.listing.figures(roster, roster.view_for(viewer))
            if figures != watcher.figures:
                watcher.figures = figures
                watcher.stream.put(message("figures", with_time(figures)))


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
            raise Invalid("name", "maximum", what="names", maximum=MAX_NAMES, count=len(names))
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
    listing, name = Listing.of_request(), person().name
    if "text/event-stream" in request.headers.get("Accept", ""):
        return stream_events(
            PeopleChannel(state()), lambda stream, access: PeopleWatcher(stream, access, name, listing)
        )
    if request.accept_mimetypes.best == "application/json":
        roster = Roster.read(state())
        return jsonify(with_time(listing.figures(roster, roster.view_for(person()))))
    return people_page()


def people_page(
    *,
    errors: Sequence[str] = (),
    form_values: Mapping[str, str] | None = None,
    links: Sequence[InvitationLink] = (),
    team_error: str = "",
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
        team_sizes=sorted(Counter(row.person.team for row in view.rows if row.person.team).items()),
        team_error=team_error,
        queues={name: roster.titles[name] for name in view.queues},
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


@bp.post("/people/teams")
@needs("admin")
def rename_team() -> BaseResponse | tuple[str, int]:
    """Rename a team, also in the access to queues."""
    try:
        count = people.rename_team(request.form.get("team", ""), request.form.get("to", "").strip())
    except Invalid as error:
        return people_page(team_error=in_words(error)), 400
    text = ngettext(
        "%(num)s person is in the team %(team)s now.", "%(num)s people are in the team %(team)s now.", count,
        team=request.form.get("to", "").strip(),
    )  # fmt: skip
    flash(text)
    return redirect(url_for("people.index"), 303)


@bp.post("/people/invitations/<id>/link")
@needs("admin")
def renew_invitation(id: str) -> str | BaseResponse:
    """Show a new link for an invitation, whose old one is void from then on."""
    try:
        invitation, token = accounts().renew_invitation(id, by=person().name)
    except Invalid as error:
        flash(in_words(error))
        return redirect(url_for("people.index"), 303)
    return people_page(links=[InvitationLink(invitation.name or "", token)])


@bp.post("/people/invitations/<id>/revoke")
@needs("admin")
def revoke_invitation(id: str) -> BaseResponse:
    accounts().revoke_invitation(id, by=person().name)
    flash(_("The invitation is revoked."))
    return redirect(url_for("people.index"), 303)
