"""A manager's part in an item's thread: answer a question, or mark it as needing no answer."""

from __future__ import annotations

from flask import flash, request
from flask_babel import gettext as _
from werkzeug.wrappers import Response

from leaseq import Invalid
from leaseq.webapp.context import existing_queue, person, state
from leaseq.webapp.manage import bp
from leaseq.webapp.manage.item import redirect_to_item, return_redirect, show_item
from leaseq.webapp.security.audit_log import log_change
from leaseq.webapp.security.authorization import needs


@bp.post("/manage/<q>/items/<item:id>/answer")
@needs("manager")
def answer(q: str, id: str) -> Response | tuple[str, int]:
    """Write to the person who has the item, and to those who get it next. If refused, the page shows the
    input again."""
    queue = existing_queue(q)
    queue.get(id)
    text, message = request.form.get("text", ""), request.form.get("message", "")[:80]
    try:
        state().threads.answer(q, id, person().name, text, message=message)
    except Invalid as error:
        return show_item(queue, id, thread_error=_("Not sent: %(why)s.", why=error.limit)), 400
    log_change("item.answered", f"{q} / {id}")
    flash(_("Your message is sent."))
    return redirect_to_item(q, id, "thread")


@bp.post("/manage/<q>/items/<item:id>/settle")
@needs("manager")
def settle(q: str, id: str) -> Response:
    """Remove the item's question from the list of questions that need an answer."""
    existing_queue(q).get(id)
    state().threads.settle(q, id)
    return return_redirect(q) or redirect_to_item(q, id, "thread")
