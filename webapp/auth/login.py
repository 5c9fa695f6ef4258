"""Views of sign-in and sign-out: name and password, then a code if the person has a second factor."""

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
    unfinished_sign_in,
)
from leaseq.webapp.context import accounts, state
from leaseq.webapp.security.authorization import needs


@bp.route("/login", methods=["GET", "POST"])
def login() -> str | Response | tuple[str, int]:
    target = request.values.get("next", "")
    if request.method == "GET":
        return login_page(target)
    name = request.form.get("name", "").strip()
    try:
        account = authenticate_by_password(name)
    except Invalid as error:
        return login_page(target, name, str(error)), 403
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
