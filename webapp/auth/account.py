"""The person's own account: password, sessions, API tokens."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from flask import flash, redirect, render_template, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

from leaseq import Invalid
from leaseq.webapp.auth.session import (
    TOKEN_DAYS,
    bp,
    check_current_password,
    end_session,
    has_recent_proof,
    new_password,
    require_recent_proof,
    revoke_tokens_if_asked,
    start_session,
    token_count,
    token_fields,
)
from leaseq.webapp.context import accounts, person, queue_names, state
from leaseq.webapp.refusals import in_words
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.store.accounts import Person, scopes_of


@bp.get("/account")
@needs("worker")
def account() -> str:
    return account_page()


def account_page(*, error: str | None = None, token: str | None = None, error_section: str = "") -> str:
    """The page; ``error_section`` is the section that ``error`` is about."""
    caller = person()
    return render_template(
        "auth/account.html",
        factor=accounts().factors.find(caller.name),
        error=error,
        error_section=error_section,
        **token_choices(caller, token),
    )


def token_choices(owner: Person, token: str | None) -> dict[str, Any]:
    """The values of the token list and of the form for a new token."""
    return {
        "now": datetime.now(UTC),
        "tokens": accounts().tokens(owner.name),
        "token": token,
        "token_count": token_count(owner.name),
        "has_recent_proof": has_recent_proof(),
        "provider": state().settings.oidc_issuer,
        "scopes": scopes_of(owner.role),
        "token_days": TOKEN_DAYS,
        "queue_names": queue_names(),
    }


@bp.post("/account/password")
@needs("worker")
def change_password() -> Response | tuple[str, int]:
    name = person().name
    try:
        check_current_password()
        caller = accounts().set_password(name, new_password(), by=name)
    except Invalid as error:
        return account_page(error=in_words(error), error_section="password"), 400
    start_session(caller)
    revoke_tokens_if_asked(name, by=name)
    flash(_("Your password is changed. You are signed out everywhere else."))
    return redirect(url_for("auth.account"), 303)


@bp.post("/account/sign-out-everywhere")
@needs("worker")
def end_sessions() -> Response:
    name = person().name
    accounts().end_sessions(name, by=name)
    end_session()
    revoke_tokens_if_asked(name, by=name)
    return redirect(url_for("auth.login"), 303)


@bp.post("/account/tokens")
@needs("worker")
def create_token() -> str | tuple[str, int]:
    name = person().name
    try:
        require_recent_proof()
        token = accounts().create_token(name, by=name, **token_fields())
    except Invalid as error:
        return account_page(error=in_words(error), error_section="tokens"), 400
    return account_page(token=token)


@bp.post("/account/tokens/<id>/revoke")
@needs("worker")
def revoke_token(id: str) -> Response:
    name = person().name
    token = accounts().revoke_token(id, by=name, person=name)
    flash(_("The token “%(name)s” is revoked.", name=token.name))
    return redirect(url_for("auth.account"), 303)
