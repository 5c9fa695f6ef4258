"""The page of an item: its answers, what a manager can do with it, its content, thread and history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal
from urllib.parse import urlencode

from flask import flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

import leaseq
from leaseq import Answer, Invalid, Json
from leaseq.form import prefilled
from leaseq.webapp.context import existing_queue, form_of, state
from leaseq.webapp.forms.changes import gone_in_draft
from leaseq.webapp.forms.choices import json_text
from leaseq.webapp.forms.fields import fields_of, titles_of
from leaseq.webapp.forms.inputs import MORE_ROWS, UPLOAD
from leaseq.webapp.forms.parsing import errors_at, inputs_of
from leaseq.webapp.manage.blueprint import bp, queue_page
from leaseq.webapp.manage.item_forms import ChangeForm, changed_form, names_of
from leaseq.webapp.manage.item_forms import read_change as read_form
from leaseq.webapp.manage.item_history import nth_try, timeline_of
from leaseq.webapp.manage.items import SCAN_LIMIT
from leaseq.webapp.manage.reports import adoption_effect
from leaseq.webapp.refusals import in_words, reason_of, reasons_by_field
from leaseq.webapp.rendering.filters import unused_answers
from leaseq.webapp.rendering.payload import parts_of
from leaseq.webapp.search.criteria import ANY, Search, list_names, search_of
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.services import items, queues
from leaseq.webapp.services.bulk import seconds_until
from leaseq.webapp.serving.bodies import whole_number
from leaseq.webapp.serving.time_slices import in_slices
from leaseq.webapp.site_time import read_future_moment
from leaseq.webapp.store.threads import new_message_id
from leaseq.webapp.work.endings import asked_form, read_token, send_answer
from leaseq.webapp.work.files import with_sent_files
from leaseq.webapp.work.view import Input, form_view_of


@dataclass(frozen=True, slots=True)
class Row:
    """One field of the answers, side by side."""

    name: str
    title: str  # from the form, else the name
    values: tuple[Json, ...]  # by answer, with the labels of choices
    present: tuple[bool, ...]  # whether each answer has the field
    changed: tuple[bool, ...]  # whether each answer differs from the suggestion
    suggestion: Json  # from the payload, with the labels of choices; None if there is none
    differs: bool


def side_by_side(answers: tuple[Answer, ...], form: Json, payload: Json) -> list[Row]:
    """The fields of the answers, with differences marked."""
    titles, suggestions = titles_of(form), prefilled(form, payload)
    results = [
        answer.result if isinstance(answer.result, dict) else {"": answer.result} for answer in answers
    ]
    labels = {
        field.name: {json_text(choice.value): choice.label for choice in field.choices}
        for field in fields_of(form)
    }
    rows = []
    names = dict.fromkeys(name for result in in_slices(results) for name in result)
    for name in in_slices(names):
        presence = tuple(name in result for result in results)
        values = tuple(result.get(name) for result in results)
        is_same = all(presence) and all(
            type(value) is type(values[0]) and value == values[0] for value in values
        )
        shown_values = tuple(_with_labels(value, name, labels) for value in values)
        suggestion = _with_labels(suggestions.get(name), name, labels)
        changed = tuple(name in answer.changed for answer in answers)
        title = titles.get(name, name)
        rows.append(Row(name, title, shown_values, presence, changed, suggestion, differs=not is_same))
    return rows


def _with_labels(value: Json, name: str, labels: Mapping[str, Mapping[str, str]]) -> Json:
    """The value of a field, with the form's labels in place of chosen values."""
    if isinstance(value, dict):
        return {key: _with_labels(inner, f"{name}.{key}", labels) for key, inner in value.items()}
    by_value = labels.get(name)
    if not by_value:
        return value
    if isinstance(value, list):
        return [by_value.get(json_text(element), element) for element in in_slices(value)]
    return by_value.get(json_text(value), value)


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
    form = form_of(queue, work_item)
    search = _search(queue, work_item)
    is_waiting = work_item.state in ("inbound", "scheduled") or (
        work_item.state == "reserved" and work_item.answers_needed > 1
    )
    can_change = is_waiting or work_item.state == "dead"
    answers = (*work_item.answers, *work_item.late_answers)
    history = queue.history(id)
    return render_template(
        "manage/item.html",
        queue=queue,
        policy=policy,
        item=work_item,
        parts=parts_of(form, work_item.payload),
        thread=state().threads.of_item(queue.name, id),
        is_unanswered=state().threads.is_unanswered(queue.name, id),
        message_id=new_message_id(),
        people=[account.name for account in queues.people_of(queue.name) if not account.disabled]
        if is_waiting or work_item.answers
        else (),
        unused_tokens=[answer.token for answer in unused_answers(work_item)],
        is_waiting=is_waiting,
        change_form_values=change or (changed_form(work_item) if can_change else None),
        priorities=_priorities(policy.bands),
        answers=answers,
        rows=side_by_side(answers, form, work_item.payload),
        titles=titles_of(form),
        adoption_effect=adoption_effect(work_item),
        timeline=timeline_of(work_item, history),
        latest_try=nth_try(work_item.attempts),
        is_history_complete=history.whole,
        list_name=list_names()[search.state],
        back=url_for("manage.items", q=queue.name, **search.args()),
        search_args=search_args(),
        list_query=urlencode(search.args()),
        neighbours=_neighbours(queue, search, work_item),
        error=error,
        thread_error=thread_error,
    )


def _search(queue: leaseq.Queue, item: leaseq.Item) -> Search:
    """The search that the page was opened from, else the list of the item's state."""
    arguments = request.args if "state" in request.args else {"state": item.state}
    return search_of(arguments, queue.policy.form)


def search_args() -> dict[str, Any]:
    """The page's search, as arguments for the URLs of its actions."""
    if "state" not in request.args:
        return {}
    return {**search_of(request.args).args(), "at": request.args.get("at")}


def _neighbours(queue: leaseq.Queue, search: Search, item: leaseq.Item) -> dict[str, str | None]:
    """The URLs of the previous and next items in the search."""
    at = request.args.get("at") or (search.cursor_of(item) if search.state in (ANY, item.state) else None)
    if not at:
        return {}
    links: dict[str, str | None] = {}
    for direction, backwards in (("previous", True), ("next", False)):
        page = search.page(queue, limit=1, look=SCAN_LIMIT, after=at, reverse=backwards)
        links[direction] = address(queue, search, page.items[0]) if page.items else None
    return links


_DEFAULT_PRIORITY = 100  # of an item that is added without one


def _priorities(bands: tuple[int, int]) -> list[tuple[str, int]]:
    """A priority of each group of waiting items, with where it puts an item."""
    high, normal = bands
    return [
        (_("Ahead of the others"), high),
        (_("In turn"), _DEFAULT_PRIORITY if high < _DEFAULT_PRIORITY <= normal else normal),
        (_("After the others"), normal + 1),
    ]


def address(queue: leaseq.Queue, search: Search, item: leaseq.Item) -> str:
    """The URL of an item's page within a search."""
    return url_for("manage.item", q=queue.name, id=item.id, **search.args(), at=search.cursor_of(item))


@bp.post("/manage/<q>/items/<item:id>/assign")
@needs("manager")
def assign(q: str, id: str) -> Response | tuple[str, int]:
    """Assign the item to one person."""
    queue = existing_queue(q)
    try:
        assignee = queues.worker_name(q, request.form.get("person", "").strip())
        items.assign(queue, id, assignee)
    except Invalid as error:
        return show_item(queue, id, error=_("Not assigned: %(why)s.", why=in_words(error))), 400
    flash(_("Only %(whom)s gets it now, until they give it back.", whom=assignee))
    return redirect_to_item(q, id)


@bp.post("/manage/<q>/items/<item:id>/unassign")
@needs("manager")
def unassign(q: str, id: str) -> Response:
    """Let anybody have the item again."""
    items.unassign(existing_queue(q), id)
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
        requires = changes.get("requires", ())
        unmet = queues.unmet_skills(q, requires) if "confirmed" not in request.form else ()
        if unmet:
            return show_item(queue, id, change=replace(form, unmet=unmet))
        if changes:
            items.change(queue, id, **changes)
    except Invalid as error:
        return show_item(queue, id, change=replace(form, field_error=error)), 400
    if changes:
        flash(_("Changed: %(what)s.", what=names_of(changes)))
    if "revive" in (request.form.get("then"), request.form.get("confirmed")):
        _hand_out_again(queue, id)
    elif not changes:
        flash(_("Nothing was changed."))
    return redirect_to_item(q, id)


@bp.post("/manage/<q>/items/<item:id>/put-off")
@needs("manager")
def put_off(q: str, id: str) -> Response | tuple[str, int]:
    """Give the item to nobody for a while, or until a time. If refused, the page shows the input again."""
    queue = existing_queue(q)
    try:
        items.change(queue, id, delay=_delay())
    except Invalid as error:
        return show_item(queue, id, error=_("Not put off: %(why)s.", why=in_words(error))), 400
    flash(_("It is put off."))
    return redirect_to_item(q, id)


def _delay() -> float:
    """The submitted delay in seconds. Raises Invalid for a time that can't be read or is past."""
    if "seconds" in request.form:
        return whole_number(request.form["seconds"]) or 0
    return seconds_until(read_future_moment(request.form.get("until", "").strip(), "until"))


def _hand_out_again(queue: leaseq.Queue, id: str) -> None:
    """Revive the item. The same request's changes stay even if somebody else has already revived it."""
    try:
        items.revive(queue, id)
    except Invalid as error:
        flash(_("Not handed out: %(why)s.", why=in_words(error)))
        return
    flash(_("It is waiting again, with all its attempts."))


@bp.post("/manage/<q>/items/<item:id>/revive")
@needs("manager")
def revive(q: str, id: str) -> Response | tuple[str, int]:
    """Hand the item out again: a failed item with all its attempts, a scheduled item now."""
    queue = existing_queue(q)
    try:
        item = items.make_available(queue, id)
    except Invalid as error:
        return show_item(queue, id, error=_("Not handed out: %(why)s.", why=in_words(error))), 400
    flash(
        _("It is waiting again, now and not later.")
        if item.state == "scheduled"
        else _("It is waiting again, with all its attempts.")
    )
    return return_redirect(q) or redirect_to_item(q, id)


@bp.post("/manage/<q>/items/<item:id>/cancel")
@needs("manager")
def cancel(q: str, id: str) -> Response | tuple[str, int]:
    """End an item that nobody needs any more. If refused, the page shows the input again."""
    queue = existing_queue(q)
    try:
        items.cancel(queue, id, request.form.get("reason", "").strip() or None)
    except Invalid as error:
        return show_item(queue, id, error=_("Not cancelled: %(why)s.", why=in_words(error))), 400
    flash(_("The item is cancelled. Whoever had it is told."))
    return redirect_to_item(q, id)


@bp.post("/manage/<q>/items/<item:id>/release")
@needs("manager")
def release(q: str, id: str) -> Response:
    items.release(existing_queue(q), id)
    flash(_("The item is released and is waiting for somebody else."))
    return return_redirect(q) or redirect_to_item(q, id)


@bp.post("/manage/<q>/items/<item:id>/adopt")
@needs("manager")
def adopt(q: str, id: str) -> Response:
    items.adopt(existing_queue(q), id, read_token())
    flash(_("The late answer is accepted. If it replaced an answer, that one is now a late answer."))
    return redirect_to_item(q, id)


@bp.post("/manage/<q>/items/<item:id>/reopen")
@needs("manager")
def reopen(q: str, id: str) -> Response | tuple[str, int]:
    """Let a finished item wait again, for anybody or for one person. If refused, the page shows the input
    again."""
    queue, name = existing_queue(q), request.form.get("to", "").strip()
    try:
        reason = request.form.get("reason", "").strip() or None
        items.reopen(queue, id, read_token(), to=name or None, reason=reason)
    except Invalid as error:
        return show_item(queue, id, error=_("Not reopened: %(why)s.", why=in_words(error))), 400
    flash(_("It is waiting again. The answer is kept with the item."))
    return redirect_to_item(q, id)


@bp.get("/manage/<q>/items/<item:id>/correct")
@needs("manager")
def correction(q: str, id: str) -> str | tuple[str, int]:
    """The form, filled with the answer to correct."""
    queue, token = existing_queue(q), read_token()
    item = queue.get(id)
    answer = next((answer for answer in item.answers if answer.token == token), None)
    if answer is None:
        return show_item(queue, id, error=_("This answer was replaced in the meantime.")), 409
    fields = fields_of(form_of(queue, item))
    input = Input(inputs_of(fields, answer.result), gone_in_draft(fields, answer.result))
    return _correction(queue, item, token, input, {})


@bp.post("/manage/<q>/items/<item:id>/correct")
@needs("manager")
def correct(q: str, id: str) -> Response | str | tuple[str, int]:
    """Replace an answer by the manager's. If refused, the page shows the input again."""
    queue, token = existing_queue(q), read_token()
    if MORE_ROWS in request.form:
        input = form_view_of(asked_form(queue, id)).submitted_input(request.form)
        return _correction(queue, queue.get(id), token, input, {})
    if UPLOAD in request.form:
        form, errors = with_sent_files(queue, id, token)
        input = form_view_of(asked_form(queue, id)).submitted_input(form)
        return _correction(queue, queue.get(id), token, input, errors)
    try:
        send_answer(
            queue,
            id,
            lambda result, form: items.correct(queue, id, token, result, expected_form=form),
        )
    except Invalid as error:
        input = form_view_of(asked_form(queue, id)).submitted_input(request.form)
        errors = reasons_by_field(error)
        return _correction(queue, queue.get(id), token, input, errors), 422
    flash(_("The answer is corrected. The earlier one is kept with the item."))
    return redirect_to_item(q, id)


def _correction(
    queue: leaseq.Queue, item: leaseq.Item, token: int, input: Input, errors: Mapping[str, str]
) -> str:
    form = form_of(queue, item)
    form_view = form_view_of(form)
    errors_by_field = errors_at(form_view.fields, errors)
    return queue_page(
        "manage/correct.html",
        queue,
        item=item,
        token=token,
        answer=next((answer for answer in item.answers if answer.token == token), None),
        parts=parts_of(form, item.payload),
        fields_html=form_view.fields_html(input, errors_by_field),
        fields_by_name=form_view.by_name,
        asks_files=form_view.asks_files,
        errors=errors_by_field,
        back=url_for("manage.item", q=queue.name, id=item.id, **search_args()),
        search_args=search_args(),
    )


@bp.post("/manage/<q>/items/<item:id>/remove")
@needs("manager")
def remove(q: str, id: str) -> Response:
    """Remove the item; with the field ``unless``, only while nobody has finished it, as the page showed."""
    unless: Literal["finished"] | None = "finished" if request.form.get("unless") == "finished" else None
    try:
        items.remove(existing_queue(q), id, unless=unless)
    except leaseq.ItemFinished:
        flash(_("Somebody has answered the item in the meantime, so it is kept."))
        return redirect_to_item(q, id)
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


@bp.post("/manage/<q>/items/<item:id>/answer")
@needs("manager")
def answer(q: str, id: str) -> Response | tuple[str, int]:
    """Write to the person who has the item, and to those who get it next. If refused, the page shows the
    input again."""
    queue = existing_queue(q)
    text, message = request.form.get("text", ""), request.form.get("message", "")[:80]
    try:
        items.answer(queue, id, text, message=message)
    except Invalid as error:
        return show_item(queue, id, thread_error=_("Not sent: %(why)s.", why=reason_of(error))), 400
    flash(_("Your message is sent."))
    return redirect_to_item(q, id, "thread")


@bp.post("/manage/<q>/items/<item:id>/settle")
@needs("manager")
def settle(q: str, id: str) -> Response:
    """Remove the item's question from the list of questions that need an answer."""
    items.settle(existing_queue(q), id)
    return return_redirect(q) or redirect_to_item(q, id, "thread")
