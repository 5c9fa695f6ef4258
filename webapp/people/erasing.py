"""The page that erases a person, after their name was typed."""

from __future__ import annotations

from flask import flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

import leaseq
from leaseq import Invalid
from leaseq.webapp.context import accounts, person, state
from leaseq.webapp.people import bp
from leaseq.webapp.rendering.refusals import in_words
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.security.erasing import erase
from leaseq.webapp.store.accounts.people import NoSuchPerson
from leaseq.webapp.store.erasing import UnreadableQueues, journal_since, of_people


@bp.get("/people/<name>/erase")
@needs("admin")
def confirm_erase(name: str) -> str:
    return _page(name)


@bp.post("/people/<name>/erase")
@needs("admin")
def erase_person(name: str) -> str | Response | tuple[str, int]:
    if request.form.get("name", "").strip() != name:
        return _page(name, error=_("That is not the person's name. Nothing was erased.")), 400
    is_self = person().name == name
    try:
        erasure = erase(name)
    except Invalid as error:
        return _page(name, error=in_words(error)), 400
    except UnreadableQueues as error:
        return _page(name, error=str(error)), 503
    if is_self:
        return redirect(url_for("auth.login"), 303)
    flash(_("%(name)s is erased.", name=erasure.name))
    return render_template("people/erased.html", erasure=erasure)


def _page(name: str, error: str = "") -> str:
    """The confirmation of an erasure, or of finishing an interrupted one."""
    client = state().client
    erasure, account = accounts().erasures.find(name), accounts().find(name)
    if account is None and erasure is None:
        raise NoSuchPerson(name)
    name = erasure.name if erasure else account.name if account else name
    journals, errors = leaseq.read_queues(client, journal_since, of_people(client))
    return render_template(
        "people/erase.html",
        name=name,
        erasure=erasure,
        leases=accounts().held_by(name),
        token_count=len(accounts().tokens(name)),
        journals=[(queue, since) for queue, since in journals.items() if since],
        unreadable=sorted(errors),
        typed_name=request.form.get("name", ""),
        error=error,
    )
