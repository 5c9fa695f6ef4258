"""The ACL users in docs/acl.md can do what leaseq does, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import leaseq
from leaseq.doctor import examine, rights
from leaseq.server.embedded import EmbeddedServer
from leaseq.webapp import create_app
from leaseq.webapp.settings import Settings
from leaseq.webapp.store.accounts import Accounts
from tests.support.refused import refused
from tests.web.conftest import CHEAP_PASSWORDS, PASSWORD, SECRET, Browser

PAGE = (Path(__file__).parents[3] / "docs/acl.md").read_text()
RULES = dict(re.findall(r"^ACL SETUSER (\w+) (.+)$", PAGE, re.M))


@pytest.fixture
def acl_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """A server that has the page's users during the test."""
    with EmbeddedServer(tmp_path_factory.mktemp("s"), fsync="no") as server:
        redis: Any = leaseq.connect(server.url).redis
        for user, rules in RULES.items():
            assert redis.execute_command("ACL", "SETUSER", user, *rules.split()) in (b"OK", "OK")
        redis.config_resetstat()
        yield server


def test_acl_users_on_page_equal_rules_of_code() -> None:
    expected = {
        "leaseq": rights.rules(rights.LIBRARY, password="PASSWORD"),
        "pages": rights.rules(rights.LIBRARY, rights.PAGES, password="PASSWORD"),
        "doctor": rights.rules(rights.LIBRARY, rights.DOCTOR, password="PASSWORD"),
    }
    assert {user: rules.split() for user, rules in RULES.items()} == expected
    assert f"`{' '.join(rights.allow_rules(rights.CLUSTER))}`" in PAGE
    assert f"-@all {' '.join(rights.allow_rules(rights.SENTINEL))}`" in PAGE
    assert f"`{' '.join(rights.allow_rules(rights.SENTINEL_DOCTOR))}`" in PAGE


def test_doctor_user_can_run_all_checks(acl_server: EmbeddedServer) -> None:
    path = acl_server.url.removeprefix("unix://")
    report = examine(leaseq.connect(f"unix://doctor:PASSWORD@{path}"))
    assert [(finding.check, finding.level) for finding in report.findings] == [("appendfsync", "error")]


def test_pages_user_can_run_web_app_without_refused_commands(acl_server: EmbeddedServer) -> None:
    url = f"unix://pages:PASSWORD@{acl_server.url.removeprefix('unix://')}"
    app = create_app(Settings(redis_url=url, secret_key=SECRET), passwords=CHEAP_PASSWORDS)
    accounts: Accounts = app.extensions["leaseq"].accounts
    admin_browser = set_up(app, accounts)
    invite_and_disable(app, accounts)
    token = accounts.create_token("ann", "a program", by="ann")
    headers = {"Authorization": f"Bearer {token}"}
    queue_url = "/api/v1/queues/reviews"
    assert app.test_client().put(queue_url, json={"holds": 2}, headers=headers).status_code == 201
    assert (
        app.test_client().post(f"{queue_url}/items", json={"payload": 1}, headers=headers).status_code == 201
    )
    assert app.test_client().post(f"{queue_url}/reserve", headers=headers).status_code == 200
    accounts.revoke_token(accounts.tokens("ann")[0].id, by="ann")
    for page in ("/", "/manage", "/people", "/account", "/q/reviews", "/manage/reviews", "/readyz"):
        assert admin_browser.get(page, follow_redirects=True).status_code == 200, page
    redis: Any = leaseq.connect(acl_server.url).redis
    refused_commands = {
        entry["object"].decode() for entry in redis.acl_log() if entry["reason"] == b"command"
    }
    assert refused_commands <= {"client|setinfo"}


def set_up(app: Any, accounts: Accounts) -> Browser:
    token = accounts.setup_token()
    admin_browser = Browser(app, "ann")
    fields = {"token": token, "name": "ann", "new_password": PASSWORD, "again": PASSWORD}
    assert admin_browser.post("/setup", fields, page=f"/setup?token={token}").location == "/manage"
    return admin_browser


def invite_and_disable(app: Any, accounts: Accounts) -> None:
    """A new person sets a password by a link, enters wrong ones until sign-in is refused, and is disabled."""
    accounts.add("bob", by="ann", skills=["fr"])
    accounts.use_link(accounts.password_link("bob", by="ann"), PASSWORD)
    bob_browser = Browser(app, "bob")
    assert bob_browser.sign_in().status_code == 303
    for _ in range(10):
        assert Browser(app, "bob").sign_in("not this password").status_code == 401
    assert Browser(app, "bob").sign_in().status_code == 429
    accounts.change("bob", by="ann", disabled=True)
    with refused("only_admin"):
        accounts.change("ann", by="ann", disabled=True)
    assert [entry.about for entry in accounts.log.latest(10)].count("bob") >= 2
