"""When the library deletes a queue, the web app's and the webhooks' data about it is deleted too."""

from __future__ import annotations

from typing import Any

import pytest

import leaseq
from leaseq import webhooks
from leaseq.engine.keys import Keys
from leaseq.simulation import Plan
from leaseq.webapp.manage.importing.mapping import ImportMapping
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.accounts import model as account_keys
from leaseq.webapp.store.activity import Activity
from leaseq.webapp.store.announcements import Announcements
from leaseq.webapp.store.jobs.imports import ImportJobs
from leaseq.webapp.store.jobs.simulations import Simulations
from leaseq.webapp.store.jobs.undo import Changed, UndoStore
from leaseq.webapp.store.list_settings import ListSettingsStore
from leaseq.webapp.store.queue_access import Access, Group, QueueAccess
from leaseq.webapp.store.samples import Samples
from leaseq.webapp.store.threads import Threads
from tests.conftest import Server
from tests.support.leases import take

READ_COMMANDS = {b"hash": "hgetall", b"set": "smembers", b"stream": "xrange", b"string": "get"}


def contents(redis: Any, key: bytes) -> str:
    kind = redis.type(key)
    if kind in (b"zset", b"list"):
        return str(redis.zrange(key, 0, -1) if kind == b"zset" else redis.lrange(key, 0, -1))
    return str(getattr(redis, READ_COMMANDS[kind])(key)) if kind in READ_COMMANDS else ""


def keys_that_name(server: Server, name: str) -> set[str]:
    """The keys with a queue's name in their own name or in their values."""
    all_keys = server.redis.scan_iter(count=10_000)
    return {key.decode() for key in all_keys if name in key.decode() or name in contents(server.redis, key)}


def fill(client: leaseq.Client, accounts: Accounts, name: str) -> str:
    """Use every feature with a queue; return the secret of a token for this queue only."""
    queue, threads = leaseq.Queue(client, name), Threads(client)
    queue.enqueue_many([{}, {}])
    lease = take(queue, "ann")
    threads.ask(name, lease.id, "ann", "Is it?", message="one")
    threads.ask(name, "another:item", "ann", "Was it?", message="two")
    threads.answer(name, lease.id, "meg", "It is", message="three")
    QueueAccess(client).set(name, Access(work=Group(people=("ann",))))
    lists, jobs = ListSettingsStore(client), ImportJobs(client)
    lists.choose_columns(name, ["payload.x"])
    lists.save_view(name, "mine", "state=dead")
    for _ in range(12):  # the latest ten are listed
        jobs.create(name, "meg", ImportMapping("rows.csv", "csv").to_record())
    undo = UndoStore(client)
    undo.add(name, undo.begin(name), [Changed("0", {"priority": 1}, {"priority": 2})], earlier=0)
    Samples(client).record({name: queue.stats()})
    announcements = Announcements(client)
    announcements.respond(name, announcements.announce(name, "Lunch", by="meg").id, "ann", "seen")
    Simulations(client).begin(name, "meg", Plan())
    activity = Activity(client)
    activity.record("ann", name, "finished", id=lease.id, token=lease.token, held_ms=5)
    activity.flush()
    return accounts.create_token("ann", f"of {name[:1]}", by="ann", queue=name)


@pytest.fixture
def queue_token(server_of_pages: Server, accounts: Accounts) -> str:
    """A token for `one-to-delete`, one of two queues in use; the other is `another-one`."""
    if accounts.find("ann") is None:
        accounts.add("ann", by="test", role="worker")
    accounts.revoke_tokens("ann", by="test")
    endpoints = webhooks.Endpoints(server_of_pages.client)
    for endpoint in endpoints.all():
        endpoints.remove(endpoint.id)
    endpoints.add("https://example.org/alone", by="meg", queues=["one-to-delete"])
    endpoints.add("https://example.org/both", by="meg", queues=["one-to-delete", "another-one"])
    fill(server_of_pages.client, accounts, "another-one")
    return fill(server_of_pages.client, accounts, "one-to-delete")


def test_deleted_queue_is_named_only_in_expected_keys(
    queue_token: str, server: Server, accounts: Accounts
) -> None:
    """With only the library's rights; and the data of other queues stays."""
    threads, other_keys = Threads(server.client), keys_that_name(server, "another-one")
    assert len(keys_that_name(server, "one-to-delete")) > 30
    assert accounts.callers.find(queue_token) is not None
    leaseq.Queue(server.client, "one-to-delete").delete()
    # The number of its last token, the audit log, a person's notice of a new token, and the webhook for
    # this queue only.
    remaining_keys = {Keys("one-to-delete").deleted, account_keys.LOG, account_keys.notices_key("ann")}
    remaining_keys.add("leaseq:{@webhooks}:endpoints")
    assert keys_that_name(server, "one-to-delete") == remaining_keys
    assert keys_that_name(server, "another-one") == other_keys
    assert {queue for queue, _ in threads.asked_by("ann")} == {"another-one"}
    assert [token.queue for token in accounts.tokens("ann")] == ["another-one"]


def test_new_queue_of_same_name_inherits_nothing(queue_token: str, server_of_pages: Server) -> None:
    client, name = server_of_pages.client, "one-to-delete"
    leaseq.Queue(client, name).delete()
    leaseq.Queue(client, name).configure()
    assert QueueAccess(client).get(name) == Access()
    assert ListSettingsStore(client).get(name).views == {}
    assert Threads(client).count_unanswered(name) == 0
    assert Simulations(client).latest(name) is None
    assert ImportJobs(client).latest(name) == []
    assert Announcements(client).get(name) is None
    assert not Activity(client).today("ann", name)
    assert Activity(client).today("ann", "another-one")


def test_webhook_of_deleted_queue_only_is_disabled(queue_token: str, server_of_pages: Server) -> None:
    leaseq.Queue(server_of_pages.client, "one-to-delete").delete()
    endpoints = webhooks.Endpoints(server_of_pages.client).all()
    assert {
        (endpoint.url.rpartition("/")[2], endpoint.queues, endpoint.disabled_why) for endpoint in endpoints
    } == {
        ("alone", ("one-to-delete",), "its queue was deleted"),
        ("both", ("another-one",), None),
    }
