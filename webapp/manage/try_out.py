"""The page for trying out a queue: add one item, and let simulated people work."""

from __future__ import annotations

from typing import Any

from flask import flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

import leaseq
from leaseq import Invalid
from leaseq.webapp.context import existing_queue, person, state, wants_fragment
from leaseq.webapp.item_title import item_title
from leaseq.webapp.manage import bp, new_item, simulating
from leaseq.webapp.rendering.filters import seconds_until, time_until
from leaseq.webapp.security.audit_log import log_change, skip_log
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.security.queue_access import unmet_skills


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
    form = new_item.read_form(request.form)
    try:
        unmet = unmet_skills(q, form.requires()) if "confirmed" not in request.form else ()
        if unmet:
            skip_log()
            return _page(queue, item_form=form.asking(unmet))
        result, payload = form.add_to(queue)
    except Invalid as error:
        return _page(queue, item_form=form.with_error(error)), 400
    title = item_title(payload, result.id)
    if result.added:
        log_change("item.added", f"{q} / {result.id}")
        flash(_("Added: %(title)s", title=title))
    else:
        skip_log()
        flash(_("The queue already has this item: %(title)s", title=title))
    return redirect(url_for("manage.try_out", q=q), 303)


@bp.post("/manage/<q>/simulate")
@needs("manager")
def simulate(q: str) -> Response | tuple[str, int]:
    """Start a simulation in this process, for at most ten minutes."""
    queue = existing_queue(q)
    try:
        plan = simulating.read_plan(request.form)
        lease = simulating.read_lease_seconds(request.form)
        simulating.start(state().simulations, queue, plan, person().name, lease)
    except Invalid as error:
        return _page(queue, field_error=error), 400
    return redirect(url_for("manage.try_out", q=q, _anchor="simulation"), 303)


@bp.post("/manage/<q>/simulate/stop")
@needs("manager")
def stop_simulation(q: str) -> Response:
    existing_queue(q)
    state().simulations.stop(q)
    return redirect(url_for("manage.try_out", q=q, _anchor="simulation"), 303)


def _page(
    queue: leaseq.Queue, item_form: new_item.NewItemForm | None = None, field_error: Invalid | None = None
) -> str:
    run_context = _run_of(queue)
    lease_seconds = queue.policy.lease_seconds
    short = str(simulating.SHORT_LEASE) if lease_seconds > simulating.SHORT_LEASE else ""
    form_values: dict[str, Any] = {
        **simulating.DEFAULTS,
        "lease": short,
        **(request.form if field_error else {}),
    }
    return render_template(
        "manage/try.html",
        queue=queue,
        policy=queue.policy,
        stats=queue.stats(),
        item_form=item_form or new_item.form_of(queue),
        **run_context,
        field_error=field_error,
        form_values=form_values,
        minutes=simulating.MINUTES,
        max_people=simulating.MAX_SIMULATED_PEOPLE,
    )


def _run_of(queue: leaseq.Queue) -> dict[str, Any]:
    """The template's context for the latest run: its progress, and who holds what."""
    simulating.restore_lease_time(state().simulations, queue)
    figures = state().live.snapshots.get(queue).figures()
    return {
        "run": state().simulations.latest(queue.name),
        "leases": figures["leases"],
        "more_leases": figures["more_leases"],
        "time_until": time_until,
        "seconds_until": seconds_until,
    }
