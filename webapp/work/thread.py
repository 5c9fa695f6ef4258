"""Views of an item's thread for the person who works on it: read it, and ask the managers."""

from __future__ import annotations

from collections.abc import Sequence

from flask import flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

from leaseq import Invalid, ItemNotFound, LeaseLost
from leaseq.webapp.context import existing_queue, person, state, wants_fragment
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.store.threads import Message
from leaseq.webapp.work.blueprint import bp
from leaseq.webapp.work.endings import Page, read_token, save_draft, show_errors, show_outcome


@bp.post("/q/<q>/items/<item:id>/ask")
@needs("worker")
def ask(q: str, id: str) -> Page:
    """Ask the managers about an item. The person keeps the lease."""
    queue, name, token = existing_queue(q), person().name, read_token()
    try:
        save_draft(queue, id, token)
    except (LeaseLost, ItemNotFound) as error:
        return show_outcome(queue, id, token, error)
    if all((one.id, one.token) != (id, token) for one in queue.mine(name)):
        return show_errors(queue, id, token, {"question": _("Not sent: you no longer have the item.")})
    text = request.form.get("question", "")
    if not text.strip():
        return show_errors(queue, id, token, {"question": _("Type your question.")})
    try:
        state().threads.ask(q, id, name, text, message=f"{token}-{request.form.get('message', '')}"[:80])
    except Invalid as error:
        return show_errors(queue, id, token, {"question": error.limit})
    if wants_fragment():
        return thread_html(state().threads.of_item(q, id))
    flash(_("Your question is sent. The answer appears with the item."))
    return redirect(url_for("work.page", q=q, item=id), 303)


@bp.get("/q/<q>/items/<item:id>/thread")
@needs("worker")
def thread(q: str, id: str) -> str | Response:
    """The thread, as a fragment, for people who have the item now."""
    queue = existing_queue(q)
    if all(one.id != id for one in queue.mine(person().name)):
        raise ItemNotFound(q, id)
    return thread_html(state().threads.of_item(q, id))


def thread_html(messages: Sequence[Message]) -> str:
    return render_template("work/thread.html", messages=messages)
