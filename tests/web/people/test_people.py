"""People: the list, invitations, and disabling."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from flask import Flask

import leaseq
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.accounts.people import NoSuchPerson
from leaseq.webapp.store.accounts.traces import held_by_each
from tests.support.leases import not_none, take
from tests.support.refused import raises, refused
from tests.web.conftest import PASSWORD, Browser, Caller
from tests.web.elements import attribute, elements, table_rows, text_of


def join(app: Flask, link: str, **fields: str) -> Any:
    token = link.partition("=")[2]
    page = f"/welcome?token={token}"
    browser = Browser(app, fields.get("name", ""))
    form = {"token": token, "new_password": PASSWORD, "again": PASSWORD, **fields}
    return browser, browser.post("/welcome", form, page=page)


def link_in(page: str) -> str:
    return not_none(re.search(r"/welcome\?token=[\w-]+", page))[0]


@pytest.mark.guard("invitation-spent", "name-taken")
def test_invitation_grants_role_and_skills_once(
    app: Flask, accounts: Accounts, sign_in_as: Callable[[str], Browser], new_name: Callable[[str], str]
) -> None:
    admin_browser, name = sign_in_as("admin"), new_name("newcomer")
    page = admin_browser.post("/people", {"role": "manager", "skills": "fr de", "days": "2"}).text
    link = link_in(page)
    new_invitation = next(
        invitation for invitation in accounts.invitations() if invitation.by == admin_browser.name
    )
    assert (new_invitation.role, new_invitation.skills, new_invitation.name) == (
        "manager",
        ("de", "fr"),
        None,
    )
    assert (new_invitation.expires_at - new_invitation.created_at).days == 2
    assert link not in admin_browser.get("/people").text
    assert admin_browser.name in admin_browser.get("/people").text
    for wrong_fields in (
        {"name": ""},
        {"name": admin_browser.name},
        {"name": name, "new_password": "x", "again": "x"},
    ):
        assert join(app, link, **wrong_fields)[1].status_code == 400, wrong_fields
    browser, response = join(app, link, name=name)
    assert (response.status_code, browser.get("/manage").status_code) == (303, 200)
    assert (accounts.get(name).role, accounts.get(name).skills) == ("manager", ("de", "fr"))
    assert browser.get(link).status_code == 403
    assert all(invitation.by != admin_browser.name for invitation in accounts.invitations())


@pytest.mark.guard("inviters-name")
def test_invited_person_cannot_change_preset_name(
    app: Flask, accounts: Accounts, new_name: Callable[[str], str]
) -> None:
    name = new_name("chosen")
    token = accounts.invite(by="test", name=name)
    with refused("taken", what="invited"):
        accounts.invite(by="test", name=name)
    join(app, f"/welcome?token={token}", name="another name")
    assert accounts.find("another name") is None
    assert accounts.get(name).role == "worker"
    with refused("taken", "name", what="person"):
        accounts.invite(by="test", name=name)


@pytest.mark.guard("invitation-there")
def test_revoked_or_expired_invitation_is_refused(
    app: Flask,
    server: Any,
    accounts: Accounts,
    sign_in_as: Callable[[str], Browser],
    new_name: Callable[[str], str],
) -> None:
    admin_browser, token = sign_in_as("admin"), accounts.invite(by="test", name=new_name("gone"))
    (id,) = (
        invitation.id for invitation in accounts.invitations() if invitation == accounts.invitation(token)
    )
    assert admin_browser.post(f"/people/invitations/{id}/revoke").status_code == 303
    assert Browser(app, "").get(f"/welcome?token={token}").status_code == 403
    assert admin_browser.post(f"/people/invitations/{id}/revoke").status_code == 400
    old_token = accounts.invite(by="test", name=new_name("old"))
    token_hash = next(
        key
        for key in server.redis.hkeys("leaseq:{@accounts}:invitations")
        if not_none(accounts.invitation(old_token)).id == key.decode()[:12]
    )
    server.redis.pexpire(b"leaseq:{@accounts}:invitation:" + token_hash, 0)
    assert accounts.invitation(old_token) is None
    with refused("sign_in", what="used_link"):
        accounts.accept(old_token, "", PASSWORD)


@pytest.mark.parametrize(
    "fields",
    [{"role": "boss"}, {"skills": "Not Good"}, {"days": "0"}, {"days": "31"}, {"days": "x"}, {"name": "."}],
)
def test_invalid_invitation_is_refused_and_form_keeps_name(
    sign_in_as: Callable[[str], Browser], fields: dict[str, str]
) -> None:
    response = sign_in_as("admin").post("/people", {"role": "worker", "name": "somebody", **fields})
    assert response.status_code == 400
    assert 'role="alert"' in response.text
    assert f"{fields.get('name', 'somebody')}</textarea>" in response.text, "what was typed is still there"


def test_invalid_change_of_person_is_refused_and_form_keeps_input(
    sign_in_as: Callable[[str], Browser], accounts: Accounts
) -> None:
    admin_browser, ann = sign_in_as("admin"), sign_in_as("worker")
    fields = {"role": "manager", "skills": "Not Good", "team": "Night"}
    response = admin_browser.post(f"/people/{ann.name}/change", fields)
    assert response.status_code == 400
    assert 'role="alert"' in response.text
    assert f'action="/people/{ann.name}/change"' in response.text, "to correct it there"
    for text in ('value="manager" selected', 'value="Not Good"', 'value="Night"'):
        assert text in response.text, "what was typed is still there"
    assert accounts.get(ann.name).skills == ()


@pytest.mark.parametrize("act", ["change", "disable", "tokens"])
def test_change_of_missing_person_returns_404(
    accounts: Accounts, sign_in_as: Callable[[str], Browser], new_name: Callable[[str], str], act: str
) -> None:
    admin_browser, name = sign_in_as("admin"), new_name("nobody")
    response = admin_browser.post(
        f"/people/{name}/{act}", {"role": "worker", "scope": "work"}, page="/people"
    )
    assert response.status_code == 404
    with raises(NoSuchPerson, "not_found", what="person", name=name):
        accounts.get(name)


@pytest.mark.guard("disabled-gives-back")
def test_disabling_person_releases_only_their_leases(
    form_queue: leaseq.Queue, sign_in_as: Callable[[str], Browser]
) -> None:
    admin_browser, ann, bob = sign_in_as("admin"), sign_in_as("worker"), sign_in_as("worker")
    form_queue.configure(answers=2, holds=2)
    traces = [take(form_queue, ann.name), take(form_queue, ann.name)]
    bob_lease = form_queue.reserve(bob.name)
    form_queue.save_draft(traces[0], {"note": "half done"})
    page = admin_browser.get(f"/people/{ann.name}").text
    assert "The 2 items that they hold go to somebody else" in page
    assert f"/manage/{form_queue.name}/items/{traces[0].id}" in page
    assert admin_browser.post(f"/people/{ann.name}/disable").status_code == 303
    assert "The 2 items that they held are waiting again." in admin_browser.get(f"/people/{ann.name}").text
    assert form_queue.mine(ann.name) == []
    assert form_queue.mine(bob.name) == [bob_lease]
    assert form_queue.stats().counters["released"] == 2
    assert admin_browser.post(f"/people/{ann.name}/enable").status_code == 303
    new_leases = [take(form_queue, ann.name), take(form_queue, ann.name)]
    assert {"note": "half done"} in [lease.draft for lease in new_leases], "and what they typed is kept"


@pytest.mark.parametrize("by", ["rest", "command"])
def test_disabling_by_rest_or_command_line_releases_leases(
    server: Any, form_queue: leaseq.Queue, worker: Caller, admin: Caller, by: str
) -> None:
    form_queue.reserve(worker.name)
    if by == "rest":
        assert admin("PUT", f"/people/{worker.name}", json={"disabled": True}).status_code == 200
    else:
        from click.testing import CliRunner

        from leaseq.cli import main

        result = CliRunner().invoke(main, ["user", "disable", worker.name, "--redis", server.url])
        assert result.exit_code == 0
    assert form_queue.mine(worker.name) == []


def test_held_counts_are_right_across_several_reads(
    server: Any, form_queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch, new_name: Callable[[str], str]
) -> None:
    from leaseq.webapp.store.accounts import traces

    form_queue.configure(answers=2, holds=2)
    ann, bob = new_name("ann"), new_name("bob")
    for name in (ann, ann, bob):
        form_queue.reserve(name)

    def count_held() -> dict[str, int]:
        return {name: len(items) for name, items in held_by_each(server.client, [ann, bob]).items()}

    assert count_held() == {ann: 2, bob: 1}
    monkeypatch.setattr(traces, "_READ_TOGETHER", 1)
    assert count_held() == {ann: 2, bob: 1}


def test_people_list_shows_held_items_and_activity_of_today(
    app: Flask, accounts: Accounts, form_queue: leaseq.Queue, sign_in_as: Callable[[str], Browser]
) -> None:
    admin_browser, ann = sign_in_as("admin"), sign_in_as("worker")
    accounts.change(ann.name, by="test", skills=["rare-skill"])
    form_queue.reserve(ann.name)
    activity = app.extensions["leaseq"].activity
    for number in range(3):
        activity.record(
            ann.name, form_queue.name, "finished", id=f"i{number}", token=number, active_ms=30_000
        )
    activity.record(ann.name, form_queue.name, "finished", id="by REST", token=8, held_ms=70_000)
    activity.record(ann.name, form_queue.name, "abandoned", id="i9", token=9)
    table = admin_browser.get("/people?q=rare-skill").text
    cells = next(row for row in table_rows(table) if ann.name in " ".join(row))
    assert cells[2].startswith("My parcel is not here Triage , 0 s"), "what they hold, and for how long"
    assert cells[3:7] == ["4", "4", "30 s", "1"], "in the last hour, today, each and given back"
    assert admin_browser.name not in str(table_rows(table))
    assert ann.name in admin_browser.get(f"/people?role=worker&state=active&q={ann.name.upper()}").text
    for criterion in ("role=manager", "state=disabled"):
        page = admin_browser.get(f"/people?q={ann.name}&{criterion}").text
        assert elements(page, f"[value='{ann.name}'][form]") == []
    page = admin_browser.get(f"/people/{ann.name}").text
    assert elements(page, ".bar")
    assert "at most 4" in page
    cells = next(row for row in table_rows(page) if row[0] == "Triage")
    assert cells[1:7] == ["4", "30 s", "1", "–", "2 min", "70 s"]


def test_people_list_is_paged(
    accounts: Accounts,
    sign_in_as: Callable[[str], Browser],
    new_name: Callable[[str], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from leaseq.webapp.people import index

    monkeypatch.setattr(index, "PAGE", 2)
    admin_browser, group = sign_in_as("admin"), new_name("page")
    names = [f"{group} {letter}" for letter in "aBcD"]
    for name in names:
        accounts.add(name, by="test")
    first_page = admin_browser.get(f"/people?q={quote(group)}").text
    assert names[2] not in str(table_rows(first_page))
    next_link = attribute(first_page, "a[href^='/people?'][href*='from=']", "href")
    last_page = admin_browser.get(next_link).text
    assert [name in text_of(last_page) for name in names] == [False, False, True, True]
    assert elements(last_page, "a[href*='from=4']") == []


def test_an_admin_signs_somebody_out(sign_in_as: Callable[[str], Browser]) -> None:
    admin_browser, ann = sign_in_as("admin"), sign_in_as("worker")
    assert admin_browser.post(f"/people/{ann.name}/sign-out").status_code == 303
    assert ann.get("/account").status_code == 303
