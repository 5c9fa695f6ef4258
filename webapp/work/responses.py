"""Responses of the work page: the item view as a page, or as a fragment for its script."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from flask import Response as FlaskResponse
from flask import redirect, request, url_for
from werkzeug.wrappers import Response

import leaseq
from leaseq import Invalid, ItemNotFound, LeaseLost
from leaseq.webapp.context import person, state, wants_fragment
from leaseq.webapp.serving.numbers import whole_number
from leaseq.webapp.store.day_figures import DayFigures, How
from leaseq.webapp.work.form_view import form_view_of
from leaseq.webapp.work.item_view import ItemView, render_item
from leaseq.webapp.work.lease_outcome import NO_ITEM, lease_end_of

Page = Response | str | tuple[str, int]

REDIRECT_HEADER = "X-Leaseq-Redirect"
"""The header with the next page's URL for the page's script, since fetch follows redirects unnoticed."""


def redirect_to(url: str) -> Response:
    return (
        FlaskResponse(status=204, headers={REDIRECT_HEADER: url}) if wants_fragment() else redirect(url, 303)
    )


def redirect_to_queue(q: str) -> Response:
    return redirect_to(url_for("work.page", q=q))


def read_token() -> int:
    token = whole_number(request.values.get("token"))
    if token is None:
        raise Invalid("token", "the token of a lease")
    return token


def count(queue: str, outcome: How, id: str, token: int, held_seconds: float = 0) -> DayFigures:
    """Count one item, with the active time measured by the page (the form field ``active_ms``). Return what
    it adds to the person's figures of today."""
    return state().activity.record(
        person().name,
        queue,
        outcome,
        id=id,
        token=token,
        active_ms=whole_number(request.form.get("active_ms")) or 0,
        held_ms=round(held_seconds * 1_000),
    )


def show_lease(
    queue: leaseq.Queue,
    lease: leaseq.Lease,
    today: DayFigures | None = None,
    *,
    alone: bool = False,
    unread: bool = False,
    box_texts: Mapping[str, str] | None = None,
) -> Page:
    """The page of a lease that was just granted. ``alone``: the person holds no other. ``unread``: nobody had
    the item before, if this is its first grant. ``box_texts``: texts for give back and report."""
    if not wants_fragment():
        return redirect(url_for("work.page", q=queue.name, item=lease.id), 303)
    policy = queue.policy
    input = form_view_of(policy.form).initial_input(lease, policy.form)
    leases = [lease] if alone else queue.mine(person().name)
    return render_item(
        ItemView(
            queue,
            policy,
            lease.id,
            lease.token,
            input,
            lease=lease,
            leases=leases,
            box_texts=box_texts or {},
            today=today,
            unread=unread,
        )
    )


def show_errors(queue: leaseq.Queue, id: str, token: int, errors: dict[str, str]) -> tuple[str, int]:
    """The item view again, with all input, and each error next to its field."""
    name, policy = person().name, queue.policy
    input = form_view_of(policy.form).submitted_input(request.form)
    leases = queue.mine(name)
    lease = next((one for one in leases if (one.id, one.token) == (id, token)), None)
    view = ItemView(
        queue, policy, id, token, input, lease=lease, leases=leases, errors=errors, box_texts=request.form
    )
    if lease is None:
        item = queue.get(id)
        lease_end = lease_end_of(item, token, name, leases, policy)
        if lease_end is None:
            raise ItemNotFound(queue.name, id)
        shown_errors = {} if "error" in errors else errors  # without a lease there is no field for it
        view = replace(view, item=item, lease_end=lease_end, errors=shown_errors)
    return render_item(view), 422


def show_outcome(
    queue: leaseq.Queue, id: str, token: int, error: LeaseLost | ItemNotFound, *, refused: bool = False
) -> tuple[str, int]:
    """The outcome of the lease, with all input still in the form."""
    name, policy = person().name, queue.policy
    input = form_view_of(policy.form).submitted_input(request.form)
    leases = queue.mine(name)
    view = ItemView(queue, policy, id, token, input, leases=leases, lease_end=NO_ITEM)
    if isinstance(error, ItemNotFound):
        return render_item(view), 404
    lease_end = lease_end_of(error.item, token, name, leases, policy, refused=refused)
    if lease_end is None:
        return render_item(view), 404
    lease_end = replace(lease_end, has_late_answer=error.answer_kept)
    return render_item(replace(view, item=error.item, lease_end=lease_end)), 409
