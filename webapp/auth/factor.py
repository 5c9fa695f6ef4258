"""Views of the second factor: turned on with a QR code and a first code, turned off with the password."""

from __future__ import annotations

import segno
from flask import flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from markupsafe import Markup
from werkzeug.wrappers import Response

from leaseq import Invalid
from leaseq.webapp.auth.account import account_page
from leaseq.webapp.auth.session import address, begin_code, bp, check_current_password, start_session
from leaseq.webapp.context import accounts, person
from leaseq.webapp.refusals import in_words
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.store.accounts.factors import provisioning_uri


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
