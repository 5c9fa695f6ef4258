"""Views that give an item back: later, not for me, with a note, broken."""

from __future__ import annotations

from flask import flash, request
from flask_babel import gettext as _

from leaseq import ItemNotFound, LeaseLost
from leaseq.webapp.context import person, queue
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.work import bp
from leaseq.webapp.work.responses import Page, back, count, keep, over, refused, token_sent
from leaseq.webapp.work.undo import forget


@bp.post("/q/<q>/items/<name:id>/abandon")
@needs("worker")
def abandon(q: str, id: str) -> Page:
    """What was typed is kept, for when the item comes to this person again."""
    found, token = queue(q), token_sent()
    again = request.form.get("again") != "no"
    reason = _written("note", "reason") if again else _written("reason", "note")
    try:
        keep(found, id, token)
        found.abandon(id=id, token=token, person=person().name, reason=reason, again=again)
    except (LeaseLost, ItemNotFound) as lost:
        return over(found, id, token, lost)
    count(q, "gave_back", id, token)
    forget()
    flash(
        _("You gave it back. You see it again when nothing else waits for you.")
        if again
        else _("You gave it back, and won't see it again.")
    )
    return back(q)


@bp.post("/q/<q>/items/<name:id>/fail")
@needs("worker")
def fail(q: str, id: str) -> Page:
    """Say that the item is broken."""
    found, token, error = queue(q), token_sent(), _written("error")
    if error is None:
        return refused(found, id, token, {"error": _("Describe the problem.")})
    try:
        keep(found, id, token)
        failed = found.fail(id=id, token=token, person=person().name, error=error)
    except (LeaseLost, ItemNotFound) as lost:
        return over(found, id, token, lost)
    count(q, "broken", id, token)
    forget()
    flash(
        _("Thank you, the problem is noted. The item will be retried later.")
        if failed.retry_at
        else _("Thank you, the problem is noted. Your manager will look at the item.")
    )
    return back(q)


def _written(*fields: str) -> str | None:
    """The first of these fields that says something: two boxes may be filled, and one is sent."""
    texts = (request.form.get(name, "").strip() for name in fields)
    return next((text for text in texts if text), None)
