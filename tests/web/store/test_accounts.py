"""Accounts without the web app: the first admin, the last admin, and refusals."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pyotp
import pytest

import leaseq
from leaseq.server.embedded import EmbeddedServer
from leaseq.webapp import create_app
from leaseq.webapp.settings import Settings
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.accounts import model as accounts_keys
from leaseq.webapp.store.accounts.model import MAX_TEAM
from leaseq.webapp.store.accounts.onboarding import DAYS
from leaseq.webapp.store.accounts.sessions import password_counters
from tests.support.leases import not_none
from tests.support.refused import raises, refused
from tests.web.conftest import CHEAP_PASSWORDS, PASSWORD, SECRET, Browser


@pytest.fixture(scope="module")
def empty_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    with EmbeddedServer(tmp_path_factory.mktemp("s"), fsync="no") as server:
        yield server


@pytest.fixture
def empty_accounts(empty_server: EmbeddedServer) -> Iterator[Accounts]:
    """The accounts of a new server, which has none."""
    client = leaseq.connect(empty_server.url)
    client.redis.flushall()
    yield Accounts(client, passwords=CHEAP_PASSWORDS)
    client.close()


@pytest.mark.guard("first-admin-once")
def test_first_admin_is_set_up_once(empty_accounts: Accounts) -> None:
    old_token = empty_accounts.setup_token()
    token = empty_accounts.setup_token()
    assert old_token
    assert token
    with refused("sign_in", "token", what="used_link"):
        empty_accounts.set_up(old_token, "ann", PASSWORD)
    with refused("length", "password"):
        empty_accounts.set_up(token, "ann", "short")
    assert empty_accounts.set_up(token, "ann", PASSWORD).role == "admin"
    assert empty_accounts.setup_token() is None
    with refused("sign_in", "token", what="used_link"):
        empty_accounts.set_up(token, "eve", PASSWORD)
    assert [person.name for person in empty_accounts.people()] == ["ann"]


def test_concurrent_setup_creates_only_one_admin(empty_accounts: Accounts) -> None:
    token = empty_accounts.setup_token() or ""
    names: list[str] = []
    barrier = threading.Barrier(6)

    def set_up(name: str) -> None:
        barrier.wait()
        with contextlib.suppress(leaseq.Invalid):
            names.append(empty_accounts.set_up(token, name, PASSWORD).name)

    threads = [threading.Thread(target=set_up, args=(f"p{n}",)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(names) == 1
    assert [person.name for person in empty_accounts.people()] == names


def test_setup_page_creates_first_admin(empty_accounts: Accounts, empty_server: EmbeddedServer) -> None:
    app = create_app(Settings(redis_url=empty_server.url, secret_key=SECRET), passwords=CHEAP_PASSWORDS)
    path = f"/setup?token={empty_accounts.setup_token()}"
    browser = Browser(app, "ann")
    token = path.partition("=")[2]
    fields = {"token": token, "name": "ann", "new_password": PASSWORD, "again": PASSWORD}
    response = browser.post("/setup", {**fields, "new_password": "short", "again": "short"}, page=path)
    assert response.status_code == 400
    assert 'value="ann"' in response.text
    assert browser.post("/setup", fields, page=path).location == "/manage"
    assert browser.get("/people").status_code == 200
    assert browser.get(path).status_code == 403


@pytest.mark.guard("setup-closed")
def test_setup_link_ends_when_admin_exists(empty_accounts: Accounts, empty_server: EmbeddedServer) -> None:
    """Even an admin who was created another way, such as on the command line."""
    app = create_app(Settings(redis_url=empty_server.url, secret_key=SECRET), passwords=CHEAP_PASSWORDS)
    token = empty_accounts.setup_token()
    assert token
    path = f"/setup?token={token}"
    assert Browser(app, "").get(path).status_code == 200
    empty_accounts.add("ann", by="test", role="admin", password=PASSWORD)
    assert Browser(app, "").get(path).status_code == 403
    assert leaseq.connect(empty_server.url).redis.exists("leaseq:{@accounts}:setup") == 0


def test_last_admin_can_not_be_demoted_or_disabled(empty_accounts: Accounts) -> None:
    empty_accounts.add("ann", by="test", role="admin", password=PASSWORD)
    empty_accounts.add("no password", by="test", role="admin")
    refused_changes: tuple[dict[str, Any], ...] = ({"role": "manager"}, {"disabled": True})
    for changes in refused_changes:
        with refused("only_admin") as error:
            empty_accounts.change("ann", by="test", **changes)
        assert [error.value.field] == list(changes)
    empty_accounts.add("bob", by="test", role="admin", password=PASSWORD)
    assert empty_accounts.change("ann", by="test", disabled=True).disabled


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": " ann"}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"name": "x" * 65}, "name"),
        ({"name": "\ud800"}, "name"),
        ({"role": "boss"}, "role"),
        ({"skills": ["Not A Skill"]}, "skills"),
        ({"password": "short"}, "password"),
        ({"password": "x" * 129}, "password"),
        ({"password": "\ud800" * 10}, "password"),
    ],
)
def test_invalid_account_is_refused_and_not_added(
    empty_accounts: Accounts, fields: dict[str, Any], field: str
) -> None:
    with pytest.raises(leaseq.Invalid) as error:
        empty_accounts.add(**{"name": "ann", "by": "test", **fields})
    assert error.value.field == field
    assert empty_accounts.people() == []


def test_duplicate_name_is_refused(empty_accounts: Accounts) -> None:
    empty_accounts.add("ann", by="test", password=PASSWORD)
    with refused("taken", "name", what="person"):
        empty_accounts.add("ann", by="test", role="admin", password="another password")
    assert empty_accounts.verify("ann", PASSWORD)
    assert empty_accounts.get("ann").role == "worker"


def test_a_team_has_a_limited_length(empty_accounts: Accounts) -> None:
    assert empty_accounts.add("ann", by="test", team="x" * MAX_TEAM).team == "x" * MAX_TEAM
    with refused("format", "team", what="team", maximum=MAX_TEAM):
        empty_accounts.add("bob", by="test", team="x" * (MAX_TEAM + 1))


@pytest.mark.parametrize(
    "name",
    [".", "..", "../people/admin2", "alice/export", "CORP\\alice", "/", " ann", "ann ", "", "x" * 65, "a\nb"],
)
def test_invalid_name_is_refused(empty_accounts: Accounts, name: str) -> None:
    with pytest.raises(leaseq.Invalid) as error:
        empty_accounts.add(name, by="test")
    assert error.value.field == "name"
    assert empty_accounts.people() == []


def test_a_hash_of_another_cost_is_renewed_at_sign_in(
    empty_accounts: Accounts, empty_server: EmbeddedServer
) -> None:
    from argon2 import PasswordHasher

    from leaseq.webapp.store.accounts import Passwords

    empty_accounts.add("ann", by="test", password=PASSWORD)
    client = leaseq.connect(empty_server.url)
    costlier_accounts = Accounts(
        client, passwords=Passwords(PasswordHasher(time_cost=2, memory_cost=64, parallelism=1))
    )
    before = client.redis.hget("leaseq:{@accounts}:people", "ann")
    assert costlier_accounts.verify("ann", PASSWORD)
    after: Any = client.redis.hget("leaseq:{@accounts}:people", "ann")
    assert b"m=64,t=2" in after
    assert before != after
    assert costlier_accounts.verify("ann", PASSWORD)
    client.close()


@pytest.mark.guard("argon2-cost")
def test_passwords_are_hashed_by_argon2id_at_owasp_cost() -> None:
    from leaseq.webapp.store.accounts import Passwords

    assert Passwords().hash(PASSWORD, "ann").startswith("$argon2id$v=19$m=19456,t=2,p=1$")


def test_log_records_author_and_content_of_changes(empty_accounts: Accounts) -> None:
    empty_accounts.add("ann", by="root", role="manager")
    empty_accounts.change("ann", by="root", skills=["fr"])
    empty_accounts.create_token("ann", "script", by="ann")
    entries = [(entry.by, entry.what, entry.about, entry.detail) for entry in empty_accounts.log.latest()]
    assert entries == [
        ("ann", "token.made", "ann", "token: script, scope: manage"),
        ("root", "person.changed", "ann", "skills: none → fr"),
        ("root", "person.added", "ann", "role: manager"),
    ]


def test_log_records_how_people_came_in_and_how_they_sign_in(empty_accounts: Accounts) -> None:
    accounts = empty_accounts
    logged: list[tuple[str, str, str, str]] = []

    def new_entries() -> list[tuple[str, str, str, str]]:
        """What was logged since the last call, oldest first."""
        entries = [(one.by, one.what, one.about, one.detail) for one in reversed(accounts.log.latest(100))]
        entries, logged[:] = entries[len(logged) :], entries
        return entries

    accounts.set_up(accounts.setup_token() or "", "ann", PASSWORD)
    accounts.change("ann", by="ann", disabled=False)  # nothing changed
    assert new_entries() == [("ann", "person.set-up", "ann", "")]

    invitation_token = accounts.invite(by="ann", role="manager", name="bob", days=3)
    accounts.invite(by="ann")
    (open_invitation,) = (one for one in accounts.invitations() if one.name is None)
    accounts.revoke_invitation(open_invitation.id, by="eve")
    accounts.accept(invitation_token, "", PASSWORD)
    assert new_entries() == [
        ("ann", "invitation.made", "bob", "role: manager, days: 3"),
        ("ann", "invitation.made", "", f"role: worker, days: {DAYS}"),
        ("eve", "invitation.revoked", "", ""),
        ("bob", "invitation.used", "bob", "role: manager, invited_by: ann"),
    ]

    accounts.change("bob", by="ann", disabled=True)
    accounts.change("bob", by="ann", disabled=True)
    accounts.change("bob", by="ann", disabled=False)
    assert new_entries() == [("ann", "person.disabled", "bob", ""), ("ann", "person.enabled", "bob", "")]

    accounts.set_password("bob", PASSWORD, by="ann")
    accounts.use_link(accounts.password_link("bob", by="ann"), PASSWORD)
    accounts.turn_on_factor("bob", pyotp.TOTP(accounts.factors.offer("bob")).now())
    accounts.turn_off_factor("bob", by="ann")
    accounts.turn_off_factor("bob", by="ann")
    accounts.end_sessions("bob", by="ann")
    assert new_entries() == [
        ("ann", "sign-in.password-set", "bob", ""),
        ("ann", "sign-in.link-made", "bob", ""),
        ("bob", "sign-in.link-used", "bob", ""),
        ("bob", "sign-in.factor-on", "bob", ""),
        ("ann", "sign-in.factor-off", "bob", ""),
        ("ann", "sign-in.sessions-ended", "bob", ""),
    ]

    accounts.allow_provider_link("bob", by="ann")
    accounts.authenticate_by_provider("bob", "subject-1", create=False)
    accounts.unlink_provider("bob", by="ann")
    accounts.authenticate_by_provider("cid", "subject-2", create=True)
    assert new_entries() == [
        ("ann", "sign-in.provider-allowed", "bob", ""),
        ("bob", "sign-in.provider-tied", "bob", ""),
        ("ann", "sign-in.provider-untied", "bob", ""),
        ("cid", "person.added", "cid", "role: worker"),
        ("cid", "sign-in.provider-tied", "cid", ""),
    ]

    token = not_none(accounts.token_record(accounts.create_token("bob", "script", by="ann", scope="read")))
    rotated_token = not_none(accounts.token_record(accounts.rotate_token(token, by="bob")))
    accounts.revoke_token(rotated_token.id, by="ann")
    accounts.create_token("bob", "other", by="bob")
    accounts.revoke_tokens("bob", by="ann")
    accounts.revoke_tokens("bob", by="ann")
    assert new_entries() == [
        ("ann", "token.made", "bob", "token: script, scope: read"),
        ("bob", "token.rotated", "bob", "token: script"),
        ("ann", "token.revoked", "bob", "token: script"),
        ("bob", "token.made", "bob", "token: other, scope: manage"),
        ("ann", "token.all-revoked", "bob", "tokens: 1"),
    ]


def test_account_keys_share_one_slot_and_add_no_queue(
    empty_accounts: Accounts, empty_server: EmbeddedServer
) -> None:
    empty_accounts.add("ann", by="test", password=PASSWORD)
    empty_accounts.create_token("ann", "script", by="ann")
    empty_accounts.setup_token()
    empty_accounts.password_link("ann", by="test")
    empty_accounts.invite(by="ann", name="bob")
    empty_accounts.factors.offer("ann")
    empty_accounts.sessions.start(empty_accounts.get("ann"))
    empty_accounts.attempts.begin(password_counters("ann", "127.0.0.1"))
    client = leaseq.connect(empty_server.url)
    keys: Any = client.redis.keys("*")
    assert len(keys) >= 10
    other_keys = [key for key in keys if not key.startswith(b"leaseq:{@accounts}:")]
    assert other_keys == [b"leaseq:{@webhooks}:events"]  # the webhooks' events about people
    assert leaseq.queues(client) == []
    client.close()


def test_concurrent_use_of_password_link_succeeds_once(empty_accounts: Accounts) -> None:
    empty_accounts.add("ann", by="test")
    token = empty_accounts.password_link("ann", by="test")
    passwords: list[str] = []
    barrier = threading.Barrier(6)

    def use(number: int) -> None:
        barrier.wait()
        with contextlib.suppress(leaseq.Invalid):
            empty_accounts.use_link(token, f"password of {number}")
            passwords.append(f"password of {number}")

    threads = [threading.Thread(target=use, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(passwords) == 1
    assert empty_accounts.verify("ann", passwords[0])
    with refused("sign_in", "token", what="used_link"):
        empty_accounts.use_link("never made", PASSWORD)


def test_last_sign_in_time_is_recorded(empty_accounts: Accounts) -> None:
    for name in ("ann", "bob"):
        empty_accounts.add(name, by="test")
    assert empty_accounts.last_sign_ins() == {}
    before = datetime.now(UTC).replace(microsecond=0)
    empty_accounts.sessions.start(not_none(empty_accounts.get("ann")))
    ((name, at),) = empty_accounts.last_sign_ins().items()
    assert name == "ann"
    assert before <= at <= datetime.now(UTC)


def test_rotation_of_revoked_token_is_refused(empty_accounts: Accounts) -> None:
    empty_accounts.add("ann", by="test")
    token = not_none(empty_accounts.token_record(empty_accounts.create_token("ann", "a program", by="ann")))
    empty_accounts.revoke_token(token.id, by="ann")
    with pytest.raises(leaseq.Invalid):
        empty_accounts.rotate_token(token, by="ann")
    assert empty_accounts.tokens("ann") == []


def test_accounts_with_a_newer_schema_are_refused(
    empty_accounts: Accounts, empty_server: EmbeddedServer
) -> None:
    empty_accounts.add("zoe", by="a test")
    with leaseq.connect(empty_server.url) as client:
        redis: Any = client.redis
        record = json.loads(redis.hget(accounts_keys.PEOPLE, "zoe"))
        assert record["schema"] == accounts_keys.SCHEMA
        newer_record = {**record, "schema": accounts_keys.SCHEMA + 1}
        redis.hset(accounts_keys.PEOPLE, "zoe", json.dumps(newer_record))
        with raises(leaseq.ServerRefused, "newer", what="accounts"):
            empty_accounts.find("zoe")
        redis.hset(accounts_keys.PEOPLE, "zoe", json.dumps(record))
    assert not_none(empty_accounts.find("zoe")).name == "zoe"
