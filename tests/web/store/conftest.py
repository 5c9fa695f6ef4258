"""A person whose data is in every store."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

import leaseq
from leaseq import webhooks
from leaseq.simulation import Plan
from leaseq.webapp.manage.importing.mapping import ImportMapping
from leaseq.webapp.services.people import ErasedPerson, erase_person
from leaseq.webapp.store.accounts import Accounts, model
from leaseq.webapp.store.activity import Activity, Breaks
from leaseq.webapp.store.announcements import Announcements
from leaseq.webapp.store.idempotency import IdempotencyStore, StoredResponse
from leaseq.webapp.store.jobs.imports import ImportJobs
from leaseq.webapp.store.jobs.simulations import Simulations
from leaseq.webapp.store.jobs.undo import Changed, UndoStore
from leaseq.webapp.store.list_settings import ListSettingsStore
from leaseq.webapp.store.open_calls import OpenCalls
from leaseq.webapp.store.queue_access import Access, Group, QueueAccess
from leaseq.webapp.store.threads import Threads
from tests.conftest import Server
from tests.support.leases import take
from tests.web.conftest import PASSWORD

NAME = "Änn [o]*"  # contains characters of glob patterns, and is not ASCII
OTHER_NAME = "Änn [o]*x"


def shown_name(name: str) -> str:
    return f"Shown {len(name)} Zoë"


@pytest.fixture
def filled_queue(server: Server, accounts: Accounts) -> Iterator[leaseq.Queue]:
    server.redis.flushall()
    fill(server.client, accounts)
    yield leaseq.Queue(server.client, "work")
    server.redis.flushall()


def fill(client: leaseq.Client, accounts: Accounts) -> None:
    """Both people use every feature; the admin is a third person."""
    accounts.add("root", by="test", role="admin", password=PASSWORD)
    queue, threads, jobs = leaseq.Queue(client, "work"), Threads(client), ImportJobs(client)
    queue.configure(answers=2)
    queue.enqueue_many([leaseq.NewItem({"n": n}, id=f"{n}") for n in range(4)])
    for name in (NAME, OTHER_NAME):
        accounts.add(name, by="root", role="admin", team="red", password=PASSWORD)
        accounts.change(name, by="root", shown_name=shown_name(name))
        accounts.create_token(name, "a program", by=name)
        accounts.password_link("root", by=name)
        accounts.password_link(name, by="root")
        accounts.invite(by=name)
        accounts.sign_ins.log_failure(name, "password", "10.0.0.1")
        accounts.sign_ins.log_success(name, "password", "10.0.0.1")
        accounts.sign_ins.log_failure(name, "password", "10.0.0.1")
        accounts.sessions.start(accounts.get(name))
        accounts.factors.offer(name)
        accounts.allow_provider_link(name, by="root")
        accounts.allow_provider_link("root", by=name)
        accounts.link_provider(name, f"subject of {name}")
        accounts.set_password("root", PASSWORD, by=name)
        accounts.log.write(name, "item.assigned", "work / 1", f"person: {name}, reason: ask Ännchen")
        lease = take(queue, name)
        queue.finish(lease, {"v": 1})
        queue.save_draft(take(queue, name), {"half": 1})
        threads.ask("work", "0", name, "Is it?", message=f"{len(name)}")
        QueueAccess(client).set(f"of {len(name)}", Access(work=Group(people=(name,))))
        ListSettingsStore(client).save_view("work", f"of {len(name)}", f"person={name}&q=x")
        undo, changed = UndoStore(client), [Changed("0", {"assigned_to": [name]}, {"assigned_to": []})]
        undo.add("work", undo.begin("work"), changed, earlier=0)
        Simulations(client).begin("work", name, Plan())  # the second one is refused
        jobs.create("work", name, ImportMapping("rows.csv", "csv").to_record())
        activity = Activity(client)
        activity.record(name, "work", "finished", id="0", token=lease.token, held_ms=5)
        activity.flush()
        be_present(client, name)
        IdempotencyStore(client).keep(name, "scope", StoredResponse("h", 200, {}, b"body"))
        webhooks.Endpoints(client).add(f"https://example.org/{len(name)}", by=name)
    QueueAccess(client).set("of both", Access(manage=Group(people=(NAME, OTHER_NAME))))
    accounts._redis.hset(model.FACTORS, NAME, json.dumps({"secret": "x", "since": 1}))
    accounts._redis.hset(model.recovery_key(NAME), "hash", 1)


def be_present(client: leaseq.Client, name: str) -> None:
    """A page is open, during a break, and an announcement was made and seen."""
    announcements, queue = Announcements(client), f"of {len(name)}"
    Breaks(client).take(name)
    OpenCalls(client).begin("streams", name)
    announcements.respond(queue, announcements.announce(queue, "Lunch", by=name).id, name, "seen")


def erase(server: Server, accounts: Accounts, name: str = NAME, by: str = "root") -> ErasedPerson:
    return erase_person(server.client, accounts, name, by=by, wait=lambda _: None)
