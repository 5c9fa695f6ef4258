"""The work page: what I hold, its form, and the ways to let it go. It reserves by POST, never by GET."""

from __future__ import annotations

from dataclasses import replace

from flask import flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

import leaseq
from leaseq import Invalid, ItemNotFound, LeaseLost
from webapp.forms import draft_of, fields_of, read_result, typed_in, typed_of
from webapp.gate import needs
from webapp.state import person, queue
from webapp.work import bp
from webapp.work.counted import count
from webapp.work.nothing import nothing_held
from webapp.work.receipt import GONE, receipt_of
from webapp.work.sheet import Sheet, free_keys, shown

Page = Response | str | tuple[str, int]


@bp.get("/q/<q>")
@needs("worker")
def page(q: str) -> str:
    found, me = queue(q), person()
    leases = found.mine(me.name)
    wanted = request.args.get("item")
    lease = next((one for one in leases if one.id == wanted), leases[0] if leases else None)
    if lease is None:
        return nothing_held(found)
    policy = found.policy
    typed = typed_of(fields_of(policy.form), lease.draft)
    return shown(Sheet(found, policy, lease.id, lease.token, typed, lease=lease, leases=leases))


@bp.post("/q/<q>/reserve")
@needs("worker")
def reserve(q: str) -> Response:
    me = person()
    queue(q).reserve(me.name, skills=me.skills)
    return _back(q)


@bp.post("/q/<q>/items/<name:id>/finish")
@needs("worker")
def finish(q: str, id: str) -> Page:
    found, me, token = queue(q), person(), _token()
    policy = found.policy
    fields = fields_of(policy.form)
    result, errors = read_result(fields, typed_in(fields, request.form))
    if errors:
        return _refused(found, id, token, errors)
    then_reserve = request.form.get("then") == "next"
    try:
        finished = found.finish(
            id=id, token=token, person=me.name, result=result, then_reserve=then_reserve, skills=me.skills
        )
    except (LeaseLost, ItemNotFound) as lost:
        return _lost(found, id, token, lost, refused=True)
    except Invalid as refused:
        return _refused(found, id, token, refused.errors or {refused.field: refused.limit})
    count(q, "finished", id, token)
    late = " Your time had run out, but nobody else had taken it: it counts." if finished.late else ""
    flash(f"Saved.{late}")
    return _back(q) if then_reserve else redirect(url_for("work.home"), 303)


@bp.post("/q/<q>/items/<name:id>/renew")
@needs("worker")
def renew(q: str, id: str) -> Page:
    """More time, or the item back whose time ran out. What was typed is kept as the draft."""
    found, token = queue(q), _token()
    try:
        _keep(found, id, token)
        found.renew(id=id, token=token, person=person().name)
    except (LeaseLost, ItemNotFound) as lost:
        return _lost(found, id, token, lost, refused=True)
    except Invalid as refused:
        return _refused(found, id, token, {"renew": f"There is no more time for this one: {refused.limit}."})
    if request.form.get("back") == "yes":
        flash("You have it again. What you typed is still here.")
    return redirect(url_for("work.page", q=q, item=id), 303)


@bp.post("/q/<q>/items/<name:id>/abandon")
@needs("worker")
def abandon(q: str, id: str) -> Page:
    """Later, or not for me. What was typed is kept, for when the item comes to this person again."""
    found, token = queue(q), _token()
    again = request.form.get("again") != "no"
    try:
        _keep(found, id, token)
        reason = request.form.get("reason", "").strip() or None
        found.abandon(id=id, token=token, person=person().name, reason=reason, again=again)
    except (LeaseLost, ItemNotFound) as lost:
        return _lost(found, id, token, lost)
    count(q, "gave_back", id, token)
    flash(
        "You gave it back. You see it again when nothing else waits for you."
        if again
        else "You gave it back, and won't see it again."
    )
    return _back(q)


@bp.post("/q/<q>/items/<name:id>/fail")
@needs("worker")
def fail(q: str, id: str) -> Page:
    """Say that the item is broken."""
    found, token, error = queue(q), _token(), request.form.get("error", "").strip()
    if not error:
        return _refused(found, id, token, {"error": "Say what is wrong with it."})
    try:
        _keep(found, id, token)
        failed = found.fail(id=id, token=token, person=person().name, error=error)
    except (LeaseLost, ItemNotFound) as lost:
        return _lost(found, id, token, lost)
    count(q, "broken", id, token)
    again = "It is tried again later." if failed.retry_at else "It is put aside: your manager sees it."
    flash(f"Thank you, the problem is noted. {again}")
    return _back(q)


@bp.get("/q/<q>/items/<name:id>/receipt")
@needs("worker")
def receipt(q: str, id: str) -> str:
    """What became of a lease, as a piece of the page: its script asks when the time has run out."""
    found, me = queue(q), person().name
    known = receipt_of(found.get(id), _token(), me, found.mine(me))
    if known is None:
        raise ItemNotFound(q, id)
    keys = free_keys(fields_of(found.policy.form))
    return render_template("work/receipt.html", queue=found, id=id, receipt=known, keys=keys)


def _keep(found: leaseq.Queue, id: str, token: int) -> None:
    """Save what was typed before the item goes."""
    fields = fields_of(found.policy.form)
    draft = draft_of(fields, typed_in(fields, request.form))
    if draft:
        found.save_draft(id=id, token=token, person=person().name, draft=draft)


def _token() -> int:
    text = request.values.get("token", "")
    if not text.isascii() or not text.isdecimal() or len(text) > 16:
        raise Invalid("token", "the token of a lease")
    return int(text)


def _back(q: str) -> Response:
    return redirect(url_for("work.page", q=q), 303)


def _refused(found: leaseq.Queue, id: str, token: int, errors: dict[str, str]) -> tuple[str, int]:
    """The page again, with all that was typed and what is wrong at its field."""
    me, policy = person().name, found.policy
    typed = typed_in(fields_of(policy.form), request.form)
    leases = found.mine(me)
    lease = next((one for one in leases if (one.id, one.token) == (id, token)), None)
    sheet = Sheet(found, policy, id, token, typed, lease=lease, leases=leases, errors=errors)
    if lease is None:
        item = found.get(id)
        known = receipt_of(item, token, me, leases)
        if known is None:
            raise ItemNotFound(found.name, id)
        told = {} if "error" in errors else errors  # there is no field for it now
        sheet = replace(sheet, item=item, receipt=known, errors=told)
    return shown(sheet), 422


def _lost(
    found: leaseq.Queue, id: str, token: int, lost: LeaseLost | ItemNotFound, *, refused: bool = False
) -> tuple[str, int]:
    """What is true now, with all that was typed still in the form."""
    me, policy = person().name, found.policy
    typed = typed_in(fields_of(policy.form), request.form)
    leases = found.mine(me)
    sheet = Sheet(found, policy, id, token, typed, leases=leases, receipt=GONE)
    if isinstance(lost, ItemNotFound):
        return shown(sheet), 404
    known = receipt_of(lost.item, token, me, leases, refused=refused)
    if known is None:
        return shown(sheet), 404
    known = replace(known, kept=lost.answer_kept)
    return shown(replace(sheet, item=lost.item, receipt=known)), 409
