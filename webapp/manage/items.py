"""Items in one state or by due date, and one item with its story."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from flask import flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

import leaseq
from leaseq import STATES, Invalid
from webapp.gate import needs
from webapp.manage import bp
from webapp.show import parts_of
from webapp.state import accounts, person, queue

PAGE = 50


@bp.get("/manage/<q>/items")
@needs("manager")
def items(q: str) -> str | Response:
    found = queue(q)
    state = request.args.get("state", "inbound")
    if state not in STATES:
        raise Invalid("state", "one of " + ", ".join(STATES))
    if state == "dead":
        return redirect(url_for("manage.dead", q=q), 303)
    page = found.page(state, limit=PAGE, after=request.args.get("after") or None)
    return listed(found, state, page, partial(url_for, "manage.items", q=q, state=state))


@bp.get("/manage/<q>/due")
@needs("manager")
def due(q: str) -> str:
    found = queue(q)
    page = found.by_due(limit=PAGE, after=request.args.get("after") or None)
    return listed(found, "due", page, partial(url_for, "manage.due", q=q))


def listed(
    found: leaseq.Queue,
    kind: str,
    page: leaseq.Page,
    here: Callable[..., str],
    template: str = "manage/items.html",
    **more: str | None,
) -> str:
    """A page of items; ``here`` makes its address, and that of the next one with ``after``."""
    return render_template(
        template,
        queue=found,
        policy=found.policy,
        stats=found.stats(),
        kind=kind,
        page=page,
        here=here,
        **more,
    )


@bp.get("/manage/<q>/items/<name:id>")
@needs("manager")
def item(q: str, id: str) -> str:
    return _shown(queue(q), id)


def _shown(found: leaseq.Queue, id: str, *, error: str | None = None) -> str:
    known, policy = found.get(id), found.policy
    waits = known.state in ("inbound", "scheduled") or (known.state == "reserved" and policy.answers > 1)
    return render_template(
        "manage/item.html",
        queue=found,
        policy=policy,
        item=known,
        parts=parts_of(policy.form, known.payload),
        people=[one.name for one in accounts().people() if not one.disabled] if waits else (),
        error=error,
    )


@bp.post("/manage/<q>/items/<name:id>/assign")
@needs("manager")
def assign(q: str, id: str) -> Response | tuple[str, int]:
    """Let only one person have it."""
    found = queue(q)
    try:
        whom = accounts().who_works(request.form.get("person", "").strip())
        found.assign(id, whom, by=person().name)
    except Invalid as refused:
        return _shown(found, id, error=f"Not assigned: {refused}."), 400
    flash(f"Only {whom} gets it now, until they give it back.")
    return _item(q, id)


@bp.post("/manage/<q>/items/<name:id>/revive")
@needs("manager")
def revive(q: str, id: str) -> Response:
    queue(q).revive(id, by=person().name)
    flash("It waits again, with all its attempts.")
    return _item(q, id)


@bp.post("/manage/<q>/items/<name:id>/release")
@needs("manager")
def release(q: str, id: str) -> Response:
    queue(q).release(id, by=person().name)
    flash("The lease is taken away: the item waits for somebody else.")
    return redirect(url_for("manage.one_queue", q=q), 303) if request.form.get("back") else _item(q, id)


@bp.post("/manage/<q>/items/<name:id>/adopt")
@needs("manager")
def adopt(q: str, id: str) -> Response:
    text = request.form.get("token", "")
    if not text.isascii() or not text.isdecimal() or len(text) > 16:
        raise Invalid("token", "the token of a late answer")
    queue(q).adopt(id, int(text), by=person().name)
    flash("The late answer is the item's answer now.")
    return _item(q, id)


@bp.post("/manage/<q>/items/<name:id>/remove")
@needs("manager")
def remove(q: str, id: str) -> Response:
    queue(q).remove(id, by=person().name)
    flash(f"The item {id} is removed.")
    return redirect(url_for("manage.one_queue", q=q), 303)


def _item(q: str, id: str) -> Response:
    return redirect(url_for("manage.item", q=q, id=id), 303)
