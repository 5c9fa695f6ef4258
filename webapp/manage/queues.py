"""Make a queue, pause and resume it, clear it."""

from __future__ import annotations

from flask import flash, redirect, request, url_for
from werkzeug.wrappers import Response

import leaseq
from leaseq import Invalid
from webapp.gate import needs
from webapp.live.pages import overview_page
from webapp.manage import bp
from webapp.state import person, queue, state


@bp.post("/manage")
@needs("manager")
def create() -> Response | tuple[str, int]:
    """Make a queue."""
    name, title = request.form.get("name", "").strip(), request.form.get("title", "").strip()
    try:
        found = leaseq.Queue(state().client, name)
        if found.exists():
            raise Invalid("name", "a name that no queue has yet", f"there is a queue {name!r} already")
        found.configure(by=person().name, title=title)
    except Invalid as refused:
        return overview_page(str(refused)), 400
    flash(f"The queue {name} is there. Say what it asks, then import a file.")
    return redirect(url_for("manage.settings", q=name), 303)


@bp.post("/manage/<q>/pause")
@needs("manager")
def pause(q: str) -> Response:
    queue(q).pause(request.form.get("reason", "").strip() or None, by=person().name)
    flash("Paused. Nobody gets a new item; what people hold they may finish.")
    return redirect(url_for("manage.one_queue", q=q), 303)


@bp.post("/manage/<q>/resume")
@needs("manager")
def resume(q: str) -> Response:
    queue(q).resume(by=person().name)
    flash("Items are handed out again.")
    return redirect(url_for("manage.one_queue", q=q), 303)


@bp.post("/manage/<q>/clear")
@needs("manager")
def clear(q: str) -> Response:
    """Return what ran out, release what is due: now, and not when the clear job comes by."""
    cleared = queue(q).clear()
    forgotten = f", {cleared.forgotten:,} forgotten" if cleared.forgotten else ""
    flash(f"{cleared.returned:,} returned, {cleared.released:,} released, {cleared.died:,} died{forgotten}.")
    return redirect(url_for("manage.one_queue", q=q), 303)
