"""The page of one item: its timeline, its answers, and the manager's actions."""

from __future__ import annotations

from typing import Any, Literal

from flask import flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

import leaseq
from leaseq import Invalid
from leaseq.webapp.context import accounts, existing_queue, person, state
from leaseq.webapp.forms import titles_of
from leaseq.webapp.manage import bp
from leaseq.webapp.manage.change import ChangeForm, form_of, names_of, read_form
from leaseq.webapp.manage.items import SCAN_LIMIT
from leaseq.webapp.manage.late import adoption_effect
from leaseq.webapp.manage.timeline import side_by_side, timeline_of
from leaseq.webapp.rendering.payload import parts_of
from leaseq.webapp.rendering.refusals import in_words
from leaseq.webapp.search.criteria import Search, list_names, search_of
from leaseq.webapp.security.audit_log import detail_changes, log_change, skip_log
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.security.queue_access import people_of, unmet_skills, worker_name
from leaseq.webapp.serving.numbers import whole_number
from leaseq.webapp.store.threads import new_message_id


@bp.get("/manage/<q>/items/<item:id>")
@needs("manager")
def item(q: str, id: str) -> str:
    return show_item(existing_queue(q), id)


def show_item(
    queue: leaseq.Queue,
    id: str,
    *,
    error: str | None = None,
    thread_error: str | None = None,
    change: ChangeForm | None = None,
) -> str:
    work_item, policy = queue.get(id), queue.policy
    search = search_of(request.args, queue.policy.form) if "state" in request.args else None
    is_waiting = work_item.state in ("inbound", "scheduled") or (
        work_item.state == "reserved" and work_item.answers_needed > 1
    )
    can_change = is_waiting or work_item.state == "dead"
    answers = (*work_item.answers, *work_item.late_answers)
    history, titles = queue.history(id), titles_of(policy.form)
    return render_template(
        "manage/item.html",
        queue=queue,
        policy=policy,
        item=work_item,
        parts=parts_of(policy.form, work_item.payload),
        thread=state().threads.of_item(queue.name, id),
        is_unanswered=state().threads.is_unanswered(queue.name, id),
        message_id=new_message_id(),
        people=[account.name for account in people_of(queue.name) if not account.disabled]
        if is_waiting or work_item.answers
        else (),
        replaced_tokens={
            grant.token for grant in work_item.history if grant.how in ("reopened", "corrected")
        },
        is_waiting=is_waiting,
        change_form_values=change or (form_of(work_item) if can_change else None),
        answers=answers,
        rows=side_by_side(answers, titles),
        titles=titles,
        adoption_effect=adoption_effect(work_item),
        timeline=timeline_of(work_item, history),
        is_history_complete=history.whole,
        list_name=search and list_names()[search.state],
        back=url_for("manage.items", q=queue.name, **search.args()) if search else None,
        search_args=search_args(),
        neighbours=_neighbours(queue, search),
        error=error,
        thread_error=thread_error,
    )


def search_args() -> dict[str, Any]:
    """The page's search, as arguments for the URLs of its actions."""
    if "state" not in request.args:
        return {}
    return {**search_of(request.args).args(), "at": request.args.get("at")}


def _neighbours(queue: leaseq.Queue, search: Search | None) -> dict[str, str | None]:
    """The URLs of the previous and next items in the search."""
    at = request.args.get("at")
    if search is None or not at:
        return {}
    links: dict[str, str | None] = {}
    for direction, backwards in (("previous", True), ("next", False)):
        page = search.page(queue, limit=1, look=SCAN_LIMIT, after=at, reverse=backwards)
        links[direction] = address(queue, search, page.items[0]) if page.items else None
    return links


def address(queue: leaseq.Queue, search: Search, item: leaseq.Item) -> str:
    """The URL of an item's page within a search."""
    return url_for("manage.item", q=queue.name, id=item.id, **search.args(), at=search.cursor_of(item))


@bp.post("/manage/<q>/items/<item:id>/assign")
@needs("manager")
def assign(q: str, id: str) -> Response | tuple[str, int]:
    """Assign the item to one person."""
    queue = existing_queue(q)
    try:
        assignee = worker_name(q, request.form.get("person", "").strip())
        queue.assign(id, assignee, by=person().name)
    except Invalid as error:
        return show_item(queue, id, error=_("Not assigned: %(why)s.", why=in_words(error))), 400
    flash(_("Only %(whom)s gets it now, until they give it back.", whom=assignee))
    return redirect_to_item(q, id)


@bp.post("/manage/<q>/items/<item:id>/unassign")
@needs("manager")
def unassign(q: str, id: str) -> Response:
    """Let anybody have the item again."""
    existing_queue(q).unassign(id, by=person().name)
    flash(_("Anybody can get it now."))
    return redirect_to_item(q, id)


@bp.post("/manage/<q>/items/<item:id>/change")
@needs("manager")
def change(q: str, id: str) -> Response | str | tuple[str, int]:
    """Change a waiting or failed item, and optionally hand out a failed one again. If refused, the page shows
    the input again; if nobody has its new skills, the page asks first."""
    queue, form = existing_queue(q), read_form(request.form)
    try:
        changes = form.changes()
        unmet = unmet_skills(q, changes.get("requires", ())) if "confirmed" not in request.form else ()
        if unmet:
            skip_log()
            return show_item(queue, id, change=form.asking(unmet))
        if changes:
            queue.change(id, by=person().name, **changes)
    except Invalid as error:
        return show_item(queue, id, change=form.with_error(error)), 400
    if changes:
        detail_changes(changes)
        flash(_("Changed: %(what)s.", what=names_of(changes)))
    else:
        skip_log()
    if "revive" in (request.form.get("then"), request.form.get("confirmed")):
        _hand_out_again(queue, id)
    elif not changes:
        flash(_("Nothing was changed."))
    return redirect_to_item(q, id)


def _hand_out_again(queue: leaseq.Queue, id: str) -> None:
    """Revive the item. The same request's changes stay even if somebody else has already revived it."""
    try:
        queue.revive(id, by=person().name)
    except Invalid as error:
        flash(_("Not handed out: %(why)s.", why=in_words(error)))
        return
    accounts().log.write(person().name, "item.revived", f"{queue.name} / {id}")
    flash(_("It is waiting again, with all its attempts."))


@bp.post("/manage/<q>/items/<item:id>/revive")
@needs("manager")
def revive(q: str, id: str) -> Response | tuple[str, int]:
    """Hand the item out again: a failed item with all its attempts, a scheduled item now."""
    queue = existing_queue(q)
    try:
        item = queue.revive(id, by=person().name)
        if item.state == "scheduled":
            queue.change(id, by=person().name, delay=0)
            log_change("item.changed", f"{q} / {id}", "delay: 0")
    except Invalid as error:
        return show_item(queue, id, error=_("Not handed out: %(why)s.", why=in_words(error))), 400
    flash(
        _("It is waiting again, now and not later.")
        if item.state == "scheduled"
        else _("It is waiting again, with all its attempts.")
    )
    return return_redirect(q) or redirect_to_item(q, id)


@bp.post("/manage/<q>/items/<item:id>/release")
@needs("manager")
def release(q: str, id: str) -> Response:
    existing_queue(q).release(id, by=person().name)
    flash(_("The item is released and is waiting for somebody else."))
    return return_redirect(q) or redirect_to_item(q, id)


@bp.post("/manage/<q>/items/<item:id>/adopt")
@needs("manager")
def adopt(q: str, id: str) -> Response:
    token = whole_number(request.form.get("token"))
    if token is None:
        raise Invalid("token", "the token of a late answer")
    existing_queue(q).adopt(id, token, by=person().name)
    flash(_("The late answer is accepted. If it replaced an answer, that one is now a late answer."))
    return redirect_to_item(q, id)


@bp.post("/manage/<q>/items/<item:id>/remove")
@needs("manager")
def remove(q: str, id: str) -> Response:
    """Remove the item; with the field ``unless``, only while nobody has finished it, as the page showed."""
    unless: Literal["finished"] | None = "finished" if request.form.get("unless") == "finished" else None
    try:
        existing_queue(q).remove(id, unless=unless, by=person().name)
    except leaseq.ItemFinished:
        flash(_("Somebody has answered the item in the meantime, so it is kept."))
        return redirect_to_item(q, id)
    state().threads.forget(q, id)
    flash(_("The item %(id)s is removed.", id=id))
    if "state" in request.args:
        return redirect(url_for("manage.items", q=q, **search_of(request.args).args()), 303)
    return return_redirect(q) or redirect(url_for("manage.one_queue", q=q), 303)


def return_redirect(q: str) -> Response | None:
    """A redirect to the page with the form, if that was not the item's page."""
    back = request.form.get("back")
    if not back:
        return None
    page = "manage.reports" if back == "reports" else "manage.one_queue"
    return redirect(url_for(page, q=q), 303)


def redirect_to_item(q: str, id: str, anchor: str | None = None) -> Response:
    return redirect(url_for("manage.item", q=q, id=id, _anchor=anchor, **search_args()), 303)
