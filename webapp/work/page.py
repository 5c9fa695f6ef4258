"""The work page: what I hold, its form, and the ways to let it go. It reserves by POST, never by GET."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flask import flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

import leaseq
from leaseq import Invalid, Json, LeaseLost
from webapp.forms import Field, Typed, draft_of, fields_of, read_result, typed_in, typed_of
from webapp.gate import needs
from webapp.show import parts_of
from webapp.state import person, queue
from webapp.work import bp


@dataclass(frozen=True, slots=True)
class Held:
    """The item on the page: a lease, or what is left of one that ran out while the form lay open."""

    id: str
    token: int
    payload: Json
    lease: leaseq.Lease | None


@bp.get("/q/<q>")
@needs("worker")
def page(q: str) -> str:
    found, me = queue(q), person()
    leases = found.mine(me.name)
    wanted = request.args.get("item")
    lease = next((one for one in leases if one.id == wanted), leases[0] if leases else None)
    if lease is None:
        return _nothing_held(found)
    held = Held(lease.id, lease.token, lease.payload, lease)
    policy = found.policy
    return _work(found, held, typed_of(fields_of(policy.form), lease.draft), policy=policy, leases=leases)


@bp.post("/q/<q>/reserve")
@needs("worker")
def reserve(q: str) -> Response:
    me = person()
    queue(q).reserve(me.name, skills=me.skills)
    return _back(q)


@bp.post("/q/<q>/items/<name:id>/finish")
@needs("worker")
def finish(q: str, id: str) -> Response | str | tuple[str, int]:
    found, me = queue(q), person()
    policy = found.policy
    fields = fields_of(policy.form)
    typed, token = typed_in(fields, request.form), _token()
    result, errors = read_result(fields, typed)
    if errors:
        return _refused(found, policy, id, token, typed, errors)
    try:
        finished = found.finish(
            id=id,
            token=token,
            person=me.name,
            result=result,
            then_reserve=request.form.get("then") == "next",
            skills=me.skills,
        )
    except LeaseLost as lost:
        return _lost(found, token, lost)
    except Invalid as refused:
        return _refused(found, policy, id, token, typed, refused.errors or {refused.field: refused.limit})
    late = " Your time had run out, but nobody else had taken it: it counts." if finished.late else ""
    flash(f"Saved.{late}")
    if request.form.get("then") == "next":
        return _back(q)
    return redirect(url_for("work.home"), 303)


@bp.post("/q/<q>/items/<name:id>/renew")
@needs("worker")
def renew(q: str, id: str) -> Response | tuple[str, int]:
    """More time. What was typed is kept as the draft, so that the page has it again."""
    found, token = queue(q), _token()
    try:
        _keep(found, id, token)
        found.renew(id=id, token=token, person=person().name)
    except LeaseLost as lost:
        return _lost(found, token, lost)
    except Invalid as refused:
        flash(f"You can't have more time: {refused.limit}.")
    return redirect(url_for("work.page", q=q, item=id), 303)


@bp.post("/q/<q>/items/<name:id>/abandon")
@needs("worker")
def abandon(q: str, id: str) -> Response | tuple[str, int]:
    """Give it back. What was typed is kept, for when the item comes to this person again."""
    found, token = queue(q), _token()
    try:
        _keep(found, id, token)
        reason = request.form.get("reason", "").strip() or None
        found.abandon(id=id, token=token, person=person().name, reason=reason)
    except LeaseLost as lost:
        return _lost(found, token, lost)
    flash("You gave it back.")
    return _back(q)


@bp.post("/q/<q>/items/<name:id>/fail")
@needs("worker")
def fail(q: str, id: str) -> Response | str | tuple[str, int]:
    """Report a problem with the item."""
    found, token, error = queue(q), _token(), request.form.get("error", "").strip()
    if not error:
        policy = found.policy
        typed = typed_in(fields_of(policy.form), request.form)
        return _refused(found, policy, id, token, typed, {"error": "Say what is wrong with it."})
    try:
        _keep(found, id, token)
        failed = found.fail(id=id, token=token, person=person().name, error=error)
    except LeaseLost as lost:
        return _lost(found, token, lost)
    again = "It is tried again later." if failed.retry_at else "It is put aside: your manager sees it."
    flash(f"Thank you, the problem is noted. {again}")
    return _back(q)


def _keep(found: leaseq.Queue, id: str, token: int) -> None:
    """Save what was typed before the item goes."""
    fields = fields_of(found.policy.form)
    draft = draft_of(fields, typed_in(fields, request.form))
    if draft:
        found.save_draft(id=id, token=token, person=person().name, draft=draft)


def _token() -> int:
    text = request.form.get("token", "")
    if not text.isascii() or not text.isdecimal() or len(text) > 16:
        raise Invalid("token", "the token of a lease")
    return int(text)


def _back(q: str) -> Response:
    return redirect(url_for("work.page", q=q), 303)


def _nothing_held(found: leaseq.Queue) -> str:
    me = person()
    why = found.why_nothing(me.name, me.skills)
    waiting = found.stats().inbound
    return render_template("work/nothing.html", queue=found, policy=found.policy, why=why, waiting=waiting)


def _work(
    found: leaseq.Queue,
    held: Held,
    typed: Typed,
    *,
    policy: leaseq.Policy,
    leases: list[leaseq.Lease],
    errors: Mapping[str, str] | None = None,
) -> str:
    fields = fields_of(policy.form)
    context: dict[str, Any] = {
        "queue": found,
        "policy": policy,
        "held": held,
        "leases": leases,
        "parts": parts_of(policy.form, held.payload),
        "fields": fields,
        "typed": typed,
        "errors": _by_field(fields, errors or {}),
        "by_name": {field.name: field for field in fields},
    }
    return render_template("work/page.html", **context)


def _by_field(fields: tuple[Field, ...], errors: Mapping[str, str]) -> dict[str, str]:
    """Errors at the field that they are in: of ``tags.0``, for instance, that is ``tags``."""
    names = {field.name for field in fields}
    found: dict[str, str] = {}
    for path, text in errors.items():
        name = path if path in names else path.partition(".")[0]
        found.setdefault(name if name in names else path, text)
    return found


def _refused(
    found: leaseq.Queue, policy: leaseq.Policy, id: str, token: int, typed: Typed, errors: Mapping[str, str]
) -> tuple[str, int]:
    """The page again, with all that was typed and what is wrong at its field."""
    leases = found.mine(person().name)
    lease = next((one for one in leases if (one.id, one.token) == (id, token)), None)
    if lease is None and not _was_mine(found, id, token):
        raise leaseq.ItemNotFound(found.name, id)
    payload = lease.payload if lease else found.get(id).payload
    held = Held(id, token, payload, lease)
    return _work(found, held, typed, policy=policy, leases=leases, errors=errors), 422


def _was_mine(found: leaseq.Queue, id: str, token: int) -> bool:
    """Whether this person was granted the item by this token: only then may they see it."""
    grants = found.get(id).history
    return any((grant.token, grant.person) == (token, person().name) for grant in grants)


def _lost(found: leaseq.Queue, token: int, lost: LeaseLost) -> tuple[str, int]:
    """What is true now, with what was typed still readable."""
    policy = found.policy
    fields = fields_of(policy.form)
    typed = draft_of(fields, typed_in(fields, request.form))
    how = next((grant.how for grant in lost.item.history if grant.token == token), None)
    page = render_template("work/lost.html", queue=found, policy=policy, lost=lost, result=typed, how=how)
    return page, 409
