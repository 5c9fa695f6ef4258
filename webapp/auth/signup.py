"""Sign-up: the first admin, invitations, and links to set a password."""

from __future__ import annotations

from flask import flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

from leaseq import Invalid
from leaseq.webapp.auth.session import (
    bp,
    new_password,
    revoke_tokens_if_asked,
    sign_in,
    start_session,
    token_count,
)
from leaseq.webapp.context import accounts
from leaseq.webapp.refusals import in_words
from leaseq.webapp.store.accounts import Invitation


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
    flash(_("You are the admin now. Start by creating a queue."))
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
