"""Views that give an item back, for later or for other people, or report a problem; the next item follows."""

from __future__ import annotations

from flask import flash, request
from flask_babel import gettext as _

import leaseq
from leaseq import ItemNotFound, LeaseLost
from leaseq.webapp.context import existing_queue, person, state, wants_fragment
from leaseq.webapp.security.authorization import extra_reply, needs
from leaseq.webapp.store.day_figures import How
from leaseq.webapp.work import bp
from leaseq.webapp.work.finishing import figures_of_today
from leaseq.webapp.work.responses import (
    Page,
    count,
    read_token,
    redirect_to_queue,
    show_errors,
    show_lease,
    show_outcome,
)
from leaseq.webapp.work.submitted import save_draft
from leaseq.webapp.work.undo import Act, forget_act, remember_act


@bp.post("/q/<q>/items/<item:id>/abandon")
@needs("worker", reads=figures_of_today)
def abandon(q: str, id: str) -> Page:
    """Give the item back. The input is saved as a draft, in case the person gets the item again."""
    queue, caller, token = existing_queue(q), person(), read_token()
    again = request.form.get("again") != "no"
    reason = _first_text("note", "reason") if again else _first_text("reason", "note")
    try:
        save_draft(queue, id, token)
        result = queue.abandon(
            id=id,
            token=token,
            person=caller.name,
            reason=reason,
            again=again,
            then_reserve=_wants_next(),
            skills=caller.skills,
            request_id=f"page-{token}",
        )
    except (LeaseLost, ItemNotFound) as error:
        return show_outcome(queue, id, token, error)
    return _next_page(queue, id, token, "later" if again else "never", "gave_back", result.next)


@bp.post("/q/<q>/items/<item:id>/fail")
@needs("worker", reads=figures_of_today)
def fail(q: str, id: str) -> Page:
    """Report a problem with the item."""
    queue, caller, token, message = existing_queue(q), person(), read_token(), _first_text("error")
    if message is None:
        return show_errors(queue, id, token, {"error": _("Describe the problem.")})
    try:
        save_draft(queue, id, token)
        result = queue.fail(
            id=id,
            token=token,
            person=caller.name,
            error=message,
            then_reserve=_wants_next(),
            skills=caller.skills,
            request_id=f"page-{token}",
        )
    except (LeaseLost, ItemNotFound) as error:
        return show_outcome(queue, id, token, error)
    act: Act = "fail" if result.retry_at else "fail for good"
    # The item's other assignments died with it, so this can't be undone.
    is_final = act == "fail for good" and queue.policy.answers > 1
    return _next_page(queue, id, token, act, "broken", result.next, is_final=is_final)


def _wants_next() -> bool:
    """Whether the next item is wanted: not if the page's script resends an earlier post."""
    return request.form.get("then") != "stop"


def _next_page(
    queue: leaseq.Queue,
    id: str,
    token: int,
    act: Act,
    outcome: How,
    next_lease: leaseq.Lease | None,
    *,
    is_final: bool = False,
) -> Page:
    """The next item, or the page without one, with an undo of the act unless it ``is_final``."""
    today = state().activity.today_from(extra_reply(), person().name, queue.name)
    today += count(queue.name, outcome, id, token)
    if next_lease is not None and next_lease.id == id:
        forget_act()
        flash(_("Nothing else waits for you: here it is again."))
    elif is_final:
        forget_act()
        flash(_("Thank you, the problem is noted. Your manager will look at the item."))
    else:
        remember_act(queue.name, id, token, act)
    if next_lease is not None and wants_fragment():
        return show_lease(queue, next_lease, today)
    return redirect_to_queue(queue.name)


def _first_text(*fields: str) -> str | None:
    """The first non-empty text of these fields: the page has two boxes, but the call accepts one text."""
    texts = (request.form.get(name, "").strip() for name in fields)
    return next((text for text in texts if text), None)
