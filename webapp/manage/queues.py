"""Views that create, pause, resume and clear queues."""

from __future__ import annotations

from flask import flash, redirect, request, url_for
from flask_babel import gettext as _
from flask_babel import ngettext
from werkzeug.wrappers import Response

import leaseq
from leaseq import Invalid, validation, webhooks
from leaseq.webapp.context import accounts, existing_queue, person, state
from leaseq.webapp.manage import bp
from leaseq.webapp.manage.dashboard import overview_page
from leaseq.webapp.manage.titles import warn_of_lookalike
from leaseq.webapp.rendering.refusals import in_words
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.store.person_changes import unassign_all


@bp.post("/manage")
@needs("manager")
def create() -> Response | tuple[str, int]:
    """Create a queue."""
    name, title = request.form.get("name", "").strip(), request.form.get("title", "").strip()
    try:
        if name == webhooks.QUEUE:
            raise Invalid("name", f"another name: {name} has the deliveries of webhooks")
        queue = leaseq.Queue(state().client, name)
        policy = queue.configure(by=person().name, create_only=True, title=title)
    except leaseq.QueueExists:
        return overview_page(_("There is already a queue %(name)s.", name=name)), 400
    except Invalid as error:
        return overview_page(in_words(error)), 400
    flash(_("The queue %(name)s is created. Set up its form, then import a file.", name=name))
    warn_of_lookalike(queue, policy.title)
    return redirect(url_for("manage.settings", q=name), 303)


@bp.post("/manage/<q>/pause")
@needs("manager")
def pause(q: str) -> Response:
    existing_queue(q).pause(request.form.get("reason", "").strip() or None, by=person().name)
    flash(_("Paused. Nobody gets new items; people may finish the items they hold."))
    return redirect(url_for("manage.one_queue", q=q), 303)


@bp.post("/manage/<q>/resume")
@needs("manager")
def resume(q: str) -> Response:
    existing_queue(q).resume(by=person().name)
    flash(_("The queue is resumed."))
    return redirect(url_for("manage.one_queue", q=q), 303)


@bp.post("/manage/<q>/unassign")
@needs("manager")
def unassign_person(q: str) -> Response:
    """Let anybody have what is assigned to one person."""
    name = validation.person_name(request.form.get("person", ""))
    count = unassign_all(accounts(), existing_queue(q), name, by=person().name)
    flash(ngettext("Anybody can get %(num)s item now.", "Anybody can get %(num)s items now.", count))
    return redirect(url_for("manage.one_queue", q=q), 303)


@bp.post("/manage/<q>/clear")
@needs("manager")
def clear(q: str) -> Response:
    """Return expired leases and release due items now, without waiting for the clear job."""
    result = existing_queue(q).clear()
    counts = {name: f"{getattr(result, name):,}" for name in ("returned", "released", "died", "forgotten")}
    if result.forgotten:
        text = _(
            "%(returned)s returned, %(released)s released, %(died)s failed, %(forgotten)s deleted.", **counts
        )
    else:
        text = _("%(returned)s returned, %(released)s released, %(died)s failed.", **counts)
    flash(text)
    return redirect(url_for("manage.one_queue", q=q), 303)
