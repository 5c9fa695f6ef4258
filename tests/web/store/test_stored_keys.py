"""A backup contains the web app's data, and the list of stored keys names every key that the app makes.

Each file of the web tests ends with a check of the keys that it left (tests/web/conftest.py).
"""

from __future__ import annotations

import inspect
import io
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest

import leaseq
from leaseq import backup, webhooks
from leaseq.backup.stored_keys import registry
from leaseq.server.embedded import EmbeddedServer
from leaseq.webapp import create_app
from leaseq.webapp.settings import Settings
from leaseq.webapp.store.accounts import Accounts, model
from leaseq.webapp.store.activity import Breaks
from leaseq.webapp.store.threads import Threads
from tests.conftest import Server
from tests.web.conftest import CHEAP_PASSWORDS, PASSWORD, SECRET, Browser
from tests.web.store.test_deleted_queues import contents, fill

NAME = "kept-queue"


def account_keys() -> Iterator[str]:
    for name, value in vars(model).items():
        if inspect.isfunction(value) and name.endswith("_key"):
            yield value(*(["x"] * len(inspect.signature(value).parameters)))
        elif isinstance(value, str) and value.startswith("leaseq:") and not name.startswith("_"):
            yield value


@pytest.mark.parametrize("key", sorted(account_keys()))
def test_each_account_key_is_registered(key: str) -> None:
    assert registry().find(key) is not None


def test_each_key_left_out_of_backup_has_reason() -> None:
    kinds_left_out = [kind for kind in registry().kinds if isinstance(kind, backup.LeftOut)]
    assert len(kinds_left_out) > 10
    assert all(len(kind.why) > 10 for kind in kinds_left_out)


@pytest.fixture
def other_url() -> Iterator[str]:
    """The URL of an empty server."""
    with tempfile.TemporaryDirectory(prefix="leaseq") as folder, EmbeddedServer(folder, fsync="no") as server:
        yield server.url


def stored_values(redis: Any) -> dict[str, tuple[object, bool]]:
    """The keys in a backup that don't belong to queues, with their values and whether each expires."""
    values: dict[str, tuple[object, bool]] = {}
    for name in redis.scan_iter("leaseq:{@*", count=10_000):
        key = name.decode()
        if isinstance(registry().find(key), backup.StoredKeys):
            scores = redis.type(name) == b"zset" and redis.zrange(name, 0, -1, withscores=True)
            values[key] = scores or contents(redis, name), redis.ttl(name) > 0
    return values


def test_people_sign_in_on_server_restored_from_backup(
    server: Server, app: Any, accounts: Accounts, other_url: str
) -> None:
    server.redis.flushall()
    client = server.client
    for name, role in (("ann", "admin"), ("bob", "worker")):
        accounts.add(name, by="test", role=role, password=PASSWORD, skills=["fr"])
    token = fill(client, accounts, NAME)
    invitation = accounts.invite(by="ann", role="worker")
    link = accounts.password_link("bob", by="ann")
    Breaks(client).take("bob")
    webhooks.Endpoints(client).add("https://example.org/hook", by="ann")
    accounts.sign_ins.log_failure("bob", "password", "192.0.2.1")
    entries = server.redis.pipeline(transaction=False)
    for n in range(600):  # more than fit into one line
        entries.xadd(model.LOG, {"by": "ann", "what": "queue.changed", "about": f"q{n}", "detail": ""})
    entries.execute()
    assert Browser(app, "ann").sign_in().status_code == 303

    file = io.BytesIO()
    backup_contents = backup.back_up(client, file)
    file.seek(0)
    target = leaseq.connect(other_url)
    restored_contents = backup.restore(target, file)
    assert restored_contents.entries == backup_contents.entries == {"people": 2, "webhook endpoints": 1}
    assert stored_values(target.redis) == stored_values(server.redis)
    assert len(stored_values(target.redis)) > 15
    assert list(target.redis.scan_iter(model.session_key("*"))) == []

    other_app = create_app(Settings(redis_url=other_url, secret_key=SECRET), passwords=CHEAP_PASSWORDS)
    other_accounts: Accounts = other_app.extensions["leaseq"].accounts
    assert Browser(other_app, "bob").sign_in().status_code == 303
    assert other_accounts.callers.find(token) is not None
    assert other_accounts.invitation(invitation) is not None
    with pytest.raises(leaseq.Invalid):
        other_accounts.use_link(link, "another long password")
    assert [message.text for message in Threads(target).of_item(NAME, "another:item")] == ["Was it?"]
    file.seek(0)
    with pytest.raises(backup.RestoreRefused, match=rf"'{NAME}', webhook endpoints and people, and so"):
        backup.restore(target, file)
