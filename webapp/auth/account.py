"""The person's own account: password, sessions, tokens, and the second factor."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import segno
from flask import flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from markupsafe import Markup
from werkzeug.wrappers import Response

from leaseq import Invalid
from leaseq.webapp.auth.session import (
    TOKEN_DAYS,
    address,
    begin_code,
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
from leaseq.webapp.context import accounts, person, queue_names, queue_titles, state
from leaseq.webapp.refusals import in_words
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.store.accounts.factors import provisioning_uri
from leaseq.webapp.store.accounts.model import Person, scopes_of


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
        "queue_titles": queue_titles(queue_names()),
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


@bp.post("/account/factor/begin")
@needs("worker")
def begin_factor() -> Response | tuple[str, int]:
    try:
        check_current_password()
    except Invalid as error:
        return account_page(error=in_words(error), error_section="factor"), 400
    accounts().factors.offer(person().name)
    return redirect(url_for("auth.factor"), 303)


@bp.get("/account/factor")
@needs("worker")
def factor() -> str | Response:
    return _page()


def _page(error: str | None = None) -> str | Response:
    name = person().name
    secret = accounts().factors.offered_secret(name)
    if secret is None:
        return redirect(url_for("auth.account"), 303)
    code = segno.make(provisioning_uri(name, secret), error="m")
    qr_code = Markup(code.svg_inline(omitsize=True, dark="#000", light="#fff", border=3))  # noqa: S704 (our own)
    return render_template(
        "auth/second_factor.html", qr_code=qr_code, secret=_group_letters(secret), error=error
    )


@bp.post("/account/factor")
@needs("worker")
def confirm_factor() -> str | Response | tuple[str | Response, int]:
    name = person().name
    begin_code(name)
    try:
        caller, codes = accounts().turn_on_factor(name, request.form.get("code", ""))
    except Invalid as error:
        return _page(in_words(error)), 400
    accounts().attempts.reset_code_counts(name, address())
    start_session(caller)
    return render_template("auth/recovery_codes.html", codes=codes)


@bp.post("/account/factor/off")
@needs("worker")
def end_factor() -> Response | tuple[str, int]:
    name = person().name
    try:
        check_current_password()
    except Invalid as error:
        return account_page(error=in_words(error), error_section="factor"), 400
    accounts().turn_off_factor(name, by=name)
    flash(_("You now sign in with name and password alone."))
    return redirect(url_for("auth.account"), 303)


def _group_letters(secret: str) -> str:
    return " ".join(secret[at : at + 4] for at in range(0, len(secret), 4))
