"""Items in one state, and one item with its story."""

from __future__ import annotations

from flask import flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from leaseq import STATES, Invalid
from webapp.gate import needs
from webapp.manage import bp
from webapp.show import parts_of
from webapp.state import person, queue

PAGE = 50


@bp.get("/manage/<q>/items")
@needs("manager")
def items(q: str) -> str:
    found = queue(q)
    state = request.args.get("state", "inbound")
    if state not in STATES:
        raise Invalid("state", "one of " + ", ".join(STATES))
    page = found.page(state, limit=PAGE, after=request.args.get("after") or None)
    return render_template(
        "manage/items.html", queue=found, policy=found.policy, stats=found.stats(), state=state, page=page
    )


@bp.get("/manage/<q>/items/<name:id>")
@needs("manager")
def item(q: str, id: str) -> str:
    found = queue(q)
    known, policy = found.get(id), found.policy
    parts = parts_of(policy.form, known.payload)
    return render_template("manage/item.html", queue=found, policy=policy, item=known, parts=parts)


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
