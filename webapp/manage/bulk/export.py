"""The download of selected items, or of all of a search, with their answers."""

from __future__ import annotations

from collections.abc import Iterator

from flask import flash, redirect, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

import leaseq
from leaseq import ItemNotFound, transfer, validation
from leaseq.webapp.context import existing_queue
from leaseq.webapp.manage.blueprint import bp
from leaseq.webapp.manage.bulk.pages import bounded_search, bulk_request
from leaseq.webapp.rendering.downloads import streamed_items
from leaseq.webapp.security.authorization import needs


@bp.post("/manage/<q>/bulk/export")
@needs("manager")
def export_items(q: str) -> Response:
    queue = existing_queue(q)
    bulk = bulk_request(queue.policy.form)
    format = validation.one_of(request.form.get("format"), transfer.FORMATS, "format")
    if not bulk.all and not bulk.ids:
        flash(_("Select some items first."))
        return redirect(url_for("manage.items", q=q, **bulk.search.args()), 303)
    items = bounded_search(bulk).items(queue) if bulk.all else _selected(queue, bulk.ids)
    return streamed_items(queue, items, format)


def _selected(queue: leaseq.Queue, ids: tuple[str, ...]) -> Iterator[leaseq.Item]:
    """The items with these ids that still exist."""
    for id in ids:
        try:
            yield queue.get(id)
        except ItemNotFound:
            continue
