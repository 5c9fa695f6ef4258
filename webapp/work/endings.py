"""The end of a lease: finish, give back, undo, and the page after it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, TypeVar, cast, get_args
from urllib.parse import quote, unquote

from flask import Response as FlaskResponse
from flask import after_this_request, current_app, flash, g, redirect, request, url_for
from flask_babel import gettext as _
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response

import leaseq
from leaseq import Invalid, ItemNotFound, Json, LeaseLost, PolicyChanged
from leaseq.form import marked_texts
from leaseq.form.passages import with_words
from leaseq.webapp.context import existing_queue, form_of, lease_queue, person, state, wants_fragment
from leaseq.webapp.forms.changes import with_gone
from leaseq.webapp.forms.inputs import MORE_ROWS, UPLOAD
from leaseq.webapp.forms.parsing import draft_of
from leaseq.webapp.refusals import reasons_by_field
from leaseq.webapp.security.authorization import extra_reply, needs
from leaseq.webapp.services import leases
from leaseq.webapp.serving.bodies import strict_request, whole_number
from leaseq.webapp.store.activity import DayFigures
from leaseq.webapp.store.base import Command
from leaseq.webapp.work.blueprint import bp
from leaseq.webapp.work.files import with_sent_files
from leaseq.webapp.work.view import NO_ITEM, ItemView, form_view_of, lease_end_of, render_item

_Sent = TypeVar("_Sent")


def send_answer(queue: leaseq.Queue, id: str, send: Callable[[Json, Json], _Sent]) -> _Sent:
    """Send the submitted result for an item, and the form that it was read with. If another one counts, read
    the result with that. Raises Invalid, with ``errors`` by field; also if the person
    has not seen the questions."""
    form = asked_form(queue, id)
    while True:
        result, errors = form_view_of(form).read(request.form)
        if errors:
            raise Invalid("result", "answers_misfit", errors=errors)
        if marked_texts(form):
            result = with_words(form, queue.get(id).payload, result)
        try:
            return send(result, form)
        except PolicyChanged:  # it has read the new policy
            form = form_of(queue, queue.get(id))


def save_draft(
    queue: leaseq.Queue,
    id: str,
    token: int,
    *,
    even_empty: bool = False,
    form: MultiDict[str, str] | None = None,
) -> None:
    """Save the input as a draft, also what was typed for questions that are gone. An empty draft replaces one
    whose texts were deleted. ``form``: the submitted one, if it is not the request's."""
    form_view = form_view_of(asked_form(queue, id))
    input = form_view.submitted_input(request.form if form is None else form)
    draft = with_gone(draft_of(form_view.fields, input.texts), input.gone)
    if draft or even_empty:
        leases.save_draft(queue, id, token, draft)


def asked_form(queue: leaseq.Queue, id: str) -> Json:
    """The form that counts for an item. Unless the page shows the queue's questions, the item is read, which
    may have its own form, and the policy again: the page may come from a process that knows a newer one."""
    form = queue.policy.form
    if request.form.get("questions") in (None, form_view_of(form).version):
        return form
    with suppress(ItemNotFound):
        if (own_form := queue.get(id).form) is not None:
            return own_form
    queue.find_policy()
    return queue.policy.form


Page = Response | str | tuple[str, int]

REDIRECT_HEADER = "X-Leaseq-Redirect"
"""The header with the next page's URL for the page's script, since fetch follows redirects unnoticed."""


def redirect_to(url: str) -> Response:
    return (
        FlaskResponse(status=204, headers={REDIRECT_HEADER: url}) if wants_fragment() else redirect(url, 303)
    )


def redirect_to_queue(q: str) -> Response:
    return redirect_to(url_for("work.page", q=q))


def read_token() -> int:
    this_request = strict_request()
    token = whole_number(this_request.args.get("token", this_request.form.get("token")))
    if token is None:
        raise Invalid("token", "required")
    return token


def _active_ms() -> int:
    """The time at work on the item, as the page's script measured it."""
    return whole_number(request.form.get("active_ms")) or 0


def show_lease(
    queue: leaseq.Queue,
    lease: leaseq.Lease,
    today: DayFigures | None = None,
    *,
    alone: bool = False,
    unread: bool = False,
    box_texts: Mapping[str, str] | None = None,
) -> Page:
    """The page of a lease that was just granted. ``alone``: the person holds no other. ``unread``: nobody had
    the item before, if this is its first grant. ``box_texts``: texts for give back and report."""
    if not wants_fragment():
        return redirect(url_for("work.page", q=queue.name, item=lease.id), 303)
    policy, form = queue.policy, form_of(queue, lease)
    input = form_view_of(form).initial_input(lease, form)
    held = [lease] if alone else queue.mine(person().name)
    return render_item(
        ItemView(
            queue,
            policy,
            lease.id,
            lease.token,
            input,
            lease=lease,
            leases=held,
            box_texts=box_texts or {},
            today=today,
            unread=unread,
        )
    )


def show_errors(
    queue: leaseq.Queue,
    id: str,
    token: int,
    errors: dict[str, str],
    form: MultiDict[str, str] | None = None,
) -> tuple[str, int]:
    """The item view again, with all input, and each error next to its field. ``form``: the submitted one, if
    it is not the request's."""
    name, policy = person().name, queue.policy
    input = form_view_of(asked_form(queue, id)).submitted_input(request.form if form is None else form)
    held = queue.mine(name)
    lease = next((lease for lease in held if (lease.id, lease.token) == (id, token)), None)
    view = ItemView(
        queue,
        policy,
        id,
        token,
        input,
        lease=lease,
        leases=held,
        errors=errors,
        box_texts=request.form,
    )
    if lease is None:
        item = queue.get(id)
        lease_end = lease_end_of(item, token, name, held, policy)
        if lease_end is None:
            raise ItemNotFound(queue.name, id)
        shown_errors = {} if "error" in errors else errors  # without a lease there is no field for it
        view = replace(view, item=item, lease_end=lease_end, errors=shown_errors)
    return render_item(view), 422


def show_outcome(
    queue: leaseq.Queue, id: str, token: int, error: LeaseLost | ItemNotFound, *, refused: bool = False
) -> tuple[str, int]:
    """The outcome of the lease, with all input still in the form."""
    name, policy = person().name, queue.policy
    input = form_view_of(asked_form(queue, id)).submitted_input(request.form)
    held = queue.mine(name)
    view = ItemView(queue, policy, id, token, input, leases=held, lease_end=NO_ITEM)
    if isinstance(error, ItemNotFound):
        return render_item(view), 404
    lease_end = lease_end_of(error.item, token, name, held, policy, refused=refused)
    if lease_end is None:
        return render_item(view), 404
    lease_end = replace(lease_end, has_late_answer=error.answer_kept)
    return render_item(replace(view, item=error.item, lease_end=lease_end)), 409


SECONDS = 10

Act: TypeAlias = Literal["finish", "finish late", "later", "never", "fail", "fail for good"]


@dataclass(frozen=True, slots=True)
class UndoableAct:
    """The act that the cookie names."""

    queue: str
    id: str
    token: int
    act: Act
    seconds: float  # left for undoing


def remember_act(queue: str, id: str, token: int, act: Act) -> None:
    parts = (person().name, queue, id, str(token), act, str(time.time()))
    g.undo_cookie, g.last_act = (
        "/".join(quote(part, safe="") for part in parts),
        UndoableAct(queue, id, token, act, SECONDS),
    )
    after_this_request(_set_cookie)


def forget_act() -> None:
    """Delete the cookie, because an undo would no longer undo the last act."""
    if _cookie_name() in request.cookies:
        g.undo_cookie, g.last_act = "", None
        after_this_request(_set_cookie)


@bp.app_template_global()
def last_act() -> UndoableAct | None:
    """The last act, if it can still be undone."""
    if "last_act" in g:
        return cast("UndoableAct | None", g.last_act)
    cookie = request.cookies.get(_cookie_name(), "")
    try:
        name, queue, id, token, act, at = map(unquote, cookie.split("/"))
        undoable_act = UndoableAct(queue, id, int(token), cast("Act", act), float(at) + SECONDS - time.time())
    except ValueError:
        return None  # no cookie, or a forged one
    is_own = g.get("person") is not None and person().name == name and act in get_args(Act)
    return undoable_act if is_own and 0 < undoable_act.seconds <= SECONDS else None


def _set_cookie(response: FlaskResponse) -> FlaskResponse:
    secure, seconds = state().settings.secure_cookies, SECONDS if g.undo_cookie else 0
    response.set_cookie(
        _cookie_name(), g.undo_cookie, max_age=seconds, secure=secure, httponly=True, samesite="Lax"
    )
    return response


def _cookie_name() -> str:
    return f"{current_app.config['SESSION_COOKIE_NAME']}-saved"


def figures_of_today(name: str) -> Command:
    return state().activity.today_command(name, (request.view_args or {})["q"])


@bp.post("/q/<q>/items/<item:id>/finish")
@needs("worker", reads=figures_of_today)
def finish(q: str, id: str) -> Page:
    queue, token, then_reserve = lease_queue(q), read_token(), request.form.get("then") == "next"
    today = _today_before(q)
    try:
        if MORE_ROWS in request.form:
            save_draft(queue, id, token)
            return show_errors(queue, id, token, {})[0]
        if UPLOAD in request.form:
            form, errors = with_sent_files(queue, id, token)
            save_draft(queue, id, token, form=form)
            page, status = show_errors(queue, id, token, errors, form)
            return (page, status) if errors else page
        outcome, figures = send_answer(
            queue,
            id,
            lambda result, form: leases.finish(
                queue,
                id,
                token,
                result,
                then_reserve=then_reserve,
                request_id=f"page-{token}",  # so that a repeated request gets the same next item
                expected_form=form,
                active_ms=_active_ms(),
            ),
        )
    except (LeaseLost, ItemNotFound) as error:
        return show_outcome(queue, id, token, error, refused=True)
    except Invalid as error:
        return show_errors(queue, id, token, reasons_by_field(error))
    if not outcome.replayed:
        today += figures
    if request.form.get("asked"):  # the program that asked has the answer
        forget_act()
        flash(_("Your answer was sent."))
    else:
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


def _today_before(q: str) -> DayFigures:
    """The person's figures of today, without what this request adds."""
    return state().activity.today_from(extra_reply(), person().name, q)


def _is_new(outcome: leaseq.Finished, next: leaseq.Lease) -> bool:
    """Whether the next lease is a new grant, not one that the person already held."""
    return next.reserved_at == outcome.finished_at and not outcome.replayed


@bp.post("/q/<q>/items/<item:id>/undo")
@needs("worker")
def undo(q: str, id: str) -> Page:
    """Undo a finish, abandon or fail: show the item again, with the input. The person's other leases stay."""
    queue, token = existing_queue(q), read_token()
    box = _BOXES.get(request.form.get("act", ""))
    forget_act()
    try:
        lease = leases.undo(queue, id, token, request_id=f"undo-{token}")
    except Invalid as error:
        if error.rule == "undo_told":
            return _refuse_undo(q, _("That can't be undone: the program that asked has your answer."))
        if box:
            return _refuse_undo(q, _("It was too late to undo that."))
        return _refuse_undo(q, _("It was too late to undo that: your answer counts."))
    except (LeaseLost, ItemNotFound):
        return _refuse_undo(q, _("That can no longer be undone: the item has changed since."))
    if box is None:
        flash(_("Undone. Your answer is open again."))
        return show_lease(queue, lease)
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


@bp.post("/q/<q>/items/<item:id>/abandon")
@needs("worker", reads=figures_of_today)
def abandon(q: str, id: str) -> Page:
    """Give the item back. The input is saved as a draft, in case the person gets the item again."""
    queue, token, today = existing_queue(q), read_token(), _today_before(q)
    again = request.form.get("again") != "no"
    reason = _first_text("note", "reason") if again else _first_text("reason", "note")
    try:
        save_draft(queue, id, token)
        result, figures = leases.abandon(
            queue,
            id,
            token,
            reason=reason,
            again=again,
            then_reserve=_wants_next(),
            request_id=f"page-{token}",
            active_ms=_active_ms(),
        )
    except (LeaseLost, ItemNotFound) as error:
        return show_outcome(queue, id, token, error)
    return _next_page(queue, id, token, "later" if again else "never", result.next, today + figures)


@bp.post("/q/<q>/items/<item:id>/fail")
@needs("worker", reads=figures_of_today)
def fail(q: str, id: str) -> Page:
    """Report a problem with the item."""
    queue, token, today, message = existing_queue(q), read_token(), _today_before(q), _first_text("error")
    if message is None:
        return show_errors(queue, id, token, {"error": _("Describe the problem.")})
    try:
        save_draft(queue, id, token)
        result, figures = leases.fail(
            queue,
            id,
            token,
            message,
            then_reserve=_wants_next(),
            request_id=f"page-{token}",
            active_ms=_active_ms(),
        )
    except (LeaseLost, ItemNotFound) as error:
        return show_outcome(queue, id, token, error)
    act: Act = "fail" if result.retry_at else "fail for good"
    # The item's other assignments died with it, so this can't be undone.
    is_final = act == "fail for good" and queue.policy.answers > 1
    return _next_page(queue, id, token, act, result.next, today + figures, is_final=is_final)


def _wants_next() -> bool:
    """Whether the next item is wanted: not if the page's script resends an earlier post."""
    return request.form.get("then") != "stop"


def _next_page(
    queue: leaseq.Queue,
    id: str,
    token: int,
    act: Act,
    next_lease: leaseq.Lease | None,
    today: DayFigures,
    *,
    is_final: bool = False,
) -> Page:
    """The next item, or the page without one, with an undo of the act unless it ``is_final``."""
    if next_lease is not None and next_lease.id == id:
        forget_act()
        flash(_("Nothing else waits for you: here it is again."))
    elif is_final:
        forget_act()
        flash(_("Reported. Your manager sees it."))
    else:
        remember_act(queue.name, id, token, act)
    if next_lease is not None and wants_fragment():
        return show_lease(queue, next_lease, today)
    return redirect_to_queue(queue.name)


def _first_text(*fields: str) -> str | None:
    """The first non-empty text of these fields: the page has two boxes, but the call accepts one text."""
    texts = (request.form.get(name, "").strip() for name in fields)
    return next((text for text in texts if text), None)
