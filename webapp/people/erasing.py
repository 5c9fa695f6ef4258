"""The page that erases a person, once their name is typed."""

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


@bp.get("/people/<name:name>/erase")
@needs("admin")
def ask_erase(name: str) -> str:
    return _page(name)


@bp.post("/people/<name:name>/erase")
@needs("admin")
def erase_one(name: str) -> str | Response | tuple[str, int]:
    if request.form.get("name", "").strip() != name:
        return _page(name, error=_("That is not the person's name, and nothing is erased.")), 400
    itself = person().name == name
    try:
        done = erase(name)
    except Invalid as refused:
        return _page(name, error=in_words(refused)), 400
    except UnreadableQueues as unfinished:
        return _page(name, error=str(unfinished)), 503
    if itself:
        return redirect(url_for("auth.login"), 303)
    flash(_("%(name)s is erased.", name=done.name))
    return render_template("people/erased.html", done=done)


def _page(name: str, error: str = "") -> str:
    """The question, or where an erasure was interrupted, whether to finish it."""
    client = state().client
    begun, known = accounts().erasures.find(name), accounts().find(name)
    if known is None and begun is None:
        raise NoSuchPerson(name)
    name = begun.name if begun else known.name if known else name
    journals, unreadable = leaseq.read_queues(client, journal_since, of_people(client))
    return render_template(
        "people/erase.html",
        name=name,
        begun=begun,
        held=accounts().held_by(name),
        tokens=len(accounts().tokens(name)),
        journals=[(queue, since) for queue, since in journals.items() if since],
        unreadable=sorted(unreadable),
        typed=request.form.get("name", ""),
        error=error,
    )
