"""Views of sign-in and sign-out: name and password, then a code where the person has a second factor."""

from __future__ import annotations

from dataclasses import replace

from flask import flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from flask_babel import ngettext
from werkzeug.wrappers import Response

from leaseq.webapp.auth.session import (
    SignInMethod,
    address,
    begin_code,
    bp,
    by_password,
    end_session,
    go_on,
    let_in,
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
    who = by_password(name)
    if who is None:
        return login_page(target, name, _("The name or the password is wrong.")), 401  # guard: same-answer
    return go_on(who, SignInMethod("password", target))


def login_page(target: str, name: str = "", error: str | None = None) -> str:
    return render_template(
        "auth/login.html", next=target, name=name, error=error, provider=state().settings.oidc_issuer
    )


@bp.route("/login/code", methods=["GET", "POST"])
def code() -> str | Response | tuple[str, int]:
    """The second step, after the right password was given a moment ago."""
    unfinished = unfinished_sign_in("code")
    if unfinished is None:
        return redirect(url_for("auth.login"), 303)
    way, who = unfinished
    if request.method == "GET":
        return render_template("auth/login_code.html", error=None)
    begin_code(who.name)  # guard: code-slow
    before = accounts().factors.find(who.name)
    if not accounts().factors.accepts(who.name, request.form.get("code", "")):
        accounts().sign_ins.failed(who.name, "code", address())
        error = _("That code is wrong, or was used already. Wait for the next one.")
        return render_template("auth/login_code.html", error=error), 401
    accounts().attempts.forgive_code(who.name, address())
    answer = let_in(who, replace(way, how=f"{way.how}, code"))
    after = accounts().factors.find(who.name)
    if before and after and after.recovery_codes < before.recovery_codes:
        flash(
            ngettext(
                "You have %(num)s recovery code left.",
                "You have %(num)s recovery codes left.",
                after.recovery_codes,
            )
        )
    return answer


@bp.post("/logout")
@needs("worker")
def logout() -> Response:
    end_session()
    return redirect(url_for("auth.login"), 303)
