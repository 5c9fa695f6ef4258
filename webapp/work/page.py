"""The work page: the person's lease and its form. It reserves by POST, never by GET."""

from __future__ import annotations

from contextlib import suppress

from flask import flash, render_template, request
from flask_babel import gettext as _
from flask_wtf.csrf import generate_csrf
from werkzeug.wrappers import Response

from leaseq import Invalid, ItemNotFound, LeaseLost, QueueNotFound
from leaseq.webapp.context import existing_queue, lease_queue, person, state
from leaseq.webapp.rendering.refusals import in_words
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.work import bp
from leaseq.webapp.work.form_view import form_view_of
from leaseq.webapp.work.item_view import ItemView, item_url, render_item, urls_of
from leaseq.webapp.work.lease_outcome import NO_ITEM, lease_end_of
from leaseq.webapp.work.nothing import nothing_page
from leaseq.webapp.work.responses import (
    Page,
    read_token,
    redirect_to_queue,
    show_errors,
    show_lease,
    show_outcome,
)
from leaseq.webapp.work.submitted import save_draft


@bp.get("/q/<q>")
@needs("worker")
def page(q: str) -> str:
    queue, caller = existing_queue(q), person()
    leases = queue.mine(caller.name)
    item_id = request.args.get("item")
    lease = next((one for one in leases if one.id == item_id), leases[0] if leases else None)
    if lease is None:
        return nothing_page(queue)
    policy = queue.policy
    input = form_view_of(policy.form).initial_input(lease, policy.form)
    return render_item(ItemView(queue, policy, lease.id, lease.token, input, lease=lease, leases=leases))


@bp.post("/q/<q>/reserve")
@needs("worker")
def reserve(q: str) -> Response:
    caller = person()
    if existing_queue(q).reserve(caller.name, skills=caller.skills) is not None:
        state().breaks.end(caller.name)
    return redirect_to_queue(q)


@bp.post("/q/<q>/items/<item:id>/renew")
@needs("worker")
def renew(q: str, id: str) -> Page:
    """Renew the lease, or take an expired item back. The input is saved as the draft."""
    queue, token = existing_queue(q), read_token()
    try:
        save_draft(queue, id, token)
        lease = queue.renew(id=id, token=token, person=person().name)
    except (LeaseLost, ItemNotFound) as error:
        return show_outcome(queue, id, token, error, refused=True)
    except Invalid as error:
        message = in_words(error)
        if error.field == "renewals":
            message = _("The time for this item can't be extended again: %(limit)s.", limit=error.limit)
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
    lease_end, policy = None, queue.policy
    with suppress(ItemNotFound):
        lease_end = lease_end_of(queue.get(id), token, name, queue.mine(name), policy)
    fragment = render_template(
        "work/lease_outcome.html",
        queue=queue,
        urls=urls_of(item_url(q, id)),
        lease_end=lease_end or NO_ITEM,
        keys=form_view_of(policy.form).keys,
    )
    return fragment if lease_end else (fragment, 404)
