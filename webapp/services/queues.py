"""The verbs of a queue: create, configure, pause, resume, clear, delete, who has access, simulated people."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

import leaseq
from leaseq import STATES, Cleared, Invalid, LeaseqError, Policy, Queue, State, webhooks
from leaseq.policy import FIELDS
from leaseq.simulation import Outcome, Plan, run
from leaseq.transfer import rfc3339
from leaseq.webapp import demo
from leaseq.webapp.context import accounts, note, person, state
from leaseq.webapp.forms.changes import form_changes
from leaseq.webapp.services.people import unassign_all
from leaseq.webapp.serving.time_slices import in_slices
from leaseq.webapp.store import queue_access
from leaseq.webapp.store.accounts.model import Person, at_least
from leaseq.webapp.store.announcements import Announcement
from leaseq.webapp.store.jobs.simulations import Simulations
from leaseq.webapp.store.queue_access import Access, Group, lacking_skills, skill_sets

log = logging.getLogger(__name__)

_LONG = 60  # characters of a value in the audit log


def configure(
    queue: Queue,
    before: Policy | None,
    *,
    expected: Policy | None = None,
    create_only: bool = False,
    source: str = "",
    **changes: Any,
) -> Policy:
    """Create the queue, or change its policy, which was ``before``. ``expected``: refuse if it is another one
    by now. ``source``: the file that a new queue is made from. Raises Invalid, PolicyChanged and
    QueueExists."""
    if before is None and queue.name == webhooks.QUEUE:
        raise Invalid("name", "reserved_name", name=queue.name)
    after = queue.configure(by=person().name, expected=expected, create_only=create_only, **changes)
    if before is None:
        note("queue.made", queue.name, file=source)
    elif after != before:
        note("queue.set", queue.name, **_policy_changes(before, after))
    return after


def create(name: str, *, source: str = "", **policy: Any) -> Queue:
    """Create a queue. Raises Invalid and QueueExists."""
    queue = Queue(state().client, name)
    configure(queue, None, create_only=True, source=source, **policy)
    return queue


def add_demo() -> None:
    """Create the demo queue, or add its items again."""
    existed = Queue(state().client, demo.QUEUE).exists()
    demo.add_demo(state().client)
    note("queue.imported" if existed else "queue.made", demo.QUEUE)


def delete(name: str, *, expected: Policy | None = None) -> None:
    """Delete a queue with all data about it in the web app, and log the number of items. Also finishes an
    interrupted deletion. Raises QueueNotFound, and PolicyChanged if the policy differs from ``expected``."""
    queue = Queue(state().client, name)
    try:
        stats = queue.stats()
        items = sum(getattr(stats, state) for state in STATES)
        counts = {"count": items, "held": stats.reserved}
    except leaseq.QueueNotFound:
        counts = {}
    queue.delete(expected=expected)
    state().access.forget_queue(name)  # takes effect immediately in this process
    note("queue.deleted", name, **counts)


def pause(queue: Queue, reason: str | None) -> None:
    queue.pause(reason, by=person().name)
    note("queue.paused", queue.name, reason=reason)


def resume(queue: Queue) -> None:
    queue.resume(by=person().name)
    note("queue.resumed", queue.name)


def stop(queue: Queue, name: str, reason: str | None) -> None:
    """Give a person no further item of the queue. Raises Invalid unless they may work on it."""
    stopped = worker_name(queue.name, name)
    queue.stop(stopped, reason, by=person().name)
    note("queue.person-stopped", queue.name, person=stopped, reason=reason)


def let_work(queue: Queue, name: str) -> None:
    """Let a stopped person have items again, also one who may not work on the queue by now."""
    queue.let_work(name, by=person().name)
    note("queue.person-let-work", queue.name, person=name)


def announce(queue: Queue, text: str, until: datetime | None) -> Announcement:
    """Show a line on the queue's work pages until it is ended, or until this time. Raises Invalid."""
    announcement = state().announcements.announce(queue.name, text, by=person().name, until=until)
    note("queue.announced", queue.name, announcement.text, until=rfc3339(until) if until else None)
    return announcement


def end_announcement(queue: Queue) -> None:
    if state().announcements.end(queue.name):
        note("queue.announcement-ended", queue.name)


class SeenCounts(NamedTuple):
    """How many have seen an announcement, of all who may work on the queue."""

    seen: int
    people: int


def seen_counts(queue: str, announcement: Announcement) -> SeenCounts:
    names = {account.name for account in people_of(queue) if not account.disabled}
    return SeenCounts(len(names & state().announcements.seen_by(queue, announcement)), len(names))


def clear(queue: Queue) -> Cleared:
    result = queue.clear()
    note("queue.cleared", queue.name)
    return result


def revive_all(queue: Queue, *, person_name: str | None, error: str | None, limit: int) -> int:
    """Return dead items to the queue: all, or those that match. Returns their number."""
    count = queue.revive_all(error=error, person=person_name, limit=limit, by=person().name)
    note("queue.revived", queue.name, count=count, person=person_name, error=error)
    return count


def remove_all(
    queue: Queue, list_name: State, *, person_name: str | None, error: str | None, limit: int
) -> int:
    """Delete the items in one state, or those that match, with their threads. Returns their number."""
    removed_ids: list[str] = []
    try:
        queue.remove_all(
            list_name,
            error=error,
            person=person_name,
            limit=limit,
            by=person().name,
            on_removed=removed_ids.append,
        )
    finally:  # also if the server fails half-way
        for id in removed_ids:
            state().threads.forget(queue.name, id)
        if removed_ids:
            count = len(removed_ids)
            note("queue.removed", queue.name, state=list_name, count=count, person=person_name, error=error)
    return len(removed_ids)


def unassign_person(queue: Queue, name: str) -> int:
    """Let anybody have what is assigned to one person. Returns the number of items."""
    return unassign_all(accounts(), queue, name, by=person().name)


class AccessChange(NamedTuple):
    """The new access, and how many items that were assigned to people who lost it anybody may have now."""

    access: Access
    unassigned: int


def people_of(queue: str) -> list[Person]:
    """The people who may work on the queue, by name: its managers must not see anybody else."""
    access = state().access.get(queue)
    return [person for person in accounts().people() if access.lets_work(person)]


def worker_name(queue: str, name: str, field: str = "person") -> str:
    """The stored name of somebody who can be assigned an item: they may sign in and work on the queue. Raises
    Invalid with this field for others."""
    return queue_access.worker_name(accounts(), state().access, queue, name, field)


def with_addressee(queue: str, item: leaseq.NewItem, known: dict[str, str]) -> leaseq.NewItem:
    """A new item that is addressed to somebody, with their stored name. ``known``: names that were looked up.
    Raises Invalid (field ``to``) unless they may work on the queue."""
    if item.to is not None and item.to not in known:
        known[item.to] = worker_name(queue, item.to, "to")
    return replace(item, to=known.get(item.to or ""))


def skill_sets_of(queue: str) -> set[frozenset[str]]:
    """The skills of each person who may work on the queue. Without a queue: on any."""
    return skill_sets(accounts().people(), state().access.get(queue))


def unmet_skills(queue: str, requires: Collection[str]) -> tuple[str, ...]:
    """Skills for which nobody could take an item: perhaps they are misspelt."""
    return lacking_skills(requires, skill_sets_of(queue)) if requires else ()


class UnmatchedName(NamedTuple):
    """A team or a skill of a group that no person who may sign in has."""

    kind: str  # teams or skills
    name: str


def unmatched_names(access: Access) -> list[UnmatchedName]:
    """The teams and skills of an access that match nobody: perhaps they are misspelt."""
    groups = [group for group in (access.work, access.manage) if group]
    if not any(group.teams or group.skills for group in groups):
        return []
    people = [person for person in accounts().people() if not person.disabled]
    teams, skills = (
        {person.team for person in people},
        {skill for person in people for skill in person.skills},
    )
    found = [UnmatchedName("teams", name) for group in groups for name in group.teams if name not in teams]
    found += [
        UnmatchedName("skills", name) for group in groups for name in group.skills if name not in skills
    ]
    return list(dict.fromkeys(found))


class Match(NamedTuple):
    """How many people a group matches, and the names of those who have the right now and would lose it.
    ``matched`` is None for everybody whose role allows it."""

    matched: int | None
    losing: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        return self.matched == 0


def matches_of(queue: str, after: Access) -> dict[str, Match]:
    """Who could work on a queue, and who could manage it, with another access."""
    before = state().access.get(queue)
    people = [person for person in accounts().people() if not person.disabled]
    managers = [person for person in people if at_least(person.role, "manager")]

    def match(group: Group | None, candidates: list[Person], lets: Callable[[Access, Person], bool]) -> Match:
        losing = (
            candidate.name
            for candidate in in_slices(candidates)
            if lets(before, candidate) and not lets(after, candidate)
        )
        matched = None if group is None else sum(map(group.includes, in_slices(candidates)))
        return Match(matched, tuple(losing))

    return {
        "work": match(after.work, people, Access.lets_work),
        "manage": match(after.manage, managers, Access.lets_manage),
    }


def change_access(queue: str, change: Callable[[Access], Access]) -> AccessChange:
    """Set a queue's access to the result of ``change``. What was assigned to people who may no longer work on
    it becomes available to everybody. Raises Invalid."""
    before, after = state().access.change(queue, lambda access: checked_access(change(access)))
    if after != before:
        changes = {name: pair for name, pair in _access_changes(before, after).items() if pair[0] != pair[1]}
        note("queue.access", queue, changes=changes)
    return AccessChange(after, _unassign_lost(Queue(state().client, queue), before, after))


def _unassign_lost(queue: Queue, before: Access, after: Access) -> int:
    if before == after:
        return 0
    assignees = {row.person for row in queue.waiting_rows()}
    lost = [
        person.name
        for person in accounts().people()
        if person.name in assignees and before.lets_work(person) and not after.lets_work(person)
    ]
    return sum(unassign_person(queue, name) for name in lost)


def checked_access(access: Access) -> Access:
    """The access, if this request's person may set it. Raises Invalid."""
    access = Access(_checked_group("work", access.work), _checked_group("manage", access.manage))
    if not access.lets_manage(person()):
        raise Invalid("manage", "access", what="own", name=person().name)
    return access


def _checked_group(field: str, group: Group | None) -> Group | None:
    if group is None:
        return None
    names = {person.name for person in accounts().people()}
    unknown_names = [name for name in group.people if name not in names]
    if unknown_names:
        raise Invalid(field, "not_found", what="person", name=unknown_names[0])
    return group


def _access_changes(before: Access, after: Access) -> dict[str, tuple[Any, Any]]:
    """Each group before and after, as the audit log stores it; None: everybody whose role allows it."""
    groups = {"work": (before.work, after.work), "manage": (before.manage, after.manage)}
    return {name: (_names(old), _names(new)) for name, (old, new) in groups.items()}


def _names(group: Group | None) -> dict[str, tuple[str, ...]] | None:
    return None if group is None else {"people": group.people, "teams": group.teams, "skills": group.skills}


_REPORT_SECONDS = 0.5
_stops: set[threading.Event] = set()  # of the simulations in this process


def simulate(queue: Queue, plan: Plan, lease_seconds: int | None) -> None:
    """Let simulated people work on the queue. ``lease_seconds``: the lease time meanwhile. Raises Invalid
    while others do."""
    before = queue.policy
    start_simulation(state().simulations, queue, plan, person().name, lease_seconds)
    note("queue.simulated", queue.name, **_policy_changes(before, queue.policy))


def stop_simulation(queue: Queue) -> None:
    state().simulations.stop(queue.name)
    note("queue.simulation-stopped", queue.name)


def start_simulation(
    simulations: Simulations, queue: Queue, plan: Plan, by: str, lease: int | None = None
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
        raise Invalid("simulation", "page", what="one_simulation")
    if lease and lease != own_seconds:
        queue.configure(by=by, lease_seconds=lease)
    worker = _Simulation(simulations, queue, plan, id)
    thread = threading.Thread(target=worker.run, name="simulation", daemon=True)
    thread.start()
    return thread


def restore_lease_time(simulations: Simulations, queue: Queue) -> None:
    """Restore a queue's own lease seconds, if a run that has ended changed them."""
    latest_run = simulations.latest(queue.name)
    if latest_run and not latest_run.running and latest_run.lease is not None:
        if queue.policy.lease_seconds == latest_run.trial_lease:  # otherwise somebody has changed it since
            queue.configure(by=latest_run.by, lease_seconds=latest_run.lease)
        simulations.mark_restored(queue.name)


class _Simulation:
    """One simulation: reports its progress, and ends when any process stops it."""

    def __init__(self, simulations: Simulations, queue: Queue, plan: Plan, id: str) -> None:
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


def stop_simulations() -> None:
    """End the simulations of this process; their people give back the items they hold."""
    for stop in tuple(_stops):
        stop.set()


def _policy_changes(before: Policy, after: Policy) -> dict[str, Any]:
    """The changes for the audit log: each field's value before and after; of the form, what was changed."""
    pairs = {name: (getattr(before, name), getattr(after, name)) for name in FIELDS}
    changes = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
    forms = changes.pop("form", None)
    return {
        "changes": {name: tuple(map(_shortened, pair)) for name, pair in changes.items()} or None,
        "form": form_changes(*forms) if forms else None,
    }


def _shortened(value: Any) -> Any:
    """A value for the audit log; a long text is cut off."""
    return f"{value[:_LONG]}…" if isinstance(value, str) and len(value) > _LONG else value
