"""A backup has what the web app stores, and the list of it names every key that the app makes.

Each file of the web's tests ends with the same question about the keys that it left (tests/web/conftest.py).
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
from leaseq.webapp.store.accounts import Accounts, keys
from leaseq.webapp.store.breaks import Breaks
from leaseq.webapp.store.threads import Threads
from tests.conftest import Server
from tests.web.conftest import CHEAP, PASSWORD, SECRET, Browser
from tests.web.store.test_deleted_queues import contents, fill

NAME = "kept-queue"


def account_keys() -> Iterator[str]:
    for name, value in vars(keys).items():
        if inspect.isfunction(value):
            yield value(*(["x"] * len(inspect.signature(value).parameters)))
        elif isinstance(value, str) and value.startswith("leaseq:") and not name.startswith("_"):
            yield value


@pytest.mark.parametrize("key", sorted(account_keys()))
def test_each_key_of_the_accounts_is_on_the_list(key: str) -> None:
    assert registry().of(key) is not None


def test_what_is_left_out_has_a_reason() -> None:
    left_out = [one for one in registry().kinds if isinstance(one, backup.LeftOut)]
    assert len(left_out) > 10
    assert all(len(one.why) > 10 for one in left_out)


@pytest.fixture
def other() -> Iterator[str]:
    """The URL of an empty server."""
    with tempfile.TemporaryDirectory(prefix="leaseq") as folder, EmbeddedServer(folder, fsync="no") as server:
        yield server.url


def everything(redis: Any) -> dict[str, tuple[object, bool]]:
    """What a backup has of the keys that are no queue's; and whether each expires."""
    found: dict[str, tuple[object, bool]] = {}
    for name in redis.scan_iter("leaseq:{@*", count=10_000):
        key = name.decode()
        if isinstance(registry().of(key), backup.StoredKeys):
            scores = redis.type(name) == b"zset" and redis.zrange(name, 0, -1, withscores=True)
            found[key] = scores or contents(redis, name), redis.ttl(name) > 0
    return found


def test_people_sign_in_again_on_another_server(
    server: Server, app: Any, accounts: Accounts, other: str
) -> None:
    server.redis.flushall()
    client = server.client
    for name, role in (("ann", "admin"), ("bob", "worker")):
        accounts.add(name, by="test", role=role, password=PASSWORD, skills=["fr"])
    token = fill(client, accounts, NAME)
    invited = accounts.invite(by="ann", role="worker")
    link = accounts.password_link("bob", by="ann")
    Breaks(client).take("bob")
    webhooks.Endpoints(client).add("https://example.org/hook", by="ann")
    accounts.sign_ins.log_failure("bob", "password", "192.0.2.1")
    entries = server.redis.pipeline(transaction=False)
    for n in range(600):  # more than one line has
        entries.xadd(keys.LOG, {"by": "ann", "what": "queue.changed", "about": f"q{n}", "detail": ""})
    entries.execute()
    assert Browser(app, "ann").sign_in().status_code == 303

    file = io.BytesIO()
    written = backup.back_up(client, file)
    file.seek(0)
    target = leaseq.connect(other)
    done = backup.restore(target, file)
    assert done.entries == written.entries == {"people": 2, "webhook endpoints": 1}
    assert everything(target.redis) == everything(server.redis)
    assert len(everything(target.redis)) > 15
    assert list(target.redis.scan_iter(keys.session("*"))) == []

    there = create_app(Settings(redis_url=other, secret_key=SECRET), passwords=CHEAP)
    again: Accounts = there.extensions["leaseq"].accounts
    assert Browser(there, "bob").sign_in().status_code == 303
    assert again.caller(token) is not None
    assert again.invitation(invited) is not None
    with pytest.raises(leaseq.Invalid):
        again.use_link(link, "another long password")
    assert [one.text for one in Threads(target).of_item(NAME, "another:item")] == ["Was it?"]
    file.seek(0)
    with pytest.raises(backup.RestoreRefused, match=rf"'{NAME}', webhook endpoints and people, and so"):
        backup.restore(target, file)
