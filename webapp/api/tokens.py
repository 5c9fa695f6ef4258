"""REST calls for API tokens, and who the caller is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from flask import g

from leaseq import Invalid
from leaseq.webapp.api.blueprint import bp
from leaseq.webapp.api.idempotency import withhold_answer
from leaseq.webapp.api.models.accounts import (
    CallerToken,
    Me,
    NewToken,
    NewTokenRequest,
    Token,
    TokenList,
    TokenPath,
    TokensQuery,
)
from leaseq.webapp.api.models.base import list_response, page_of
from leaseq.webapp.api.models.requests import EmptyRequest
from leaseq.webapp.context import accounts, named_queue, person
from leaseq.webapp.security.authorization import may_grant, needs
from leaseq.webapp.serving.problem import Problem
from leaseq.webapp.store.accounts.model import ApiToken, Scope, at_least

TAGS: list[Any] = [{"name": "tokens"}]
_FIELDS = {"token_name": "name", "expires": "days"}
"""The request's names for fields in errors of the accounts."""


@bp.get("/me", tags=TAGS, responses={"200": Me})
@needs("worker", any_token=True)
def get_me() -> dict[str, Any]:
    """Read who the caller is, and what their token may do."""
    caller, token = person(), g.get("token")
    return {
        "name": caller.name,
        "role": caller.role,
        "skills": list(caller.skills),
        "token": None if token is None else CallerToken.from_record(token),
    }


@bp.get("/tokens", tags=TAGS, responses={"200": TokenList})
@needs("worker")
def list_tokens(query: TokensQuery) -> dict[str, Any]:
    """List the caller's tokens, by id, expired ones included. Admins may name another person."""
    owner = _owner(query.person)
    page, after = page_of(accounts().tokens(owner), lambda token: token.id, query.after, query.limit)
    return list_response("tokens", [Token.from_record(token) for token in page], after)


@bp.post("/tokens", tags=TAGS, responses={"201": NewToken})
@needs("worker")
def create_token(body: NewTokenRequest) -> tuple[dict[str, Any], int]:
    """Create a token. It may do at most what the caller's token may do, and expires no later.

    A session can't create one: use the page of the account, which asks for the password.
    """
    caller = _token_of_caller()
    owner = _owner(body.person)
    scope = body.scope if "scope" in body.model_fields_set else caller.scope
    _check_scope(caller, scope)
    _check_end(caller, body.days)
    queue = named_queue(body.queue) if "queue" in body.model_fields_set else None
    withhold_answer()
    try:
        token = accounts().create_token(
            owner,
            body.name,
            by=person().name,
            scope=scope,
            queue=queue,
            days=body.days,
            until=caller.expires_at,
        )
    except Invalid as error:
        field = _FIELDS.get(error.field, error.field)
        raise error.at(field) from None
    return _with_secret(token), 201


@bp.post("/tokens/<token>/rotate", tags=TAGS, responses={"200": NewToken})
@needs("worker")
def rotate_token(path: TokenPath, body: EmptyRequest) -> dict[str, Any]:  # noqa: ARG001  # no fields
    """Replace a token with a new one with the same rights and expiry. The old one stops working."""
    caller, token = _token_of_caller(), _find_token(path.token)
    _check_scope(caller, token.scope)
    if _ends_before(caller, token.expires_at):
        raise Problem.of(403, "forbidden", "forbidden", what="later_token")
    withhold_answer()
    return _with_secret(accounts().rotate_token(token, by=person().name))


@bp.delete("/tokens/<token>", tags=TAGS, responses={"204": None})
@needs("worker")
def revoke_token(path: TokenPath) -> tuple[str, int]:
    """Revoke a token: one of the caller's, or as an admin anybody's."""
    token, caller = _find_token(path.token), g.get("token")
    if caller is not None:
        _check_scope(caller, token.scope)
    accounts().revoke_token(token.id, by=person().name, person=token.person)
    return "", 204


def _owner(name: str | None) -> str:
    caller = person()
    if name is None or name == caller.name:
        return caller.name
    if not _acts_as_admin():
        raise Problem.of(403, "forbidden", "forbidden", what="others_tokens")
    return accounts().get(name).name


def _find_token(id: str) -> ApiToken:
    """A token that the caller may revoke or replace. Others are not found, whether or not they exist."""
    owner = None if _acts_as_admin() else person().name
    for token in accounts().tokens(owner):
        if token.id == id:
            return token
    raise Problem.of(404, "not-found", "not_found", what="token", id=id)


def _acts_as_admin() -> bool:
    token = g.get("token")
    return at_least(person().role, "admin") and (token is None or token.scope in ("admin", "read"))


def _token_of_caller() -> ApiToken:
    token: ApiToken | None = g.get("token")
    if token is None:
        raise Problem.of(403, "forbidden", "forbidden", what="needs_token")
    return token


def _check_scope(caller: ApiToken, scope: Scope) -> None:
    if not may_grant(caller, scope, person().role):
        raise Problem.of(403, "forbidden", "forbidden", what="scope", scope=caller.scope, other=scope)


def _check_end(caller: ApiToken, days: int | None) -> None:
    if days is None or caller.expires_at is None:
        return
    now = datetime.now(UTC)
    if _ends_before(caller, now + timedelta(days=days)):
        days_left = (caller.expires_at - now).days
        raise Invalid("days", "maximum", what="token_days", maximum=days_left)


def _ends_before(caller: ApiToken, end: datetime | None) -> bool:
    """Whether the token ends before another that it creates or replaces, which would let a leaked token be
    extended forever."""
    return caller.expires_at is not None and (end is None or end > caller.expires_at)


def _with_secret(token: str) -> dict[str, Any]:
    record = accounts().token_record(token)
    if record is None:
        raise Problem.of(404, "not-found", "not_found", what="revoked_token")
    return {**Token.from_record(record), "token": token}
