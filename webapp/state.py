"""What a request needs of the app: the server, the accounts, the person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from flask import current_app, g

import leaseq
from webapp.accounts import Accounts, Person
from webapp.days import Days
from webapp.live import Live
from webapp.settings import Settings
from webapp.traffic import Traffic
from webapp.waits import Waits

EXTENSION = "leaseq"


@dataclass(frozen=True, slots=True)
class State:
    settings: Settings
    client: leaseq.Client
    accounts: Accounts
    waits: Waits
    live: Live
    days: Days
    traffic: Traffic


def state() -> State:
    return cast("State", current_app.extensions[EXTENSION])


def accounts() -> Accounts:
    return state().accounts


def person() -> Person:
    """Who is signed in, or whose token this is. The gate let nobody else pass."""
    return cast("Person", g.person)


def queue(name: str) -> leaseq.Queue:
    """The queue of this name, or QueueNotFound: over HTTP only PUT and the page for it make one."""
    found = leaseq.Queue(state().client, name)
    if not found.exists():
        raise leaseq.QueueNotFound(name)
    return found
