"""A person is erased: no key of the server has their name but the journals; what is done counts as before."""

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
from leaseq.webapp.store import erasing
from leaseq.webapp.store.accounts import Accounts, keys
from leaseq.webapp.store.accounts.people import NoSuchPerson
from leaseq.webapp.store.activity import Activity
from leaseq.webapp.store.erasing import erase_person
from leaseq.webapp.store.list_settings import ListsSettings
from leaseq.webapp.store.person_export import person_document
from leaseq.webapp.store.queue_access import Group, QueueAccess
from leaseq.webapp.store.threads import Threads
from tests.conftest import Server
from tests.engine import looking
from tests.web.conftest import PASSWORD
from tests.web.store.conftest import NAME, OTHER, erase


def naming(server: Server) -> set[str]:
    """The keys that have the name of the one, in theirs or in what is in them, in any spelling."""

    def spellings(name: str) -> list[bytes]:
        return [name.encode(), json.dumps(name)[1:-1].encode(), name.replace(" ", "\a").encode()]

    found = set()
    for key in server.redis.scan_iter(count=10_000):
        texts = (key, *looking.texts(READS[server.redis.type(key)](server.redis, key)))
        text = b"\n".join(texts)
        for other in spellings(OTHER):
            text = text.replace(other, b"")
        if any(one in text for one in spellings(NAME)):
            found.add(key.decode())
    return found


READS: dict[bytes, Callable[[Any, bytes], Any]] = {
    b"hash": lambda redis, key: redis.hgetall(key),
    b"set": lambda redis, key: list(redis.smembers(key)),
    b"zset": lambda redis, key: redis.zrange(key, 0, -1),
    b"list": lambda redis, key: redis.lrange(key, 0, -1),
    b"stream": lambda redis, key: redis.xrange(key),
    b"string": lambda redis, key: redis.get(key),
}


def test_no_key_has_the_name_but_the_journal(
    filled: leaseq.Queue, server: Server, accounts: Accounts
) -> None:
    before = naming(server)
    assert len(before) > 25
    done = erase(server, accounts)
    assert naming(server) == {"leaseq:{work}:journal"}
    assert (done.items, done.leases) == (2, 1)
    (work,) = [one for one in done.queues if one.queue == "work"]
    assert work.journal_since == filled.journal(limit=1)[0].at
    assert accounts.erasures.all() == []
    with pytest.raises(NoSuchPerson):
        accounts.get(NAME)


def test_what_others_have_stays(filled: leaseq.Queue, server: Server, accounts: Accounts) -> None:
    def of_other() -> dict[str, Any]:
        document = json.loads("".join(person_document(server.client, accounts, OTHER)))
        return {name: value for name, value in document.items() if name != "exported_at"}

    before, factors = of_other(), accounts.factors.names()
    erase(server, accounts)
    after = of_other()
    assert after == before
    assert accounts.factors.names() == factors - {NAME}
    assert len(after["items"]) == 2
    assert QueueAccess(server.client).of("of both").manage == Group(people=(OTHER,))


def test_what_they_did_has_the_other_name(filled: leaseq.Queue, server: Server, accounts: Accounts) -> None:
    log = [replace(one, cursor="") for one in accounts.log.page(limit=500, kind="item").entries]
    ids = server.redis.xrange(keys.LOG)
    done = erase(server, accounts)
    other = done.pseudonym
    assert [one.person for one in Threads(server.client).of_item("work", "0")] == [other, OTHER]
    assert {answer.person for answer in filled.answers()} == {other, OTHER}
    assert QueueAccess(server.client).of(f"of {len(NAME)}").work == Group(people=(other,))
    assert f"person={other}&q=x" in ListsSettings(server.client).of("work").views.values()
    after = accounts.log.page(limit=500, kind="item").entries
    assert [(one.at, one.what, one.about) for one in after] == [(one.at, one.what, one.about) for one in log]
    assert [one.detail for one in after if one.by == other] == [f"person: {other}, reason: ask Ännchen"]
    assert [id for id, _ in server.redis.xrange(keys.LOG)][: len(ids)] == [id for id, _ in ids]
    line = accounts.log.page(limit=1, kind="person").entries[0]
    assert (line.by, line.what, line.about) == ("root", "person.erased", other)
    accounts.log.write("root", "queue.set", "work")
    assert accounts.log.latest(1)[0].what == "queue.set"


def test_what_they_let_in_is_shut(filled: leaseq.Queue, server: Server, accounts: Accounts) -> None:
    """Also what they made for others: nobody would be there whose lost rights end it."""
    client = server.client
    session, token = accounts.sessions.start(accounts.get(NAME)), accounts.create_token(NAME, "b", by=NAME)
    link, invitation = accounts.password_link("root", by=NAME), accounts.invite(by=NAME, name="newcomer")
    kept = accounts.invite(by=OTHER, name="another")
    accounts.begin_erasure(NAME, by="root")
    shut: list[Callable[[], object]] = [
        lambda: accounts.sessions.person(session),
        lambda: accounts.caller(token),
        lambda: accounts.link_is_for(link),
        lambda: accounts.invitation(invitation),
        lambda: accounts.verify(NAME, PASSWORD),
    ]
    assert [one() for one in shut] == [None] * len(shut)
    assert accounts.invitation(kept)
    erase(server, accounts)
    accounts.add(NAME, by="root", password=PASSWORD)
    assert [one() for one in shut[:-1]] == [None] * (len(shut) - 1), "and opens no new one's account"
    assert not Activity(client).today(NAME, "work")
    assert leaseq.Queue(client, "work").mine(NAME) == []


@pytest.mark.parametrize("dies_in", ["_erase_in", "_erase_in_stores", "finish_erasure", "rename_in_log"])
def test_what_was_broken_off_is_finished_by_the_next(
    filled: leaseq.Queue,
    server: Server,
    accounts: Accounts,
    monkeypatch: pytest.MonkeyPatch,
    dies_in: str,
) -> None:
    def dies(*_: Any) -> None:
        raise leaseq.ServerUnavailable("killed")

    with monkeypatch.context() as patch:
        owner = erasing if dies_in.startswith("_") else accounts
        patch.setattr(accounts.traces if dies_in == "rename_in_log" else owner, dies_in, dies)
        with pytest.raises(leaseq.ServerUnavailable):
            erase(server, accounts)
    (begun,) = accounts.erasures.all()
    makes: list[Callable[[], object]] = [
        lambda: accounts.add(NAME, by="root"),
        lambda: accounts.accept(accounts.invite(by="root"), NAME, PASSWORD),
    ]
    for again in makes:
        with pytest.raises(leaseq.Invalid, match="is being erased: finish that first") as refused:
            again()
        assert refused.value.field == "name"
    assert erase(server, accounts, by="somebody").pseudonym == begun.pseudonym
    assert naming(server) == {"leaseq:{work}:journal"}
    accounts.add(NAME, by="root")


@pytest.mark.parametrize(
    ("later", "left"),
    [
        pytest.param(0.5, erasing.SETTLE_SECONDS - 0.5, id="begun now"),
        pytest.param(60, 0, id="begun long ago, broken off"),
    ],
)
def test_other_processes_get_the_time_to_forget_the_person(
    filled: leaseq.Queue,
    server: Server,
    accounts: Accounts,
    monkeypatch: pytest.MonkeyPatch,
    later: float,
    left: float,
) -> None:
    begun = accounts.begin_erasure(NAME, by="root")
    monkeypatch.setattr(erasing, "time", SimpleNamespace(time=lambda: begun.began + later))
    waits: list[float] = []
    erase_person(server.client, accounts, NAME, by="root", wait=waits.append)
    assert waits == [pytest.approx(left)]


@pytest.mark.parametrize("another", [False, True])
def test_a_log_that_grows_meanwhile_loses_nothing(
    filled: leaseq.Queue,
    server: Server,
    accounts: Accounts,
    monkeypatch: pytest.MonkeyPatch,
    another: bool,
) -> None:
    """Nor does one that ``another`` erasure copies at the same time."""
    real, calls = accounts.traces._entries, 0

    def meanwhile(stream: str) -> Any:
        nonlocal calls
        yield from real(stream)
        calls += stream == keys.LOG
        if calls == 1:  # it is copied
            accounts.log.write("root", "queue.set", "work", f"by {NAME}")
            monkeypatch.setattr(accounts.traces, "_entries", real)
            if another:
                accounts.traces.rename_in_log(OTHER, "erased-other")

    monkeypatch.setattr(accounts.traces, "_entries", meanwhile)
    count = len(server.redis.xrange(keys.LOG))
    done = erase(server, accounts)
    entries = accounts.log.page(limit=1_000, kind="queue").entries
    assert [one.detail for one in entries if one.what == "queue.set"] == [f"by {done.pseudonym}"]
    assert len(server.redis.xrange(keys.LOG)) == count + 2
    assert not [key for key in server.redis.scan_iter() if b"log-copy" in key]
    makers = {one[b"by"].decode() for _, one in server.redis.xrange(keys.LOG)}
    assert {OTHER, NAME} & makers == (set() if another else {OTHER})


def test_the_only_admin_stays(filled: leaseq.Queue, server: Server, accounts: Accounts) -> None:
    for name in (NAME, OTHER):
        erase(server, accounts, name)
    before = naming(server)
    with pytest.raises(leaseq.Invalid, match="'root' is the only admin who can sign in") as refused:
        erase(server, accounts, "root", by="the command line")
    assert refused.value.field == "name"
    assert accounts.verify("root", PASSWORD)
    assert accounts.erasures.all() == []
    assert naming(server) == before


def test_one_who_erases_themselves_is_named_nowhere(
    filled: leaseq.Queue, server: Server, accounts: Accounts
) -> None:
    erase(server, accounts, NAME, by=NAME)
    assert naming(server) == {"leaseq:{work}:journal"}


def test_a_queue_of_another_version_is_finished_later(
    filled: leaseq.Queue, server: Server, accounts: Accounts
) -> None:
    status = server.redis.hget("leaseq:{work}:ledger", "status")
    server.redis.hset("leaseq:{work}:ledger", "status", b"v9 " + status)
    with pytest.raises(erasing.UnreadableQueues, match="another version of leaseq wrote work"):
        erase(server, accounts)
    assert len(accounts.erasures.all()) == 1
    server.redis.hset("leaseq:{work}:ledger", "status", status)
    erase(server, accounts)
    assert naming(server) == {"leaseq:{work}:journal"}


def test_receivers_are_told_once_by_the_name(
    filled: leaseq.Queue, server: Server, accounts: Accounts
) -> None:
    endpoints = webhooks.Endpoints(server.client)
    wanting = endpoints.add("https://example.org/people", events=["person.*"], by="root").endpoint
    begun = accounts.begin_erasure(NAME, by="root")
    webhooks.tell_removed(server.client, NAME, by="root", request_id=begun.pseudonym)
    erase(server, accounts)
    sent = webhooks.Deliveries(server.client).log(wanting.id)
    assert [(one.type, one.body["data"]) for one in sent] == [
        ("person.removed", {"name": NAME, "by": "root", "detail": ""})
    ]
    told = json.dumps([fields[b"data"].decode() for _, fields in server.redis.xrange(WEBHOOK_EVENTS)])
    assert json.dumps(json.dumps(NAME)[1:-1])[1:-1] not in told
    assert {one.created_by for one in endpoints.all()} >= {"root", OTHER}
    assert NAME not in {one.created_by for one in endpoints.all()}
