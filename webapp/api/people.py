"""REST calls for people, to synchronize them with another directory."""

from __future__ import annotations

from typing import Any

from flask import Response, url_for

from leaseq.webapp.api import bp
from leaseq.webapp.api.account_models import PasswordLink, Person, PersonChanges, PersonExport, PersonList
from leaseq.webapp.api.headers import ERASED_AS, UNASSIGNED
from leaseq.webapp.api.idempotency import withhold_answer
from leaseq.webapp.api.models_in import EmptyRequest, PersonPath
from leaseq.webapp.api.pagination import PageQuery, list_response, page_of
from leaseq.webapp.context import accounts, person, state
from leaseq.webapp.rendering.download import download
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.security.erasing import erase
from leaseq.webapp.serving.json_request import JSON
from leaseq.webapp.store.person_changes import PersonChange, change_person
from leaseq.webapp.store.person_export import person_document

TAGS: list[Any] = [{"name": "people"}]


@bp.get("/people", tags=TAGS, responses={"200": PersonList})
@needs("admin")
def list_people(query: PageQuery) -> dict[str, Any]:
    """List all people who have an account, by name, page by page."""
    people, after = page_of(accounts().people(), lambda one: one.name, query.after, query.limit)
    return list_response("people", [Person.from_record(one) for one in people], after)


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
    state().activity.flush()  # what this process still buffers
    document = person_document(state().client, accounts(), path.name)
    return download(map(str.encode, document), JSON, "person.json")


@bp.put("/people/<name>", tags=TAGS, responses={"200": Person, "201": Person})
@needs("admin")
def put_person(path: PersonPath, body: PersonChanges) -> tuple[dict[str, Any], int, dict[str, str]]:
    """Add a person, or change one.

    A new person has no password: create a password link for them, or a token.
    A person who is disabled is signed out everywhere, their tokens stop working, and their leases end.
    Anybody may have what was assigned to them where they may no longer work: `X-Leaseq-Unassigned` says how
    many items.
    """
    by = person().name
    if accounts().find(path.name) is None:
        account = accounts().add(
            path.name, by=by, role=body.role or "worker", skills=body.skills or (), team=body.team or ""
        )
        if not body.disabled:
            return Person.from_record(account), 201, {UNASSIGNED: "0"}
        change, status = _change(account.name, disabled=True), 201
    else:
        change, status = _change(path.name, **_changes(body)), 200
    return Person.from_record(change.person), status, {UNASSIGNED: str(change.unassigned)}


def _changes(body: PersonChanges) -> dict[str, Any]:
    return {"role": body.role, "skills": body.skills, "team": body.team, "disabled": body.disabled}


def _change(name: str, **changes: Any) -> PersonChange:
    return change_person(state().client, accounts(), state().access, name, by=person().name, **changes)


@bp.delete("/people/<name>", tags=TAGS, responses={"204": None})
@needs("admin")
def delete_person(path: PersonPath) -> tuple[str, int, dict[str, str]]:
    """Erase a person, or finish an erasure that was interrupted.

    Their account, all that lets them sign in, and their drafts are deleted, the leases that they hold end,
    and a random name replaces theirs in items, threads and the managers' log. The header `X-Leaseq-Erased-As`
    of this response has it, and nothing else does. The journals keep the name until they are trimmed.
    """
    return "", 204, {ERASED_AS: erase(path.name).pseudonym}


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
    name = accounts().get(path.name).name
    if accounts().turn_off_factor(name, by=person().name):
        accounts().end_sessions(name, by=person().name)
    return "", 204
