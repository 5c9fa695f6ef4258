"""Erasing a person: no key except the journals keeps their name, and their work is kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

import leaseq
from leaseq import webhooks
from leaseq.engine.keys import WEBHOOK_EVENTS
from leaseq.webapp.services import people
from leaseq.webapp.store.accounts import Accounts, model
from leaseq.webapp.store.accounts.people import NoSuchPerson
from leaseq.webapp.store.activity import Activity
from leaseq.webapp.store.list_settings import ListSettingsStore
from leaseq.webapp.store.person_data import UnreadableQueues, person_document
from leaseq.webapp.store.queue_access import Group, QueueAccess
from leaseq.webapp.store.threads import Threads
from tests.conftest import Server
from tests.engine import server_contents
from tests.support.refused import refused, unavailable
from tests.web.conftest import PASSWORD
from tests.web.store.conftest import NAME, OTHER_NAME, erase, shown_name


def keys_with_name(server: Server) -> set[str]:
    """The keys with the person's name in their own name or in their values, in any spelling."""

    def spellings(name: str) -> list[bytes]:
        texts = (name, name.replace(" ", "\a"), shown_name(name))
        return [spelling for text in texts for spelling in (text.encode(), json.dumps(text)[1:-1].encode())]

    matches = set()
    for key in server.redis.scan_iter(count=10_000):
        texts = (key, *server_contents.texts(READERS[server.redis.type(key)](server.redis, key)))
        text = b"\n".join(texts)
        for other_spelling in spellings(OTHER_NAME):
            text = text.replace(other_spelling, b"")
        if any(spelling in text for spelling in spellings(NAME)):
            matches.add(key.decode())
    return matches


READERS: dict[bytes, Callable[[Any, bytes], Any]] = {
    b"hash": lambda redis, key: redis.hgetall(key),
    b"set": lambda redis, key: list(redis.smembers(key)),
    b"zset": lambda redis, key: redis.zrange(key, 0, -1),
    b"list": lambda redis, key: redis.lrange(key, 0, -1),
    b"stream": lambda redis, key: redis.xrange(key),
    b"string": lambda redis, key: redis.get(key),
}


def test_erased_name_remains_only_in_journal(
    filled_queue: leaseq.Queue, server: Server, accounts: Accounts
) -> None:
    before = keys_with_name(server)
    assert len(before) > 25
    erased_person = erase(server, accounts)
    assert keys_with_name(server) == {"leaseq:{work}:journal"}
    assert (erased_person.items, erased_person.leases) == (2, 1)
    (erased_queue,) = [queue for queue in erased_person.queues if queue.queue == "work"]
    assert erased_queue.journal_since == filled_queue.journal(limit=1)[0].at
    assert accounts.erasures.all() == []
    with pytest.raises(NoSuchPerson):
        accounts.get(NAME)


def test_data_of_others_is_kept(filled_queue: leaseq.Queue, server: Server, accounts: Accounts) -> None:
    def export_other() -> dict[str, Any]:
        document = json.loads("".join(person_document(server.client, accounts, OTHER_NAME)))
        return {name: value for name, value in document.items() if name != "exported_at"}

    before, factors = export_other(), accounts.factors.names()
    erase(server, accounts)
    after = export_other()
    assert after == before
    assert accounts.factors.names() == factors - {NAME}
    assert len(after["items"]) == 2
    assert QueueAccess(server.client).get("of both").manage == Group(people=(OTHER_NAME,))


def test_work_of_erased_person_is_kept_under_pseudonym(
    filled_queue: leaseq.Queue, server: Server, accounts: Accounts
) -> None:
    before = [replace(entry, cursor="") for entry in accounts.log.page(limit=500, kind="item").entries]
    raw_entries = server.redis.xrange(model.LOG)
    erased_person = erase(server, accounts)
    pseudonym = erased_person.pseudonym
    assert [message.person for message in Threads(server.client).of_item("work", "0")] == [
        pseudonym,
        OTHER_NAME,
    ]
    assert {answer.person for answer in filled_queue.answers()} == {pseudonym, OTHER_NAME}
    assert QueueAccess(server.client).get(f"of {len(NAME)}").work == Group(people=(pseudonym,))
    assert f"person={pseudonym}&q=x" in ListSettingsStore(server.client).get("work").views.values()
    after = accounts.log.page(limit=500, kind="item").entries
    assert [(entry.at, entry.what, entry.about) for entry in after] == [
        (entry.at, entry.what, entry.about) for entry in before
    ]
    assert [entry.detail for entry in after if entry.by == pseudonym] == [
        f"person: {pseudonym}, reason: ask Ännchen"
    ]
    assert [id for id, _ in server.redis.xrange(model.LOG)][: len(raw_entries)] == [
        id for id, _ in raw_entries
    ]
    last_entry = accounts.log.page(limit=1, kind="person").entries[0]
    assert (last_entry.by, last_entry.what, last_entry.about) == ("root", "person.erased", pseudonym)
    accounts.log.write("root", "queue.set", "work")
    assert accounts.log.latest(1)[0].what == "queue.set"


def test_sessions_tokens_and_links_of_erased_person_end(
    filled_queue: leaseq.Queue, server: Server, accounts: Accounts
) -> None:
    """Also links that the person made for others."""
    client = server.client
    session, token = accounts.sessions.start(accounts.get(NAME)), accounts.create_token(NAME, "b", by=NAME)
    link, invitation = accounts.password_link("root", by=NAME), accounts.invite(by=NAME, name="newcomer")
    other_invitation = accounts.invite(by=OTHER_NAME, name="another")
    accounts.begin_erasure(NAME, by="root")
    lookups: list[Callable[[], object]] = [
        lambda: accounts.sessions.person(session),
        lambda: accounts.callers.find(token),
        lambda: accounts.password_link_owner(link),
        lambda: accounts.invitation(invitation),
        lambda: accounts.verify(NAME, PASSWORD),
    ]
    assert [look_up() for look_up in lookups] == [None] * len(lookups)
    assert accounts.invitation(other_invitation)
    erase(server, accounts)
    accounts.add(NAME, by="root", password=PASSWORD)
    assert [look_up() for look_up in lookups[:-1]] == [None] * (len(lookups) - 1), (
        "and does not open a new person's account"
    )
    assert not Activity(client).today(NAME, "work")
    assert leaseq.Queue(client, "work").mine(NAME) == []


@pytest.mark.parametrize("function_name", ["_erase_in", "erase_in_stores", "finish_erasure", "rename_in_log"])
def test_interrupted_erasure_is_completed_by_next_erasure(
    filled_queue: leaseq.Queue,
    server: Server,
    accounts: Accounts,
    monkeypatch: pytest.MonkeyPatch,
    function_name: str,
) -> None:
    def raise_unavailable(*_: Any) -> None:
        raise unavailable()

    with monkeypatch.context() as patch:
        owner = accounts if function_name == "finish_erasure" else people
        patch.setattr(
            accounts.traces if function_name == "rename_in_log" else owner, function_name, raise_unavailable
        )
        with pytest.raises(leaseq.ServerUnavailable):
            erase(server, accounts)
    (erasure,) = accounts.erasures.all()
    ways_to_add: list[Callable[[], object]] = [
        lambda: accounts.add(NAME, by="root"),
        lambda: accounts.accept(accounts.invite(by="root"), NAME, PASSWORD),
    ]
    for add_again in ways_to_add:
        with refused("taken", what="erasure") as error:
            add_again()
        assert error.value.field == "name"
    assert erase(server, accounts, by="somebody").pseudonym == erasure.pseudonym
    assert keys_with_name(server) == {"leaseq:{work}:journal"}
    accounts.add(NAME, by="root")


@pytest.mark.parametrize(
    ("age", "remaining"),
    [
        pytest.param(0.5, people.SETTLE_SECONDS - 0.5, id="begun now"),
        pytest.param(60, 0, id="begun long ago, interrupted"),
    ],
)
def test_erasure_waits_for_caches_of_other_processes(
    filled_queue: leaseq.Queue,
    server: Server,
    accounts: Accounts,
    monkeypatch: pytest.MonkeyPatch,
    age: float,
    remaining: float,
) -> None:
    erasure = accounts.begin_erasure(NAME, by="root")
    monkeypatch.setattr(people, "time", SimpleNamespace(time=lambda: erasure.began + age))
    waits: list[float] = []
    people.erase_person(server.client, accounts, NAME, by="root", wait=waits.append)
    assert waits == [pytest.approx(remaining)]


@pytest.mark.parametrize("erases_another", [False, True])
def test_log_entries_written_during_erasure_are_kept(
    filled_queue: leaseq.Queue,
    server: Server,
    accounts: Accounts,
    monkeypatch: pytest.MonkeyPatch,
    erases_another: bool,
) -> None:
    """Even if another erasure copies the log at the same time."""
    read_entries, calls = accounts.traces._entries, 0

    def write_meanwhile(stream: str) -> Any:
        nonlocal calls
        yield from read_entries(stream)
        calls += stream == model.LOG
        if calls == 1:  # the log is being copied
            accounts.log.write("root", "queue.set", "work", f"by {NAME}")
            monkeypatch.setattr(accounts.traces, "_entries", read_entries)
            if erases_another:
                accounts.traces.rename_in_log(OTHER_NAME, "erased-other")

    monkeypatch.setattr(accounts.traces, "_entries", write_meanwhile)
    count = len(server.redis.xrange(model.LOG))
    erased_person = erase(server, accounts)
    entries = accounts.log.page(limit=1_000, kind="queue").entries
    assert [entry.detail for entry in entries if entry.what == "queue.set"] == [
        f"by {erased_person.pseudonym}"
    ]
    assert len(server.redis.xrange(model.LOG)) == count + 2
    assert not [key for key in server.redis.scan_iter() if b"log-copy" in key]
    authors = {fields[b"by"].decode() for _, fields in server.redis.xrange(model.LOG)}
    assert {OTHER_NAME, NAME} & authors == (set() if erases_another else {OTHER_NAME})


def test_only_admin_can_not_be_erased(filled_queue: leaseq.Queue, server: Server, accounts: Accounts) -> None:
    for name in (NAME, OTHER_NAME):
        erase(server, accounts, name)
    before = keys_with_name(server)
    with refused("only_admin") as error:
        erase(server, accounts, "root", by="the command line")
    assert error.value.field == "name"
    assert accounts.verify("root", PASSWORD)
    assert accounts.erasures.all() == []
    assert keys_with_name(server) == before


def test_self_erasure_leaves_name_only_in_journal(
    filled_queue: leaseq.Queue, server: Server, accounts: Accounts
) -> None:
    erase(server, accounts, NAME, by=NAME)
    assert keys_with_name(server) == {"leaseq:{work}:journal"}


def test_erasure_with_unreadable_queue_is_completed_later(
    filled_queue: leaseq.Queue, server: Server, accounts: Accounts
) -> None:
    status = server.redis.hget("leaseq:{work}:ledger", "status")
    server.redis.hset("leaseq:{work}:ledger", "status", b"v9 " + status)
    with pytest.raises(UnreadableQueues, match="a newer version of leaseq wrote work"):
        erase(server, accounts)
    assert len(accounts.erasures.all()) == 1
    server.redis.hset("leaseq:{work}:ledger", "status", status)
    erase(server, accounts)
    assert keys_with_name(server) == {"leaseq:{work}:journal"}


def test_webhook_receivers_get_one_removal_event_with_name(
    filled_queue: leaseq.Queue, server: Server, accounts: Accounts
) -> None:
    endpoints = webhooks.Endpoints(server.client)
    people_endpoint = endpoints.add("https://example.org/people", events=["person.*"], by="root").endpoint
    erasure = accounts.begin_erasure(NAME, by="root")
    webhooks.notify_person_removed(server.client, NAME, by="root", request_id=erasure.pseudonym)
    erase(server, accounts)
    deliveries = webhooks.Deliveries(server.client).log(people_endpoint.id)
    assert [(delivery.type, delivery.body["data"]) for delivery in deliveries] == [
        ("person.removed", {"name": NAME, "by": "root", "detail": ""})
    ]
    events = json.dumps([fields[b"data"].decode() for _, fields in server.redis.xrange(WEBHOOK_EVENTS)])
    assert json.dumps(json.dumps(NAME)[1:-1])[1:-1] not in events
    assert {endpoint.created_by for endpoint in endpoints.all()} >= {"root", OTHER_NAME}
    assert NAME not in {endpoint.created_by for endpoint in endpoints.all()}
