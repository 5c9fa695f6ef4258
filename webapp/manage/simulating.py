"""Runs simulations in the web process: simulated people, a few at a time and for a few minutes."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from contextlib import suppress

from flask_babel import gettext as _

import leaseq
from leaseq import Invalid, LeaseqError
from leaseq.simulation import Outcome, Plan, run
from leaseq.webapp.numbers import whole_number_in
from leaseq.webapp.serving.numbers import whole_number
from leaseq.webapp.store.simulations import Simulations

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
