"""People over REST, their invitations, and the audit log."""

from __future__ import annotations

from typing import Any

from flask import Response, url_for

from leaseq import Invalid, validation
from leaseq.webapp.api.blueprint import bp
from leaseq.webapp.api.description.openapi import ERASED_AS, UNASSIGNED
from leaseq.webapp.api.idempotency import withhold_answer
from leaseq.webapp.api.models.accounts import (
    Invitation,
    InvitationList,
    InvitationPath,
    InvitationRequest,
    LogEntry,
    LogEntryList,
    LogQuery,
    NewInvitation,
    NewTeamName,
    PasswordLink,
    Person,
    PersonChanges,
    PersonExport,
    PersonList,
    RenamedTeam,
    TeamPath,
)
from leaseq.webapp.api.models.base import PageQuery, list_response, page_of
from leaseq.webapp.api.models.requests import EmptyRequest, PersonPath
from leaseq.webapp.context import accounts, person
from leaseq.webapp.rendering.downloads import download
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.services import people
from leaseq.webapp.serving.bodies import JSON
from leaseq.webapp.serving.problem import Problem

TAGS: list[Any] = [{"name": "people"}]


@bp.get("/people", tags=TAGS, responses={"200": PersonList})
@needs("admin")
def list_people(query: PageQuery) -> dict[str, Any]:
    """List all people who have an account, by name, page by page."""
    page, after = page_of(accounts().people(), lambda record: record.name, query.after, query.limit)
    return list_response("people", [Person.from_record(record) for record in page], after)


@bp.get("/people/<name>", tags=TAGS, responses={"200": Person})
@needs("admin")
def get_person(path: PersonPath) -> dict[str, Any]:
    """Read one person's account."""
    return Person.from_record(accounts().get(path.name))


@bp.get("/people/<name>/export", tags=TAGS, responses={"200": PersonExport})
@needs("admin")
def export_person(path: PersonPath) -> Response:
    """Export everything stored about a person, as one streamed JSON document, like `leaseq person export`.

    It contains their account, tokens without the secrets, log entries, figures and messages, and for each
    item what they had and answered. If there is no account, it contains what is stored under the name.
    """
    return download(map(str.encode, people.export(path.name)), JSON, "person.json")


@bp.put("/people/<name>", tags=TAGS, responses={"200": Person, "201": Person})
@needs("admin")
def put_person(path: PersonPath, body: PersonChanges) -> tuple[dict[str, Any], int, dict[str, str]]:
    """Add a person, or change one.

    A new person has no password: create a password link for them, or a token. The name in the path never
    changes; pages call the person by `shown_name`, if there is one.
    A person who is disabled is signed out everywhere, their tokens stop working, and their leases end.
    Anybody may have what was assigned to them where they may no longer work: `X-Leaseq-Unassigned` says how
    many items.
    """
    if accounts().find(path.name) is None:
        account = accounts().add(
            path.name,
            by=person().name,
            role=body.role or "worker",
            skills=body.skills or (),
            team=body.team or "",
            shown_name=body.shown_name or "",
        )
        if not body.disabled:
            return Person.from_record(account), 201, {UNASSIGNED: "0"}
        change, status = people.change(account.name, disabled=True), 201
    else:
        changes = {name: getattr(body, name) for name in ("role", "skills", "team", "disabled", "shown_name")}
        change, status = people.change(path.name, **changes), 200
    return Person.from_record(change.person), status, {UNASSIGNED: str(change.unassigned)}


@bp.delete("/people/<name>", tags=TAGS, responses={"204": None})
@needs("admin")
def delete_person(path: PersonPath) -> tuple[str, int, dict[str, str]]:
    """Erase a person, or finish an erasure that was interrupted.

    Their account, all that lets them sign in, and their drafts are deleted, the leases that they hold end,
    and a random name replaces theirs in items, threads and the managers' log. The header `X-Leaseq-Erased-As`
    of this response has it, and nothing else does. The journals keep the name until they are trimmed.
    """
    return "", 204, {ERASED_AS: people.erase(path.name).pseudonym}


@bp.post("/people/<name>/password-link", tags=TAGS, responses={"201": PasswordLink})
@needs("admin")
def create_password_link(path: PersonPath, body: EmptyRequest) -> tuple[dict[str, Any], int]:  # noqa: ARG001  # no fields
    """Create a link with which a person chooses their password. It works once, within three days."""
    withhold_answer()
    token = accounts().password_link(path.name, by=person().name)
    return {"link": url_for("auth.welcome", token=token, _external=True)}, 201


@bp.delete("/people/<name>/sessions", tags=TAGS, responses={"204": None})
@needs("admin")
def end_sessions(path: PersonPath) -> tuple[str, int]:
    """Sign a person out everywhere. Their tokens stay valid: revoke them separately."""
    accounts().end_sessions(path.name, by=person().name)
    return "", 204


@bp.delete("/people/<name>/factor", tags=TAGS, responses={"204": None})
@needs("admin")
def reset_factor(path: PersonPath) -> tuple[str, int]:
    """Reset a person's two-factor sign-in, because their device is lost, and sign them out everywhere.

    They sign in with the password alone until they turn it on again.
    """
    people.reset_factor(path.name)
    return "", 204


@bp.get("/invitations", tags=TAGS, responses={"200": InvitationList})
@needs("admin")
def list_invitations(query: PageQuery) -> dict[str, Any]:
    """List the invitations that may still be used, by id. The links themselves are not stored."""
    page, after = page_of(
        accounts().invitations(), lambda invitation: invitation.id, query.after, query.limit
    )
    return list_response("invitations", [Invitation.from_record(invitation) for invitation in page], after)


@bp.post("/invitations", tags=TAGS, responses={"201": NewInvitation})
@needs("admin")
def create_invitation(body: InvitationRequest) -> tuple[dict[str, Any], int]:
    """Invite somebody with a link that works once. The link is in this response only."""
    withhold_answer()
    fields = {name: getattr(body, name) for name in body.model_fields_set}
    token = accounts().invite(by=person().name, **fields)
    invitation = accounts().invitation(token)
    if invitation is None:
        raise Problem.of(404, "not-found", "not_found", what="revoked_invitation")
    link = url_for("auth.welcome", token=token, _external=True)
    return {**Invitation.from_record(invitation), "link": link}, 201


@bp.post("/invitations/<invitation>/link", tags=TAGS, responses={"201": NewInvitation})
@needs("admin")
def renew_invitation(path: InvitationPath, body: EmptyRequest) -> tuple[dict[str, Any], int]:  # noqa: ARG001  # no fields
    """Create a new link for an invitation whose link was lost. The old link is void from then on.

    The invitation has a new id, and is valid for as many days as it was at first.
    """
    withhold_answer()
    try:
        invitation, token = accounts().renew_invitation(path.invitation, by=person().name)
    except Invalid:
        raise Problem.of(404, "not-found", "not_found", what="invitation", id=path.invitation) from None
    link = url_for("auth.welcome", token=token, _external=True)
    return {**Invitation.from_record(invitation), "link": link}, 201


@bp.post("/teams/<team>/rename", tags=TAGS, responses={"200": RenamedTeam})
@needs("admin")
def rename_team(path: TeamPath, body: NewTeamName) -> dict[str, Any]:
    """Rename a team: of its people, of those who are invited to it, and in the access to queues.

    Nobody loses access meanwhile, so it takes about three seconds.
    """
    try:
        count = people.rename_team(path.team, body.to)
    except Invalid as error:
        if error.rule != "not_found":
            raise
        raise Problem.of(404, "not-found", "not_found", what="team", name=path.team) from None
    return {"team": body.to, "people": count}


@bp.delete("/invitations/<invitation>", tags=TAGS, responses={"204": None})
@needs("admin")
def revoke_invitation(path: InvitationPath) -> tuple[str, int]:
    """Revoke an invitation that has not been used yet."""
    try:
        accounts().revoke_invitation(path.invitation, by=person().name)
    except Invalid:
        raise Problem.of(404, "not-found", "not_found", what="invitation", id=path.invitation) from None
    return "", 204


@bp.get("/log", tags=TAGS, responses={"200": LogEntryList})
@needs("admin")
def list_log(query: LogQuery) -> dict[str, Any]:
    """List who changed what and who signed in, latest first.

    The log keeps the latest 50,000 changes and the latest 50,000 sign-ins.
    """
    person = None if query.person is None else validation.person_name(query.person)
    page = accounts().log.page(after=query.after, limit=query.limit, person=person, kind=query.kind)
    return list_response("entries", [LogEntry.from_record(entry) for entry in page.entries], page.after)
