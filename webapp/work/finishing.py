"""Views that finish an item, and undo what ended a lease."""

from __future__ import annotations

from flask import flash, request, url_for
from flask_babel import gettext as _

import leaseq
from leaseq import Invalid, ItemNotFound, LeaseLost
from leaseq.webapp.context import existing_queue, lease_queue, person, state, wants_fragment
from leaseq.webapp.security.authorization import extra_reply, needs
from leaseq.webapp.store.base import Command
from leaseq.webapp.work import bp
from leaseq.webapp.work.responses import (
    Page,
    count,
    read_token,
    redirect_to,
    redirect_to_queue,
    show_errors,
    show_lease,
    show_outcome,
)
from leaseq.webapp.work.submitted import send_answer
from leaseq.webapp.work.undo import forget_act, remember_act


def figures_of_today(name: str) -> Command:
    return state().activity.today_command(name, (request.view_args or {})["q"])


@bp.post("/q/<q>/items/<item:id>/finish")
@needs("worker", reads=figures_of_today)
def finish(q: str, id: str) -> Page:
    queue, caller, token = lease_queue(q), person(), read_token()
    then_reserve = request.form.get("then") == "next"
    try:
        outcome = send_answer(
            queue,
            lambda result, form: queue.finish(
                id=id,
                token=token,
                person=caller.name,
                result=result,
                then_reserve=then_reserve,
                skills=caller.skills,
                expected_form=form,
                request_id=f"page-{token}",  # so that a repeated request gets the same next item
            ),
        )
    except (LeaseLost, ItemNotFound) as error:
        return show_outcome(queue, id, token, error, refused=True)
    except Invalid as error:
        return show_errors(queue, id, token, error.errors or {error.field: error.limit})
    today = state().activity.today_from(extra_reply(), caller.name, q)
    figures = count(q, "finished", id, token, outcome.held_seconds)
    if not outcome.replayed:
        today += figures
    remember_act(q, id, token, "finish late" if outcome.late else "finish")
    if outcome.next is not None and wants_fragment():
        is_new, policy = _is_new(outcome, outcome.next), queue.policy
        return show_lease(
            queue,
            outcome.next,
            today,
            alone=is_new and policy.holds == 1,
            unread=is_new and policy.answers == 1,
        )
    return redirect_to_queue(q) if then_reserve else redirect_to(url_for("work.home"))


def _is_new(outcome: leaseq.Finished, next: leaseq.Lease) -> bool:
    """Whether the next lease is a new grant, not one that the person already held."""
    return next.reserved_at == outcome.finished_at and not outcome.replayed


@bp.post("/q/<q>/items/<item:id>/undo")
@needs("worker")
def undo(q: str, id: str) -> Page:
    """Undo a finish, abandon or fail: show the item again, with the input. The person's other leases stay."""
    queue, name, token = existing_queue(q), person().name, read_token()
    box = _BOXES.get(request.form.get("act", ""))
    forget_act()
    try:
        call = queue.take_back if box else queue.undo_finish
        lease = call(id=id, token=token, person=name, request_id=f"undo-{token}")
    except Invalid:
        if box:
            return _refuse_undo(q, _("It was too late to undo that."))
        return _refuse_undo(q, _("It was too late to undo that: your answer counts."))
    except (LeaseLost, ItemNotFound):
        return _refuse_undo(q, _("That can no longer be undone: the item has changed since."))
    if box is None:
        state().activity.subtract(name, q, id=id, token=token)
        flash(_("Undone. Your answer is open again."))
        return show_lease(queue, lease)
    state().activity.subtract(name, q, "broken" if box == "error" else "gave_back", id=id, token=token)
    flash(_("Undone. You have the item again."))
    return show_lease(queue, lease, box_texts=_reason_texts(queue.get(id), token, box))


_BOXES = {"later": "note", "never": "reason", "fail": "error", "fail for good": "error"}
"""By act, the text box that belongs to it."""


def _reason_texts(item: leaseq.Item, token: int, box: str) -> dict[str, str]:
    reason = next((grant.reason for grant in item.history if grant.token == token), None)
    return {box: reason} if reason else {}


def _refuse_undo(q: str, message: str) -> Page:
    """Show why the act was not undone. The page's script keeps showing the current item."""
    if wants_fragment():
        return message, 409
    flash(message)
    return redirect_to_queue(q)
