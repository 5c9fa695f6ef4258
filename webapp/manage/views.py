"""Views that choose the columns of a queue's lists, and save and remove searches."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode

from flask import flash, redirect, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

from leaseq import Invalid
from leaseq.webapp.context import existing_queue, state
from leaseq.webapp.manage import bp
from leaseq.webapp.rendering.refusals import in_words
from leaseq.webapp.search.criteria import Search, search_of
from leaseq.webapp.security.authorization import needs


@bp.post("/manage/<q>/columns")
@needs("manager")
def choose_columns(q: str) -> Response:
    existing_queue(q)
    try:
        state().lists.choose_columns(q, request.form.getlist("column"))
    except Invalid as error:
        flash(_("Not changed: %(why)s.", why=in_words(error)))
    return _back(q)


@bp.post("/manage/<q>/views")
@needs("manager")
def save_view(q: str) -> Response:
    existing_queue(q)
    name = " ".join(request.form.get("name", "").split())
    try:
        state().lists.save_view(q, name, urlencode(_search().args()))
        flash(_("The search %(name)s is saved.", name=name))
    except Invalid as error:
        flash(_("Not saved: %(why)s.", why=in_words(error)))
    return _back(q)


@bp.post("/manage/<q>/views/remove")
@needs("manager")
def remove_view(q: str) -> Response:
    existing_queue(q)
    state().lists.remove_view(q, request.form.get("name", ""))
    flash(_("The search is removed."))
    return _back(q)


def _search() -> Search:
    return search_of(dict(parse_qsl(request.form.get("search", ""))))


def _back(q: str) -> Response:
    return redirect(url_for("manage.items", q=q, **_search().args()), 303)
