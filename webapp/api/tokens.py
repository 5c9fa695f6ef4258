"""REST calls on API tokens, and who the caller is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from flask import g
from werkzeug.exceptions import Forbidden

from leaseq import Invalid
from leaseq.webapp.api import bp
from leaseq.webapp.api.account_models import (
    CallerToken,
    Me,
    NewToken,
    NewTokenRequest,
    Token,
    TokenList,
    TokenPath,
    TokensQuery,
)
from leaseq.webapp.api.idempotency import withhold_answer
from leaseq.webapp.api.models_in import EmptyRequest
from leaseq.webapp.api.pagination import listed, page_of
from leaseq.webapp.context import accounts, named_queue, person
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.security.token_scopes import may_hand_on
from leaseq.webapp.serving.problem import Problem
from leaseq.webapp.store.accounts import ApiToken, Scope, at_least

TAGS: list[Any] = [{"name": "tokens"}]
_FIELDS = {"token_name": "name", "expires": "days"}
"""The request's names of what the accounts call otherwise."""


@bp.get("/me", tags=TAGS, responses={"200": Me})
@needs("worker", any_token=True)
def get_me() -> dict[str, Any]:
    """Read who the caller is, and what their token may do."""
    me, token = person(), g.get("token")
    return {
        "name": me.name,
        "role": me.role,
        "skills": list(me.skills),
        "token": None if token is None else CallerToken.of(token),
    }


@bp.get("/tokens", tags=TAGS, responses={"200": TokenList})
@needs("worker")
def list_tokens(query: TokensQuery) -> dict[str, Any]:
    """List the caller's tokens, by id, expired ones included. Admins may name another person."""
    whose = _whose(query.person)
    page, after = page_of(accounts().tokens(whose), lambda one: one.id, query.after, query.limit)
    return listed("tokens", [Token.of(one) for one in page], after)


@bp.post("/tokens", tags=TAGS, responses={"201": NewToken})
@needs("worker")
def create_token(body: NewTokenRequest) -> tuple[dict[str, Any], int]:
    """Create a token. It may do at most what the caller's token may, for at most as long.

    A session can't create one: use the page of the account, which asks for the password.
    """
    caller = _token_of_caller()
    whose = _whose(body.person)
    scope = body.scope if "scope" in body.model_fields_set else caller.scope
    _check_scope(caller, scope)
    _check_end(caller, body.days)
    only = named_queue(body.queue) if "queue" in body.model_fields_set else None
    withhold_answer()
    try:
        token = accounts().create_token(
            whose,
            body.name,
            by=person().name,
            scope=scope,
            queue=only,
            days=body.days,
            until=caller.expires_at,
        )
    except Invalid as refused:
        field = _FIELDS.get(refused.field, refused.field)
        raise Invalid(field, refused.limit) from None
    return _with_secret(token), 201


@bp.post("/tokens/<token>/rotate", tags=TAGS, responses={"200": NewToken})
@needs("worker")
def rotate_token(path: TokenPath, body: EmptyRequest) -> dict[str, Any]:  # noqa: ARG001  # no fields
    """Replace a token by another with the same rights and the same end. The one before stops working."""
    caller, known = _token_of_caller(), _found(path.token)
    _check_scope(caller, known.scope)
    if _ends_before(caller, known.expires_at):  # guard: token-rotates-later
        raise Forbidden("a token can't get the secret of one that expires later")
    withhold_answer()
    return _with_secret(accounts().rotate_token(known, by=person().name))


@bp.delete("/tokens/<token>", tags=TAGS, responses={"204": None})
@needs("worker")
def revoke_token(path: TokenPath) -> tuple[str, int]:
    """Revoke a token: one of the caller's, or as an admin anybody's."""
    known, caller = _found(path.token), g.get("token")
    if caller is not None:
        _check_scope(caller, known.scope)  # guard: token-revokes-wider
    accounts().revoke_token(known.id, by=person().name, person=known.person)
    return "", 204


def _whose(name: str | None) -> str:
    me = person()
    if name is None or name == me.name:
        return me.name
    if not _acts_as_admin():  # guard: tokens-of-others
        raise Forbidden("this requires the role admin: others' tokens are theirs")
    return accounts().get(name).name


def _found(id: str) -> ApiToken:
    """A token that the caller may end or replace; of others not even its existence is told."""
    mine = None if _acts_as_admin() else person().name  # guard: tokens-of-others-by-id
    for token in accounts().tokens(mine):
        if token.id == id:
            return token
    raise Problem(404, "not-found", f"there is no token {id!r}")


def _acts_as_admin() -> bool:
    token = g.get("token")
    return at_least(person().role, "admin") and (token is None or token.scope in ("admin", "read"))


def _token_of_caller() -> ApiToken:
    token: ApiToken | None = g.get("token")
    if token is None:  # guard: token-by-token
        raise Forbidden(
            "this takes a token: by a session, use the page of your account, which asks for the password"
        )
    return token


def _check_scope(caller: ApiToken, scope: Scope) -> None:
    if not may_hand_on(caller, scope, person().role):  # guard: token-hands-on
        raise Forbidden(f"the scope of this token, {caller.scope}, does not cover the scope {scope}")


def _check_end(caller: ApiToken, days: int | None) -> None:
    if days is None or caller.expires_at is None:
        return
    now = datetime.now(UTC)
    if _ends_before(caller, now + timedelta(days=days)):  # guard: token-outlives
        most = (caller.expires_at - now).days
        raise Invalid("days", f"at most {most}: the token of this request expires then")


def _ends_before(caller: ApiToken, end: datetime | None) -> bool:
    """Whether the token ends before another that it makes or replaces: then one that leaked could be kept
    alive for ever."""
    return caller.expires_at is not None and (end is None or end > caller.expires_at)


def _with_secret(token: str) -> dict[str, Any]:
    made = accounts().token_record(token)
    if made is None:
        raise Problem(404, "not-found", "the token was revoked meanwhile")
    return {**Token.of(made), "token": token}
