"""The page that deletes a queue, after its name was typed."""

from __future__ import annotations

from flask import flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

from leaseq import STATES
from leaseq.webapp.context import existing_queue, state
from leaseq.webapp.manage import bp
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.security.deleting import delete_queue


@bp.get("/manage/<q>/delete")
@needs("manager")
def confirm_delete(q: str) -> str:
    return _page(q)


@bp.post("/manage/<q>/delete")
@needs("manager")
def delete(q: str) -> Response | tuple[str, int]:
    if request.form.get("name", "").strip() != q:
        return _page(q, error=_("That is not the queue's name. Nothing was deleted.")), 400
    delete_queue(q)
    flash(_("The queue %(name)s is deleted.", name=q))
    return redirect(url_for("manage.overview"), 303)


def _page(q: str, error: str = "") -> str:
    queue = existing_queue(q)
    stats = queue.stats()
    return render_template(
        "manage/delete.html",
        queue=queue,
        policy=queue.policy,
        stats=stats,
        item_count=sum(getattr(stats, name) for name in STATES),
        unanswered_count=state().threads.count_unanswered(q),
        typed_name=request.form.get("name", ""),
        error=error,
    )
