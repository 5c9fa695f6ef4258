"""Sign-in, sign-out, the set-up of the first account, and first passwords."""

from __future__ import annotations

from dataclasses import replace

from flask import flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from flask_babel import ngettext
from werkzeug.wrappers import Response

from leaseq import Invalid
from leaseq.webapp.auth.session import (
    SignInMethod,
    address,
    authenticate_by_password,
    begin_code,
    bp,
    complete_sign_in,
    continue_sign_in,
    end_session,
    new_password,
    revoke_tokens_if_asked,
    sign_in,
    start_session,
    token_count,
    unfinished_sign_in,
)
from leaseq.webapp.context import accounts, state
from leaseq.webapp.refusals import in_words
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.store.accounts.model import Invitation


@bp.route("/login", methods=["GET", "POST"])
def login() -> str | Response | tuple[str, int]:
    target = request.values.get("next", "")
    if request.method == "GET":
        return login_page(target)
    name = request.form.get("name", "").strip()
    try:
        account = authenticate_by_password(name)
    except Invalid as error:
        return login_page(target, name, in_words(error)), 403
    if account is None:
        return login_page(target, name, _("The name or the password is wrong.")), 401
    return continue_sign_in(account, SignInMethod("password", target))


def login_page(target: str, name: str = "", error: str | None = None) -> str:
    return render_template(
        "auth/login.html", next=target, name=name, error=error, provider=state().settings.oidc_issuer
    )


@bp.route("/login/code", methods=["GET", "POST"])
def code() -> str | Response | tuple[str, int]:
    """The second step, after the right password."""
    sign_in = unfinished_sign_in("code")
    if sign_in is None:
        return redirect(url_for("auth.login"), 303)
    method, account = sign_in
    if request.method == "GET":
        return render_template("auth/login_code.html", error=None)
    begin_code(account.name)
    factor_before = accounts().factors.find(account.name)
    if not accounts().factors.accepts(account.name, request.form.get("code", "")):
        accounts().sign_ins.log_failure(account.name, "code", address())
        error = _("That code is wrong, or was used already. Wait for the next one.")
        return render_template("auth/login_code.html", error=error), 401
    accounts().attempts.reset_code_counts(account.name, address())
    response = complete_sign_in(account, replace(method, how=f"{method.how}, code"))
    factor_after = accounts().factors.find(account.name)
    if factor_before and factor_after and factor_after.recovery_codes < factor_before.recovery_codes:
        flash(
            ngettext(
                "You have %(num)s recovery code left.",
                "You have %(num)s recovery codes left.",
                factor_after.recovery_codes,
            )
        )
    return response


@bp.post("/logout")
@needs("worker")
def logout() -> Response:
    end_session()
    return redirect(url_for("auth.login"), 303)


@bp.route("/setup", methods=["GET", "POST"])
def setup() -> str | Response | tuple[str, int]:
    """Choose the admin's name and password at the first start."""
    token = request.values.get("token", "")
    if not accounts().setup_is_open(token):
        return render_template("auth/invalid_link.html", setup=True), 403
    if request.method == "GET":
        return render_template("auth/setup.html", token=token, name="", error=None)
    name = request.form.get("name", "").strip()
    try:
        account = accounts().set_up(token, name, new_password())
    except Invalid as error:
        return render_template("auth/setup.html", token=token, name=name, error=in_words(error)), 400
    start_session(account)
    flash(_("You are the admin now."))
    return redirect(url_for("manage.overview"), 303)


@bp.route("/welcome", methods=["GET", "POST"])
def welcome() -> str | Response | tuple[str, int]:
    """Sign up with an invitation, or set a password with a link from an admin."""
    token = request.values.get("token", "")
    invitation = accounts().invitation(token)
    if invitation is not None:
        return _join(token, invitation)
    name = accounts().password_link_owner(token)
    if name is None:
        return render_template("auth/invalid_link.html", setup=False), 403
    fields = {"token": token, "name": name, "token_count": token_count(name)}
    if request.method == "GET":
        return render_template("auth/first_password.html", **fields, error=None)
    try:
        account = accounts().use_link(token, new_password())
    except Invalid as error:
        return render_template("auth/first_password.html", **fields, error=in_words(error)), 400
    # A link replaces the password, not the code.
    may_sign_in = not (account.disabled or accounts().factors.find(account.name) is not None)
    if may_sign_in:
        sign_in(account, "password link")
    revoke_tokens_if_asked(account.name, by=account.name)
    return redirect(url_for("work.home" if may_sign_in else "auth.login"), 303)


def _join(token: str, invitation: Invitation) -> str | Response | tuple[str, int]:
    fields = {"token": token, "invitation": invitation}
    if request.method == "GET":
        return render_template("auth/join.html", **fields, name=invitation.name or "", error=None)
    name = request.form.get("name", "").strip()
    try:
        account = accounts().accept(token, name, new_password())
    except Invalid as error:
        return render_template("auth/join.html", **fields, name=name, error=in_words(error)), 400
    start_session(account)
    return redirect(url_for("work.home"), 303)
