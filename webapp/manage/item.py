"""The page of an item: its history, its answers, its thread."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Any, Literal

from flask import flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from flask_babel import ngettext
from werkzeug.wrappers import Response

import leaseq
from leaseq import Answer, Event, Grant, Invalid, Json
from leaseq.webapp.context import existing_queue, state
from leaseq.webapp.forms.fields import titles_of
from leaseq.webapp.manage.blueprint import bp
from leaseq.webapp.manage.item_forms import ChangeForm, names_of
from leaseq.webapp.manage.item_forms import changed_form as form_of
from leaseq.webapp.manage.item_forms import read_change as read_form
from leaseq.webapp.manage.items import SCAN_LIMIT
from leaseq.webapp.manage.reports import adoption_effect
from leaseq.webapp.refusals import in_words, reason_of
from leaseq.webapp.rendering.filters import span
from leaseq.webapp.rendering.payload import parts_of
from leaseq.webapp.search.criteria import Search, list_names, search_of
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.services import items, queues
from leaseq.webapp.store.threads import new_message_id
from leaseq.webapp.work.endings import read_token


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """An event of an item's timeline."""

    at: datetime
    what: str
    comment: str | None = None  # written by the person
    seconds: float | None = None  # seconds since the grant
    notes: tuple[str, ...] = ()
    token: int | None = None  # of the lease that the event ended
    state: str = ""  # the resulting state, which sets the colour
    icon: str = "pencil"  # in static/shared/icons.svg
    gap: float | None = None  # seconds since the previous event


_STATES_AND_ICONS: dict[str, tuple[str, str]] = {
    "expired": ("inbound", "clock"),
    "abandoned": ("inbound", "return"),
    "failed": ("scheduled", "alert"),
    "released": ("inbound", "return"),
    "finished": ("finished", "check"),
    "undone": ("reserved", "return"),
    "reopened": ("inbound", "return"),
    "corrected": ("finished", "pencil"),
    "late": ("overdue", "clock"),
    "revived": ("inbound", "return"),
    "adopted": ("finished", "check"),
    "restored": ("inbound", "return"),
    "died": ("dead", "alert"),
    "due": ("inbound", "clock"),
    "assigned": ("inbound", "person"),
    "unassigned": ("inbound", "person"),
}
"""The resulting state and the icon, by how a lease ended or by a journal event's kind."""


def timeline_of(item: leaseq.Item, history: leaseq.History) -> list[TimelineEvent]:
    """The timeline, oldest first."""
    releases = {event.token: event.person for event in history.events if event.what == "released"}
    events = [TimelineEvent(item.enqueued_at, _("Added to the queue"), state="inbound", icon="plus")]
    for grant in item.history:
        events += _lease(grant, releases.get(grant.token))
    events += _from_journal(history)
    replaced_tokens = {grant.token for grant in item.history if grant.how in ("reopened", "corrected")}
    events += [
        TimelineEvent(
            late.finished_at,
            _("%(person)s finished it", person=late.person)
            if late.token in replaced_tokens
            else _("A late answer from %(person)s is kept", person=late.person),
            token=late.token,
            state="finished",
            icon="check",
        )
        for late in item.late_answers
        if not any(event.what == "late" and event.token == late.token for event in history.events)
    ]
    events.sort(key=lambda event: event.at)
    gaps = [None, *((later.at - earlier.at).total_seconds() for earlier, later in pairwise(events))]
    return [replace(event, gap=gap) for event, gap in zip(events, gaps, strict=True)]


def _lease(grant: Grant, released_by: str | None) -> Iterator[TimelineEvent]:
    notes = [_("attempt %(n)s", n=grant.attempt), _("token %(n)s", n=grant.token)]
    if grant.renewals:
        notes.append(ngettext("renewed once", "renewed %(num)s times", grant.renewals))
    yield TimelineEvent(
        grant.reserved_at,
        _("%(person)s got it", person=grant.person),
        notes=tuple(notes),
        state="reserved",
        icon="person",
    )
    if grant.ended_at:
        seconds = (grant.ended_at - grant.reserved_at).total_seconds()
        state, icon = _STATES_AND_ICONS[grant.how]
        text = _ending_text(grant, released_by)
        yield TimelineEvent(grant.ended_at, text, grant.reason, seconds, (), grant.token, state, icon)


def _ending_text(grant: Grant, released_by: str | None) -> str:
    person = grant.person
    by = released_by or _("a program")
    words: dict[str, str] = {
        "expired": _("The time of %(person)s ran out", person=person),
        "abandoned": _("%(person)s gave it back", person=person),
        "failed": _("%(person)s reported a problem", person=person),
        "released": _("%(by)s released it from %(person)s", by=by, person=person),
        "finished": _("%(person)s finished it", person=person),
        "undone": {
            "abandoned": _("%(person)s gave it back, and undid that", person=person),
            "failed": _("%(person)s reported a problem, and undid that", person=person),
        }.get(grant.undone or "", _("%(person)s finished it, and undid that", person=person)),
        "reopened": _("The answer from %(person)s was set aside", person=person),
        "corrected": _("The answer from %(person)s was corrected", person=person),
    }
    return words[grant.how]


def _from_journal(history: leaseq.History) -> Iterator[TimelineEvent]:
    """The events that are only in the journal."""
    for event in history.events:
        text = _event_text(event)
        if text:
            state, icon = _STATES_AND_ICONS.get(event.what, ("", "pencil"))
            yield TimelineEvent(event.at, text, state=state, icon=icon)


def _event_text(event: Event) -> str | None:
    by = event.person or _("a program")
    words: dict[str, str] = {
        "assigned": _("%(by)s assigned it to %(whom)s", by=by, whom=event.detail),
        "unassigned": _("%(by)s let anybody have it, not only %(whom)s", by=by, whom=event.detail),
        "changed": _("%(by)s changed it: %(what)s", by=by, what=_changes_text(event)),
        "closed": _("It needs no further answer: what was left of it is closed"),
        "late": _("A late answer from %(person)s was kept", person=by),
        "revived": _("%(by)s handed it out again", by=by),
        "reopened": _("%(by)s reopened it", by=by),
        "corrected": _("%(by)s corrected the answer", by=by),
        "adopted": _("%(by)s accepted a late answer", by=by),
        "restored": _("It was restored after the server had lost it"),
        "died": _("It failed permanently"),
        "due": _("Its time came, and it is waiting"),
    }
    return words.get(event.what)


def _changes_text(event: Event) -> str:
    """The fields of a `changed` event, with their new values."""
    values: dict[str, Json] = json.loads(event.detail or "{}") if event.what == "changed" else {}
    none = _("none")
    words: dict[str, str] = {
        "priority": _("priority %(n)s", n=values.get("priority")),
        "due": _("due date %(when)s", when=values.get("due") or none),
        "requires": _("skills %(skills)s", skills=", ".join(values.get("requires") or ()) or none),
        "payload": _("payload"),
        "delay": _("available after %(span)s", span=span(values.get("delay") or 0))
        if values.get("delay")
        else _("available at once"),
        "answers": _("answers needed: %(n)s", n=values.get("answers")),
    }
    return ", ".join(words[name] for name in words if name in values)


@dataclass(frozen=True, slots=True)
class Row:
    """One field of the answers, side by side."""

    name: str
    title: str  # from the form, else the name
    values: tuple[Json, ...]  # by answer
    present: tuple[bool, ...]  # whether each answer has the field
    differs: bool


def side_by_side(answers: tuple[Answer, ...], titles: Mapping[str, str]) -> list[Row]:
    """The fields of the answers, with differences marked."""
    results = [
        answer.result if isinstance(answer.result, dict) else {"": answer.result} for answer in answers
    ]
    rows = []
    for name in dict.fromkeys(name for result in results for name in result):
        presence = tuple(name in result for result in results)
        values = tuple(result.get(name) for result in results)
        is_same = all(presence) and all(
            type(value) is type(values[0]) and value == values[0] for value in values
        )
        rows.append(Row(name, titles.get(name, name), values, presence, differs=not is_same))
    return rows


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
        people=[account.name for account in queues.people_of(queue.name) if not account.disabled]
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
