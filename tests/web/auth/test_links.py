"""Invitations and password links: valid once, while their creator has the right, and until sessions end."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask

from leaseq.webapp.store.accounts import Accounts
from tests.support.refused import refused
from tests.web.conftest import PASSWORD, Browser

NEW = "another long one"


@pytest.mark.parametrize("change", [{"disabled": True}, {"role": "manager"}], ids=["disabled", "demoted"])
@pytest.mark.guard("maker-is-admin", "maker-may-grant")
def test_links_end_when_creating_admin_loses_rights(
    app: Flask,
    accounts: Accounts,
    sign_in_as: Callable[[str], Browser],
    worker_browser: Browser,
    change: dict[str, object],
) -> None:
    admin_browser = sign_in_as("admin")
    accounts.add(f"another {admin_browser.name}", by="test", role="admin", password=PASSWORD)
    invitation = accounts.invite(by=admin_browser.name, role="admin")
    link = accounts.password_link(worker_browser.name, by=admin_browser.name)
    assert accounts.invitation(invitation)
    assert accounts.password_link_owner(link) == worker_browser.name
    accounts.change(admin_browser.name, by="test", **change)  # type: ignore[arg-type]
    for token in (invitation, link):
        assert Browser(app, "").get(f"/welcome?token={token}").status_code == 403
    assert all(one.by != admin_browser.name for one in accounts.invitations())
    with refused("sign_in", what="used_link"):
        accounts.accept(invitation, f"back as {admin_browser.name}", NEW)
    with refused("sign_in", what="used_link"):
        accounts.use_link(link, NEW)
    assert accounts.verify(worker_browser.name, PASSWORD)


@pytest.mark.parametrize(
    "end",
    [
        lambda accounts, name: accounts.set_password(name, NEW, by="test"),
        lambda accounts, name: accounts.use_link(accounts.password_link(name, by="test"), NEW),
        lambda accounts, name: accounts.change(name, by="test", disabled=True),
        lambda accounts, name: accounts.end_sessions(name, by="test"),
    ],
    ids=["password", "another-link", "disabled", "signed-out-everywhere"],
)
@pytest.mark.guard("link-version")
def test_password_link_is_refused_after_sessions_end(
    accounts: Accounts, worker_browser: Browser, end: Callable[[Accounts, str], object]
) -> None:
    link = accounts.password_link(worker_browser.name, by="test")
    end(accounts, worker_browser.name)
    assert accounts.password_link_owner(link) is None
    with refused("sign_in", what="used_link"):
        accounts.use_link(link, "a third long one")


@pytest.mark.guard("invitation-second")
def test_second_acceptance_of_invitation_is_refused(
    accounts: Accounts, new_name: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    token, first, second = accounts.invite(by="test"), new_name("first"), new_name("second")
    hash_password = accounts._passwords.hash

    def meanwhile(password: str, name: str) -> str:
        monkeypatch.undo()
        accounts.accept(token, first, PASSWORD)
        return hash_password(password, name)

    monkeypatch.setattr(accounts._passwords, "hash", meanwhile)
    with refused("sign_in", what="used_link"):
        accounts.accept(token, second, PASSWORD)
    assert (accounts.find(first) is None, accounts.find(second)) == (False, None)


def test_setting_a_password_by_a_link_signs_the_person_in(
    app: Flask, accounts: Accounts, worker_browser: Browser
) -> None:
    link = accounts.password_link(worker_browser.name, by="test")
    browser = Browser(app, worker_browser.name)
    fields = {"token": link, "new_password": NEW, "again": NEW}
    assert browser.post("/welcome", fields, page=f"/welcome?token={link}").location == "/"
    page = browser.get("/account")
    assert page.status_code == 200
    assert "set your password." in page.text, "the notice about the sign-in"
    entries = [
        one for one in accounts.log.page(person=worker_browser.name).entries if one.what == "sign-in.done"
    ]
    assert entries[0].values["method"] == "password link"


def test_password_link_from_command_line_is_accepted(accounts: Accounts, worker_browser: Browser) -> None:
    link = accounts.password_link(worker_browser.name, by="the command line")
    assert accounts.use_link(link, NEW).name == worker_browser.name


def test_password_link_is_in_audit_log(accounts: Accounts, worker_browser: Browser) -> None:
    accounts.password_link(worker_browser.name, by="meg")
    entry = accounts.log.page(person=worker_browser.name, limit=1).entries[0]
    assert (entry.by, entry.what, entry.about) == ("meg", "sign-in.link-made", worker_browser.name)
