"""Sign in and out: name and password, then a code where the person has a second factor."""

from __future__ import annotations

from flask import flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from flask_babel import ngettext
from werkzeug.wrappers import Response

from webapp.accounts.attempts import of_code, of_password
from webapp.auth.signing import begin_try, bp, end_session, go_half_way, half_way, own_path, sign_in
from webapp.gate import needs
from webapp.state import accounts, state


@bp.route("/login", methods=["GET", "POST"])
def login() -> str | Response | tuple[str, int]:
    target = request.values.get("next", "")
    if request.method == "GET":
        return login_page(target)
    name, password = request.form.get("name", "").strip(), request.form.get("password", "")
    known = accounts().find(name)
    counters = of_password(known.name if known else name, request.remote_addr or "")
    begin_try(counters)
    who = accounts().verify(name, password)
    if who is None:
        return login_page(target, name, _("The name or the password is wrong.")), 401
    accounts().attempts.forgive(counters)
    if accounts().factors.find(who.name) is not None:
        go_half_way(who, target)
        return redirect(url_for("auth.code"), 303)
    sign_in(who)
    return redirect(own_path(target), 303)


def login_page(target: str, name: str = "", error: str | None = None) -> str:
    return render_template(
        "auth/login.html", next=target, name=name, error=error, provider=state().settings.oidc_issuer
    )


@bp.route("/login/code", methods=["GET", "POST"])
def code() -> str | Response | tuple[str, int]:
    """The second step, for who gave the right password a moment ago."""
    waiting = half_way()
    who = accounts().find(waiting.name) if waiting else None
    if waiting is None or who is None or who.disabled or who.version != waiting.version:
        return redirect(url_for("auth.login"), 303)
    if request.method == "GET":
        return render_template("auth/code.html", error=None)
    counters = of_code(who.name)
    begin_try(counters)
    before = accounts().factors.find(who.name)
    if not accounts().factors.accepts(who.name, request.form.get("code", "")):
        error = _("That code is not right, or was used already. Wait for the next one.")
        return render_template("auth/code.html", error=error), 401
    accounts().attempts.forgive(counters)
    sign_in(who)
    after = accounts().factors.find(who.name)
    if before and after and after.recovery_codes < before.recovery_codes:
        flash(
            ngettext(
                "You have %(num)s recovery code left.",
                "You have %(num)s recovery codes left.",
                after.recovery_codes,
            )
        )
    return redirect(own_path(waiting.next), 303)


@bp.post("/logout")
@needs("worker")
def logout() -> Response:
    end_session()
    return redirect(url_for("auth.login"), 303)
