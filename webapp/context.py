"""Request context: the server, the accounts, the person."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import monotonic
from typing import Any, Literal, cast

from flask import Flask, current_app, g, request

import leaseq
from leaseq import validation, webhooks
from leaseq.names import nearest
from leaseq.webapp.files.kept import Files
from leaseq.webapp.realtime.poller import Poller
from leaseq.webapp.realtime.snapshot import Snapshots
from leaseq.webapp.serving.capacity import Waits
from leaseq.webapp.serving.middleware import HttpMetrics, RequestSlots
from leaseq.webapp.settings import Settings
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.accounts.model import Person
from leaseq.webapp.store.activity import Activity, Breaks
from leaseq.webapp.store.announcements import Announcements
from leaseq.webapp.store.idempotency import IdempotencyStore
from leaseq.webapp.store.jobs.imports import ImportJobs
from leaseq.webapp.store.jobs.simulations import Simulations
from leaseq.webapp.store.jobs.undo import UndoStore
from leaseq.webapp.store.list_settings import ListSettingsStore
from leaseq.webapp.store.open_calls import OpenCalls
from leaseq.webapp.store.queue_access import QueueAccess
from leaseq.webapp.store.samples import Samples
from leaseq.webapp.store.threads import Threads

EXTENSION = "leaseq"
FRESH_SECONDS = 1.0
"""How long a SharedQueue uses its policy before it reads it again."""


@dataclass(frozen=True, slots=True)
class State:
    """The parts of the app that all requests share."""

    settings: Settings
    client: leaseq.Client
    accounts: Accounts
    request_slots: RequestSlots
    waits: Waits
    snapshots: Snapshots
    poller: Poller
    activity: Activity
    http_metrics: HttpMetrics
    idempotency: IdempotencyStore
    open_calls: OpenCalls
    threads: Threads
    simulations: Simulations
    imports: ImportJobs
    lists: ListSettingsStore
    undo: UndoStore
    samples: Samples
    access: QueueAccess
    breaks: Breaks
    announcements: Announcements
    files: Files | None  # None: this app keeps none
    shared_queue: Callable[[str], SharedQueue]  # one object for each name


def this_app() -> Flask:
    """The app object itself; the proxy ``current_app`` would look it up for each attribute."""
    return cast("Flask", current_app._get_current_object())  # type: ignore[attr-defined]  # noqa: SLF001


def this_context() -> Any:
    """The object itself that ``g`` looks up for each attribute."""
    return g._get_current_object()  # noqa: SLF001


def state() -> State:
    return cast("State", this_app().extensions[EXTENSION])


def max_file_bytes() -> int | None:
    """The largest file that people may send; None: the app keeps none."""
    files = state().files
    return files.max_bytes if files else None


def accounts() -> Accounts:
    return state().accounts


def person() -> Person:
    """The person who is signed in, or whose token this is. Authorization lets no other request pass."""
    return cast("Person", this_context().person)


def note(what: str, about: str, text: str = "", **values: Any) -> None:
    """Write an act of the request's person to the audit log, with its details: see `store.accounts.log`. The
    page of the audit log has a sentence for each act, and a label for each detail."""
    accounts().log.note(person().name, what, about, text, **values)


def wants_fragment() -> bool:
    """Whether the request is by a page's script that wants the fragment to swap in, not the whole page."""
    return "X-Leaseq-Fragment" in request.headers


class QueueOfRequest(leaseq.Queue):
    """A queue that reads its policy once per request. `find_policy` reads it again, as finish does when its
    script reports another form."""

    known_policy: leaseq.Policy | None = None

    @property
    def policy(self) -> leaseq.Policy:
        return self.known_policy or super().policy

    def find_policy(self) -> leaseq.Policy | None:
        self.known_policy = super().find_policy()
        return self.known_policy

    def configure(self, **changes: Any) -> leaseq.Policy:
        self.known_policy = None
        self.known_policy = super().configure(**changes)
        return self.known_policy


class SharedQueue(leaseq.Queue):
    """A queue that all requests of a process share. Whether it exists is not checked here, since the scripts
    of the lease operations check it. Its policy is read at most once a second; if the form has changed since
    then, finish's script reports it, and the form is read again."""

    _cache: tuple[leaseq.Policy, float] | None = None  # and when it expires

    @property
    def policy(self) -> leaseq.Policy:
        cache = self._cache
        if cache is not None and cache[1] > monotonic():
            return cache[0]
        policy = self.find_policy()
        if policy is None:
            self.stats()  # raises it, and says whether the queue was deleted
            raise leaseq.QueueNotFound(self.name)
        return policy

    @property
    def title(self) -> str:
        """What pages call it: its name, if it has no title or can't be read."""
        try:
            return self.policy.title or self.name
        except (leaseq.QueueNotFound, leaseq.QueueUnreadable):
            return self.name

    def find_policy(self) -> leaseq.Policy | None:
        policy = super().find_policy()
        self._cache = (policy, monotonic() + FRESH_SECONDS) if policy else None
        return policy


def queue_names(to: Literal["work", "manage"] = "work") -> list[str]:
    """The names of the queues that the request's person may work on, or manage, without the queue of webhook
    deliveries."""
    caller, access = person(), state().access
    names = (name for name in leaseq.queues(state().client) if name != webhooks.QUEUE)
    if to == "manage":
        return [name for name in names if access.get(name).lets_manage(caller)]
    return [name for name in names if access.get(name).lets_work(caller)]


def queue_titles(names: Iterable[str]) -> dict[str, str]:
    """The title of each queue, as people see it: see `SharedQueue.title`."""
    return {name: state().shared_queue(name).title for name in names}


def named_queue(name: str) -> str:
    """Check the name of a queue in a request's field. Raises Invalid unless the person may work on it."""
    name = validation.queue_name(name)
    if name not in (names := queue_names()):
        near = nearest(name, names)
        if near is None:
            raise leaseq.Invalid("queue", "not_found", what="queue", name=name)
        raise leaseq.Invalid("queue", "not_found", what="misspelt_queue", name=name, near=near)
    return name


def existing_queue(name: str) -> leaseq.Queue:
    """The queue of this name. Raises QueueNotFound if it doesn't exist, since reading must not create it.
    One object serves the whole request."""
    queues: dict[str, QueueOfRequest] = this_context().setdefault("queues", {})
    queue = queues.setdefault(name, QueueOfRequest(state().client, name))
    if queue.known_policy is None and queue.find_policy() is None:
        queue.stats()  # raises it, and says whether the queue was deleted
        raise leaseq.QueueNotFound(name)
    return queue


def form_of(queue: leaseq.Queue, item: leaseq.Item | leaseq.Lease) -> leaseq.Json:
    """The form that counts for an item: its own, else the queue's."""
    return queue.policy.form if item.form is None else item.form


def lease_queue(name: str) -> leaseq.Queue:
    """The queue of this name, for operations on leases: see SharedQueue."""
    return state().shared_queue(name)
