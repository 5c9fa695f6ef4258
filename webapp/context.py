"""Request context: the server, the accounts, the person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from flask import current_app, g, request

import leaseq
from leaseq.webapp.realtime import LiveUpdates
from leaseq.webapp.serving.http_metrics import HttpMetrics
from leaseq.webapp.serving.long_poll import LongPollSlots
from leaseq.webapp.settings import Settings
from leaseq.webapp.store.accounts import Accounts, Person
from leaseq.webapp.store.activity import Activity
from leaseq.webapp.store.idempotency import IdempotencyStore

EXTENSION = "leaseq"


@dataclass(frozen=True, slots=True)
class State:
    """The parts of the app that all requests share."""

    settings: Settings
    client: leaseq.Client
    accounts: Accounts
    long_poll_slots: LongPollSlots
    live: LiveUpdates
    activity: Activity
    http_metrics: HttpMetrics
    idempotency: IdempotencyStore


def state() -> State:
    return cast("State", current_app.extensions[EXTENSION])


def accounts() -> Accounts:
    return state().accounts


def person() -> Person:
    """The person who is signed in, or whose token this is. Authorization lets no other request pass."""
    return cast("Person", g.person)


def wants_piece() -> bool:
    """Whether a page's script requests, by this header, the fragment that it swaps in, and not the page."""
    return "X-Leaseq-Piece" in request.headers


class QueueOfRequest(leaseq.Queue):
    """A queue that reads its policy once per request."""

    _read: leaseq.Policy | None = None

    @property
    def policy(self) -> leaseq.Policy:
        if self._read is None:
            self._read = super().policy
        return self._read

    def find_policy(self) -> leaseq.Policy | None:
        self._read = super().find_policy()
        return self._read

    def configure(self, **changes: Any) -> leaseq.Policy:
        self._read = None
        self._read = super().configure(**changes)
        return self._read


def existing_queue(name: str) -> leaseq.Queue:
    """The queue of this name. Raises QueueNotFound if there is none, since reading must not create it."""
    queue = QueueOfRequest(state().client, name)
    if queue.find_policy() is None:
        raise leaseq.QueueNotFound(name)
    return queue
