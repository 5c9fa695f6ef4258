"""Trials of a queue: its form on a sample, and simulated people."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from flask import flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

import leaseq
from leaseq import Invalid, LeaseqError
from leaseq.simulation import Outcome, Plan, run
from leaseq.webapp.context import existing_queue, person, state, wants_fragment
from leaseq.webapp.item_title import item_title
from leaseq.webapp.manage import item_forms
from leaseq.webapp.manage.blueprint import bp
from leaseq.webapp.numbers import whole_number_in
from leaseq.webapp.rendering.filters import seconds_until, time_until
from leaseq.webapp.security.audit_log import log_change, skip_log
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.security.queue_access import unmet_skills
from leaseq.webapp.serving.bodies import whole_number
from leaseq.webapp.store.simulations import Simulations


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
        plan = read_plan(request.form)
        lease = read_lease_seconds(request.form)
        start(state().simulations, queue, plan, person().name, lease)
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
    queue: leaseq.Queue, item_form: item_forms.NewItemForm | None = None, field_error: Invalid | None = None
) -> str:
    run_context = _run_of(queue)
    lease_seconds = queue.policy.lease_seconds
    short = str(SHORT_LEASE) if lease_seconds > SHORT_LEASE else ""
    form_values: dict[str, Any] = {
        **DEFAULTS,
        "lease": short,
        **(request.form if field_error else {}),
    }
    return render_template(
        "manage/try.html",
        queue=queue,
        policy=queue.policy,
        stats=queue.stats(),
        item_form=item_form or item_forms.form_of(queue),
        **run_context,
        field_error=field_error,
        form_values=form_values,
        minutes=MINUTES,
        max_people=MAX_SIMULATED_PEOPLE,
    )


def _run_of(queue: leaseq.Queue) -> dict[str, Any]:
    """The template's context for the latest run: its progress, and who holds what."""
    restore_lease_time(state().simulations, queue)
    figures = state().live.snapshots.get(queue).figures()
    return {
        "run": state().simulations.latest(queue.name),
        "leases": figures["leases"],
        "more_leases": figures["more_leases"],
        "time_until": time_until,
        "seconds_until": seconds_until,
    }


log = logging.getLogger(__name__)

MAX_SIMULATED_PEOPLE = 50
MINUTES = (1, 2, 5, 10)
DEFAULTS = {"people": "8", "think": "3", "minutes": "2", "abandon": "5", "fail": "3", "walk_away": "10"}
SHORT_LEASE = 20
"""Lease seconds that the form proposes: short, so that leases expire and return while somebody watches."""
_REPORT_SECONDS = 0.5

_stops: set[threading.Event] = set()  # of the runs in this process


def read_plan(form: Mapping[str, str]) -> Plan:
    """The plan in a form. Raises Invalid."""
    if form.get("confirmed") != "yes":
        raise Invalid("confirmed", "a tick", _("Confirm that the simulated answers are kept in this queue."))
    minutes = whole_number(form.get("minutes"))
    if minutes not in MINUTES:
        raise Invalid("minutes", "one of " + ", ".join(map(str, MINUTES)))
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
        raise Invalid(name, f"a whole number from {low} to {high}")
    return number


def start(
    simulations: Simulations, queue: leaseq.Queue, plan: Plan, by: str, lease: int | None = None
) -> threading.Thread:
    """Start a run in a thread of this process. Raises Invalid while another one is running.

    ``lease``: the queue's lease seconds during the run; afterwards its own value is restored.
    """
    restore_lease_time(simulations, queue)
    own_seconds = queue.policy.lease_seconds
    id = simulations.begin(
        queue.name, by, plan, (own_seconds, lease) if lease and lease != own_seconds else None
    )
    if id is None:
        raise Invalid(
            "simulation", "one at a time", _("Simulated people are working already: stop them first.")
        )
    if lease and lease != own_seconds:
        queue.configure(by=by, lease_seconds=lease)
    worker = _Run(simulations, queue, plan, id)
    thread = threading.Thread(target=worker.run, name="simulation", daemon=True)
    thread.start()
    return thread


def restore_lease_time(simulations: Simulations, queue: leaseq.Queue) -> None:
    """Restore a queue's own lease seconds, if a run that has ended changed them."""
    latest_run = simulations.latest(queue.name)
    if latest_run and not latest_run.running and latest_run.lease is not None:
        if queue.policy.lease_seconds == latest_run.trial_lease:  # otherwise somebody has changed it since
            queue.configure(by=latest_run.by, lease_seconds=latest_run.lease)
        simulations.mark_restored(queue.name)


class _Run:
    """One run: reports its progress, and ends when any process stops it."""

    def __init__(self, simulations: Simulations, queue: leaseq.Queue, plan: Plan, id: str) -> None:
        self._simulations, self._queue, self._plan, self._id = simulations, queue, plan, id
        self._stop = threading.Event()
        self._reported_at = 0.0

    def run(self) -> None:
        _stops.add(self._stop)
        name, outcome, message = self._queue.name, None, ""
        try:
            outcome = run(self._queue, self._plan, stop=self._stop, on_tick=self._report)
        except LeaseqError as error:
            message = str(error)
        except Exception:
            log.exception("the simulation of %s failed", name)
            message = "internal error"
        finally:
            _stops.discard(self._stop)
        with suppress(LeaseqError):  # without this report it counts as ended after a few seconds
            self._simulations.end(name, self._id, outcome, message)
            restore_lease_time(self._simulations, self._queue)

    def _report(self, outcome: Outcome) -> None:
        if time.monotonic() - self._reported_at < _REPORT_SECONDS:
            return
        self._reported_at = time.monotonic()
        if not self._simulations.report(self._queue.name, self._id, outcome):
            self._stop.set()


def stop_all() -> None:
    """End the runs of this process; their people give back the items they hold."""
    for stop in tuple(_stops):
        stop.set()
