"""REST calls for invitations, with which new people join."""

from __future__ import annotations

from typing import Any

from flask import url_for

from leaseq import Invalid
from leaseq.webapp.api import bp
from leaseq.webapp.api.account_models import (
    Invitation,
    InvitationList,
    InvitationPath,
    InvitationRequest,
    NewInvitation,
)
from leaseq.webapp.api.idempotency import withhold_answer
from leaseq.webapp.api.pagination import PageQuery, list_response, page_of
from leaseq.webapp.context import accounts, person
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.serving.problem import Problem

TAGS: list[Any] = [{"name": "people"}]


@bp.get("/invitations", tags=TAGS, responses={"200": InvitationList})
@needs("admin")
def list_invitations(query: PageQuery) -> dict[str, Any]:
    """List the invitations that may still be used, by id. The links themselves are not stored."""
    page, after = page_of(accounts().invitations(), lambda one: one.id, query.after, query.limit)
    return list_response("invitations", [Invitation.from_record(one) for one in page], after)


@bp.post("/invitations", tags=TAGS, responses={"201": NewInvitation})
@needs("admin")
def create_invitation(body: InvitationRequest) -> tuple[dict[str, Any], int]:
    """Invite somebody with a link that works once. The link is in this response only."""
    withhold_answer()
    fields = {name: getattr(body, name) for name in body.model_fields_set}
    token = accounts().invite(by=person().name, **fields)
    invitation = accounts().invitation(token)
    if invitation is None:
        raise Problem(404, "not-found", "the invitation has been revoked")
    link = url_for("auth.welcome", token=token, _external=True)
    return {**Invitation.from_record(invitation), "link": link}, 201


@bp.delete("/invitations/<invitation>", tags=TAGS, responses={"204": None})
@needs("admin")
def revoke_invitation(path: InvitationPath) -> tuple[str, int]:
    """Revoke an invitation that has not been used yet."""
    try:
        accounts().revoke_invitation(path.invitation, by=person().name)
    except Invalid:
        raise Problem(404, "not-found", f"there is no open invitation {path.invitation!r}") from None
    return "", 204
