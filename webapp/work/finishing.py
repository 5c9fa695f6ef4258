"""Finish an item, and undo it."""

from __future__ import annotations

from flask import flash, request, url_for
from flask_babel import gettext as _

import leaseq
from leaseq import Invalid, ItemNotFound, LeaseLost
from leaseq.webapp.context import person, queue, state, wants_piece
from leaseq.webapp.forms import fields_of, read_result, typed_in
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.work import bp
from leaseq.webapp.work.responses import Page, back, count, go, held, over, refused, token_sent
from leaseq.webapp.work.undo import forget, remember


@bp.post("/q/<q>/items/<name:id>/finish")
@needs("worker")
def finish(q: str, id: str) -> Page:
    found, me, token = queue(q), person(), token_sent()
    fields = fields_of(found.policy.form)
    result, errors = read_result(fields, typed_in(fields, request.form))
    if errors:
        return refused(found, id, token, errors)
    then_reserve = request.form.get("then") == "next"
    try:
        finished = found.finish(
            id=id,
            token=token,
            person=me.name,
            result=result,
            then_reserve=then_reserve,
            skills=me.skills,
            request_id=f"page-{token}",  # sent again after a lost reply it brings the same next item
        )
    except (LeaseLost, ItemNotFound) as lost:
        return over(found, id, token, lost, refused=True)
    except Invalid as misfit:
        return refused(found, id, token, misfit.errors or {misfit.field: misfit.limit})
    today = count(q, "finished", id, token, finished.held_seconds)
    remember(q, id, token, finished.late)
    if finished.next is not None and wants_piece():
        return held(found, finished.next, today, alone=_is_alone(found.policy, finished))
    return back(q) if then_reserve else go(url_for("work.home"))


def _is_alone(policy: leaseq.Policy, finished: leaseq.Finished) -> bool:
    """Whether the next item is all that they hold: one that is new is given only to who has a hand free."""
    new = finished.next is not None and finished.next.reserved_at == finished.finished_at
    return new and not finished.replayed and policy.holds == 1


@bp.post("/q/<q>/items/<name:id>/undo")
@needs("worker")
def undo(q: str, id: str) -> Page:
    """The finished item again, with the answer in its form. What they hold besides stays theirs."""
    found, me, token = queue(q), person().name, token_sent()
    forget()
    try:
        lease = found.undo_finish(id=id, token=token, person=me, request_id=f"undo-{token}")
    except Invalid:
        return _stands(q, _("It was too late to undo that: your answer counts."))
    except (LeaseLost, ItemNotFound):
        return _stands(q, _("That can't be undone any more: the item has changed since."))
    state().activity.take_off(me, q, id=id, token=token)
    flash(_("Undone. Your answer is open again."))
    return held(found, lease)


def _stands(q: str, why: str) -> Page:
    """Undone it was not. The script stays at the item that is on the page, and says why."""
    if wants_piece():
        return why, 409
    flash(why)
    return back(q)
