"""A new installation has no account and no password; only the printed link creates the first admin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask

from leaseq.server.embedded import EmbeddedServer
from leaseq.webapp import create_app
from leaseq.webapp.settings import Settings
from leaseq.webapp.store.accounts import Accounts
from tests.web.conftest import CHEAP_PASSWORDS, SECRET, Browser

CREDENTIALS = [
    ("admin", "admin"),
    ("admin", ""),
    ("admin", "password"),
    ("leaseq", "leaseq"),
    ("root", "root"),
]


@pytest.fixture(scope="module")
def new_app(tmp_path_factory: Any) -> Iterator[Flask]:
    with EmbeddedServer(tmp_path_factory.mktemp("new"), fsync="no") as server:
        yield create_app(Settings(redis_url=server.url, secret_key=SECRET), passwords=CHEAP_PASSWORDS)


@pytest.mark.parametrize(("name", "password"), CREDENTIALS)
def test_default_credentials_are_refused(new_app: Flask, name: str, password: str) -> None:
    assert Browser(new_app, name).sign_in(password).status_code == 401


def test_account_without_password_refuses_any_password(new_app: Flask) -> None:
    accounts: Accounts = new_app.extensions["leaseq"].accounts
    accounts.add("nopass", by="test", role="worker")
    for password in ("", "None", "nopass"):
        assert accounts.verify("nopass", password) is None
        assert not CHEAP_PASSWORDS.matches(password, None)


@pytest.mark.guard("no-password-no-match")
def test_missing_hash_matches_no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if the password equals the one whose hash is compared for unknown names."""
    monkeypatch.setattr(type(CHEAP_PASSWORDS._hasher), "verify", lambda *_: True)
    assert not CHEAP_PASSWORDS.matches("anything", None)


@pytest.mark.guard("setup-token")
def test_setup_requires_printed_link(new_app: Flask) -> None:
    accounts: Accounts = new_app.extensions["leaseq"].accounts
    token = accounts.setup_token()
    assert token
    client = new_app.test_client()
    for path in ("/setup", "/setup?token=", "/setup?token=admin", f"/setup?token={token[:-1]}"):
        assert client.get(path).status_code == 403
    assert client.get(f"/setup?token={token}").status_code == 200
