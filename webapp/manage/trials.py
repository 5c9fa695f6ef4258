"""Trials of a queue: its form on a sample, and simulated people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from flask import flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

import leaseq
from leaseq import Invalid
from leaseq.simulation import Plan
from leaseq.webapp.context import existing_queue, state, wants_fragment
from leaseq.webapp.i18n import whole_number_in
from leaseq.webapp.item_title import item_title
from leaseq.webapp.manage import item_forms
from leaseq.webapp.manage.blueprint import bp, queue_page
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.services import items, queues
from leaseq.webapp.serving.bodies import whole_number


@bp.get("/manage/<q>/try")
@needs("manager")
def try_out(q: str) -> str:
    queue = existing_queue(q)
    if wants_fragment():
        return render_template("manage/simulation.html", queue=queue, **_run_of(queue))
    return _page(queue)


@bp.post("/manage/<q>/items")
@needs("manager")
def add_item(q: str) -> Response | str | tuple[str, int]:
    """Add one item. If refused, the page shows the input again; if nobody has its skills, the page asks
    first."""
    queue = existing_queue(q)
    form = item_forms.read_form(request.form)
    try:
        unmet = queues.unmet_skills(q, form.requires()) if "confirmed" not in request.form else ()
        if unmet:
            return _page(queue, item_form=replace(form, unmet=unmet))
        item = form.item()
        result = items.add(queue, item, request_id=form.request_id or None)
    except Invalid as error:
        return _page(queue, item_form=replace(form, field_error=error)), 400
    title = item_title(item.payload, result.id)
    if result.added:
        flash(_("Added: %(title)s", title=title))
    else:
        flash(_("The queue already has this item: %(title)s", title=title))
    return redirect(url_for("manage.try_out", q=q), 303)


@bp.post("/manage/<q>/simulate")
@needs("manager")
def simulate(q: str) -> Response | tuple[str, int]:
    """Start a simulation in this process, for at most ten minutes."""
    queue = existing_queue(q)
    try:
        plan = read_plan(request.form)
        queues.simulate(queue, plan, read_lease_seconds(request.form))
    except Invalid as error:
        return _page(queue, field_error=error), 400
    return redirect(url_for("manage.try_out", q=q, _anchor="simulation"), 303)


@bp.post("/manage/<q>/simulate/stop")
@needs("manager")
def stop_simulation(q: str) -> Response:
    queues.stop_simulation(existing_queue(q))
    return redirect(url_for("manage.try_out", q=q, _anchor="simulation"), 303)


def _page(
    queue: leaseq.Queue, item_form: item_forms.NewItemForm | None = None, field_error: Invalid | None = None
) -> str:
    run_context = _run_of(queue)  # first, since it may restore the queue's own lease time
    short_lease = str(SHORT_LEASE) if queue.policy.lease_seconds > SHORT_LEASE else ""
    return queue_page(
        "manage/try.html",
        queue,
        stats=queue.stats(),
        item_form=item_form or item_forms.form_of(queue),
        **run_context,
        field_error=field_error,
        form_values={**DEFAULTS, "lease": short_lease, **(request.form if field_error else {})},
        minutes=MINUTES,
        max_people=MAX_SIMULATED_PEOPLE,
    )


def _run_of(queue: leaseq.Queue) -> dict[str, Any]:
    """The template's context for the latest run: its progress, and who holds what."""
    queues.restore_lease_time(state().simulations, queue)
    figures = state().snapshots.get(queue).figures()
    return {
        "run": state().simulations.latest(queue.name),
        "leases": figures["leases"],
        "more_leases": figures["more_leases"],
    }


MAX_SIMULATED_PEOPLE = 50
MINUTES = (1, 2, 5, 10)
DEFAULTS = {"people": "8", "think": "3", "minutes": "2", "abandon": "5", "fail": "3", "walk_away": "10"}
SHORT_LEASE = 20
"""Lease seconds that the form proposes: short, so that leases expire and return while somebody watches."""


def read_plan(form: Mapping[str, str]) -> Plan:
    """The plan in a form. Raises Invalid."""
    if form.get("confirmed") != "yes":
        raise Invalid("confirmed", "page", what="unconfirmed_trial")
    minutes = whole_number(form.get("minutes"))
    if minutes not in MINUTES:
        raise Invalid("minutes", "one_of", choices=MINUTES, value=minutes)
    return Plan(
        people=_number(form, "people", 1, MAX_SIMULATED_PEOPLE),
        think=_number(form, "think", 1, 600),
        abandon_rate=_number(form, "abandon", 0, 100) / 100,
        fail_rate=_number(form, "fail", 0, 100) / 100,
        walk_away_rate=_number(form, "walk_away", 0, 100) / 100,
        seconds=minutes * 60,
    )


def read_lease_seconds(form: Mapping[str, str]) -> int | None:
    """The lease seconds in a form; None: the queue's own. Raises Invalid."""
    return _number(form, "lease", 5, 3_600) if form.get("lease", "").strip() else None


def _number(form: Mapping[str, str], name: str, low: int, high: int) -> int:
    number = whole_number_in(form.get(name, ""), name)
    if number is None or not low <= number <= high:
        raise Invalid(name, "range", minimum=low, maximum=high, value=form.get(name, ""))
    return number
