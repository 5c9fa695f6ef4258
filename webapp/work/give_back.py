"""Views that give an item back, for later or for other people, and that report a broken one."""

from __future__ import annotations

from flask import flash, request
from flask_babel import gettext as _

from leaseq import ItemNotFound, LeaseLost
from leaseq.webapp.context import existing_queue, person
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.work import bp
from leaseq.webapp.work.responses import Page, back, count, keep, over, refused, token_sent
from leaseq.webapp.work.undo import forget


@bp.post("/q/<q>/items/<name:id>/abandon")
@needs("worker")
def abandon(q: str, id: str) -> Page:
    """Give the item back. The input is saved as a draft, in case the person gets the item again."""
    queue, token = existing_queue(q), token_sent()
    again = request.form.get("again") != "no"
    reason = _written("note", "reason") if again else _written("reason", "note")
    try:
        keep(queue, id, token)
        queue.abandon(id=id, token=token, person=person().name, reason=reason, again=again)
    except (LeaseLost, ItemNotFound) as lost:
        return over(queue, id, token, lost)
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
    """Report a problem with the item."""
    queue, token, error = existing_queue(q), token_sent(), _written("error")
    if error is None:
        return refused(queue, id, token, {"error": _("Describe the problem.")})
    try:
        keep(queue, id, token)
        failed = queue.fail(id=id, token=token, person=person().name, error=error)
    except (LeaseLost, ItemNotFound) as lost:
        return over(queue, id, token, lost)
    count(q, "broken", id, token)
    forget()
    flash(
        _("Thank you, the problem is noted. The item will be retried later.")
        if failed.retry_at
        else _("Thank you, the problem is noted. Your manager will look at the item.")
    )
    return back(q)


def _written(*fields: str) -> str | None:
    """The text of the first of these fields that has any: the page has two boxes, and the call takes one
    text."""
    texts = (request.form.get(name, "").strip() for name in fields)
    return next((text for text in texts if text), None)
