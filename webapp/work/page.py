"""The work page: the item that a person holds and its thread, or why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import reduce

from babel.lists import format_list
from flask import flash, redirect, render_template, request, url_for
from flask_babel import get_locale
from flask_babel import gettext as _
from flask_wtf.csrf import generate_csrf
from werkzeug.wrappers import Response

import leaseq
from leaseq import Invalid, ItemNotFound, LeaseLost, QueueNotFound
from leaseq.webapp.context import existing_queue, form_of, lease_queue, person, state, wants_fragment
from leaseq.webapp.refusals import in_words, reason_of
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.services import leases
from leaseq.webapp.store.threads import Message
from leaseq.webapp.work.blueprint import bp
from leaseq.webapp.work.endings import (
    Page,
    read_token,
    redirect_to_queue,
    save_draft,
    show_errors,
    show_lease,
    show_outcome,
)
from leaseq.webapp.work.home import waiting_elsewhere
from leaseq.webapp.work.view import (
    NO_ITEM,
    ItemView,
    form_view_of,
    item_url,
    lease_end_of,
    render_item,
    urls_of,
)

MAX_NAMED = 3


@bp.get("/q/<q>/why-nothing")
@needs("worker")
def why_nothing(q: str) -> str:
    """The reason why there is no item, as a fragment that the page's script reloads."""
    queue = existing_queue(q)
    return render_template("work/why_nothing.html", **_context(queue))


def _context(queue: leaseq.Queue) -> dict[str, object]:
    caller = person()
    explanation = queue.why_nothing(caller.name, caller.skills)
    ineligibility = explanation.ineligibility
    only_passed = (
        ineligibility is not None
        and bool(ineligibility.passed)
        and not ineligibility.lacking
        and not ineligibility.assigned
    )
    ineligibility_text = describe_ineligibility(explanation)
    today = state().activity.today(caller.name, queue.name)
    return {
        "explanation": explanation,
        "stats": queue.stats(),
        "ineligibility_text": ineligibility_text,
        "only_passed": only_passed,
        "today": today.finished,
        "other_lines": waiting_elsewhere(queue.name) if explanation.reason else [],
    }


def describe_ineligibility(explanation: leaseq.WhyNothing) -> str:
    """The reason why what waits is not for them: the end of a sentence that begins with *What waits*."""
    if explanation.ineligibility is None:
        return ""
    skill_lists = [
        format_list(skills, locale=get_locale()) for skills in explanation.ineligibility.lacking[:MAX_NAMED]
    ]
    reasons = [_("needs %(skills)s", skills=_join_or(skill_lists))] if skill_lists else []
    if explanation.ineligibility.assigned:
        reasons.append(_("is assigned to somebody else"))
    if explanation.ineligibility.passed:
        reasons.append(_("is one that you have answered or passed on"))
    return _join_or(reasons)


def _join_or(texts: list[str]) -> str:
    return reduce(lambda this, that: _("%(this)s, or %(that)s", this=this, that=that), texts) if texts else ""


@bp.get("/q/<q>")
@needs("worker")
def page(q: str) -> str:
    queue, caller = existing_queue(q), person()
    held = queue.mine(caller.name)
    item_id = request.args.get("item")
    lease = next((lease for lease in held if lease.id == item_id), next(iter(held), None))
    if lease is None:
        return render_template("work/nothing.html", queue=queue, policy=queue.policy, **_context(queue))
    form = form_of(queue, lease)
    input = form_view_of(form).initial_input(lease, form)
    return render_item(ItemView(queue, queue.policy, lease.id, lease.token, input, lease=lease, leases=held))


@bp.post("/q/<q>/reserve")
@needs("worker")
def reserve(q: str) -> Response:
    leases.reserve(existing_queue(q))
    return redirect_to_queue(q)


@bp.post("/q/<q>/items/<item:id>/renew")
@needs("worker")
def renew(q: str, id: str) -> Page:
    """Renew the lease, or take an expired item back. The input is saved as the draft."""
    queue, token = existing_queue(q), read_token()
    try:
        save_draft(queue, id, token)
        lease = leases.renew(queue, id, token)
    except (LeaseLost, ItemNotFound) as error:
        return show_outcome(queue, id, token, error, refused=True)
    except Invalid as error:
        message = in_words(error)
        if error.field == "renewals":
            message = _("Your manager doesn't allow more time for this item. Finish it, or give it back.")
        return show_errors(queue, id, token, {"renew": message})
    if request.form.get("back") == "yes":
        flash(_("You have the item again. What you typed is still here."))
    return show_lease(queue, lease, box_texts=request.form)


@bp.post("/q/<q>/items/<item:id>/draft")
@needs("worker")
def draft(q: str, id: str) -> Response:
    """Save the input so far as a draft, which the page's script sends during typing."""
    save_draft(lease_queue(q), id, read_token(), even_empty=True)
    return Response(status=204)


@bp.get("/work/session")
@needs("worker")
def session_now() -> dict[str, str]:
    """The signed-in person and a fresh CSRF token, for a page whose own has expired."""
    return {"person": person().name, "csrf": generate_csrf()}


@bp.get("/q/<q>/items/<item:id>/outcome")
@needs("worker")
def lease_outcome(q: str, id: str) -> str | tuple[str, int]:
    """The outcome of an ended lease, as a fragment for the page's script. For an item that was never theirs,
    the reply is the same as for a missing one."""
    try:
        queue, name, token = existing_queue(q), person().name, read_token()
    except QueueNotFound as error:
        if not error.deleted:
            raise
        return render_template("work/queue_gone.html"), 404
    lease_end, form = None, queue.policy.form
    with suppress(ItemNotFound):
        item = queue.get(id)
        form = form_of(queue, item)
        lease_end = lease_end_of(item, token, name, queue.mine(name), queue.policy)
    fragment = render_template(
        "work/lease_outcome.html",
        queue=queue,
        urls=urls_of(item_url(q, id)),
        lease_end=lease_end or NO_ITEM,
        offers_next=lease_end is not None and not lease_end.is_needed,
        keys=form_view_of(form).keys,
    )
    return fragment if lease_end else (fragment, 404)


@bp.post("/q/<q>/items/<item:id>/ask")
@needs("worker")
def ask(q: str, id: str) -> Page:
    """Ask the managers about an item. The person keeps the lease."""
    queue, name, token = existing_queue(q), person().name, read_token()
    try:
        save_draft(queue, id, token)
    except (LeaseLost, ItemNotFound) as error:
        return show_outcome(queue, id, token, error)
    if all((lease.id, lease.token) != (id, token) for lease in queue.mine(name)):
        return show_errors(queue, id, token, {"question": _("Not sent: you no longer have the item.")})
    text = request.form.get("question", "")
    if not text.strip():
        return show_errors(queue, id, token, {"question": _("Type your question.")})
    try:
        state().threads.ask(q, id, name, text, message=f"{token}-{request.form.get('message', '')}"[:80])
    except Invalid as error:
        return show_errors(queue, id, token, {"question": reason_of(error)})
    if wants_fragment():
        return thread_html(state().threads.of_item(q, id))
    flash(_("Your question is sent. The answer appears with the item."))
    return redirect(url_for("work.page", q=q, item=id), 303)


@bp.get("/q/<q>/items/<item:id>/thread")
@needs("worker")
def thread(q: str, id: str) -> str | Response:
    """The thread, as a fragment, for people who have the item now."""
    queue = existing_queue(q)
    if all(lease.id != id for lease in queue.mine(person().name)):
        raise ItemNotFound(q, id)
    return thread_html(state().threads.of_item(q, id))


def thread_html(messages: Sequence[Message]) -> str:
    return render_template("work/thread.html", messages=messages)
