"""New names of people and teams, and new links of invitations."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

import leaseq
from leaseq import Invalid
from leaseq.webapp.context import State
from leaseq.webapp.services import people
from leaseq.webapp.services.people import rename_team_of
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.queue_access import MAX_TEAMS, Access, Group
from tests.support.leases import take
from tests.web.conftest import PASSWORD, Browser, Caller
from tests.web.elements import attributes, element, elements, text_of, texts


@pytest.fixture(autouse=True)
def no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other web processes, for which a rename waits, are not here."""
    monkeypatch.setattr(people, "SETTLE_SECONDS", 0)


def test_person_is_shown_by_another_name_and_keeps_their_own(
    admin_browser: Browser, manager: Caller, sign_in_as: Any, accounts: Accounts, form_queue: leaseq.Queue
) -> None:
    worker = sign_in_as("worker")
    shown, path = f"Ann <b>{worker.name[-8:]}", f"/people/{worker.name}"
    lease = take(form_queue, worker.name)
    fields = {"role": "worker", "shown_name": shown}
    assert admin_browser.post(f"{path}/change", fields).status_code == 303
    for page in (
        worker.get("/day").text,
        admin_browser.get(path).text,
        admin_browser.get(f"/people?q={shown}").text,
    ):
        assert shown in html.unescape(page)
        assert f"<b>{worker.name[-8:]}" not in page
    listed = admin_browser.get(f"/people?q={worker.name}").text
    assert texts(listed, "tbody .name [data-text]") == [shown, worker.name], "with the name for signing in"
    form_queue.finish(lease, {"about": "refund", "urgent": True})
    assert [answer.person for answer in form_queue.get(lease.id).answers] == [worker.name]
    assert accounts.verify(worker.name, PASSWORD) is not None
    item = admin_browser.get(f"/manage/{form_queue.name}/items/{lease.id}").text
    assert shown in html.unescape(item)
    assert worker.name not in text_of(item)
    form_queue.enqueue({"text": "for one"}, id="assigned")
    form_queue.assign("assigned", worker.name)
    details = texts(admin_browser.get(f"/manage/{form_queue.name}/items/assigned").text, ".details dd")
    assert shown in details
    assert worker.name not in details
    take(form_queue, worker.name)
    dashboard = admin_browser.get(f"/manage/{form_queue.name}").text
    assert shown in texts(dashboard, ".person")
    assert accounts.verify(shown, PASSWORD) is None
    assert worker.get("/day").status_code == 200, "nobody is signed out"
    admin_browser.post(f"{path}/change", {"role": "worker", "shown_name": worker.name})
    assert accounts.get(worker.name).shown_name == "", "as before"


def test_nobody_is_shown_by_the_name_of_another(
    admin: Caller, accounts: Accounts, new_name: Callable[[str], str]
) -> None:
    ann, bob = (accounts.add(new_name(name), by="test").name for name in ("ann", "bob"))
    shown = f"Shown {ann}"
    assert admin("PUT", f"/people/{ann}", json={"shown_name": shown}).json["shown_name"] == shown
    for name in (ann, shown, shown.upper(), ann.replace("a", "а"), " x", "x" * 65, "\x00"):
        response = admin("PUT", f"/people/{bob}", json={"shown_name": name})
        assert (response.status_code, response.json["field"]) == (400, "shown_name"), name
    with pytest.raises(Invalid, check=lambda error: error.rule == "taken"):
        accounts.add(shown, by="test")
    assert admin("PUT", f"/people/{ann}", json={"role": "manager"}).json["shown_name"] == shown
    assert admin("PUT", f"/people/{ann}", json={"shown_name": ""}).json["shown_name"] == ""
    new = new_name("eva")
    response = admin("PUT", f"/people/{new}", json={"shown_name": f"Eva {new}"})
    assert (response.status_code, response.json["shown_name"]) == (201, f"Eva {new}")
    refused = new_name("max")
    response = admin("PUT", f"/people/{refused}", json={"shown_name": ann})
    assert (response.status_code, response.json["field"]) == (400, "shown_name")
    assert accounts.find(refused) is None


@pytest.fixture
def team_queue(form_queue: leaseq.Queue, team: list[str], accounts: Accounts, state: State) -> Any:
    """A queue for the team and for as many others as a queue may name."""
    name = accounts.get(team[0]).team
    others = tuple(f"other {number}" for number in range(MAX_TEAMS - 1))
    state.access.set(form_queue.name, Access(Group(teams=(*others, name)), Group(teams=(name,))))
    yield form_queue
    state.access.set(form_queue.name, Access())


def test_team_is_renamed_everywhere_and_nobody_is_shut_out(
    state: State, accounts: Accounts, team: list[str], team_queue: leaseq.Queue
) -> None:
    old, new = accounts.get(team[0]).team, f"new {team[0]}"
    accounts.invite(by="root", team=old, name=f"{team[0]} junior")
    steps: list[set[str]] = []

    def read_by_others(_seconds: float) -> None:
        """Another web process may have the people or the access of the step before."""
        access = state.access.read(team_queue.name)
        steps.append({person.team for person in accounts.people() if person.name in team})
        assert access.work
        assert {old, new} <= set(access.work.teams)
        assert all(access.lets_work(accounts.get(name)) for name in team)

    assert rename_team_of(accounts, state.access, old, new, by="test", wait=read_by_others) == len(team)
    assert steps == [{old}, {new}]
    access = state.access.read(team_queue.name)
    assert access.work
    assert access.manage == Group(teams=(new,))
    assert (access.work.teams[-1], old in access.work.teams, len(access.work.teams)) == (
        new,
        False,
        MAX_TEAMS,
    )
    assert all(access.lets_work(accounts.get(name)) for name in team)
    assert [invited.team for invited in accounts.invitations() if invited.name == f"{team[0]} junior"] == [
        new
    ]


def test_interrupted_rename_of_a_team_is_finished_by_the_next(
    state: State, accounts: Accounts, team: list[str], team_queue: leaseq.Queue
) -> None:
    old, new = accounts.get(team[0]).team, f"new {team[0]}"
    for fails_at in (1, 2):
        waits: list[float] = []

        def fail(seconds: float, waits: list[float] = waits, fails_at: int = fails_at) -> None:
            waits.append(seconds)
            if len(waits) == fails_at:
                raise OSError("the process is killed")

        with pytest.raises(OSError, match="killed"):
            rename_team_of(accounts, state.access, old, new, by="test", wait=fail)
        assert all(state.access.read(team_queue.name).lets_work(accounts.get(name)) for name in team)
    rename_team_of(accounts, state.access, old, new, by="test", wait=lambda _: None)
    assert state.access.read(team_queue.name).manage == Group(teams=(new,))
    assert {accounts.get(name).team for name in team} == {new}


def test_team_is_renamed_on_the_page_and_over_rest(
    admin_browser: Browser, admin: Caller, manager: Caller, accounts: Accounts, team: list[str]
) -> None:
    old, new = accounts.get(team[0]).team, f"R & D {team[0]}"
    forms = "form[action='/people/teams']"
    assert old in attributes(admin_browser.get("/people").text, f"{forms} [name=team]", "value")
    assert admin_browser.post("/people/teams", {"team": old, "to": new}).status_code == 303
    assert accounts.get(team[0]).team == new
    response = admin("POST", f"/teams/{new}/rename".replace("&", "%26"), json={"to": old})
    assert (response.status_code, response.json) == (200, {"team": old, "people": len(team)})
    taken = accounts.add(f"{team[0]} other", by="test", team=new).team
    assert admin_browser.post("/people/teams", {"team": old, "to": taken}).status_code == 400
    for to in (taken, "", "x" * 65, old, " spaces "):
        assert admin("POST", f"/teams/{old}/rename", json={"to": to}).status_code == 400, to
    assert admin("POST", "/teams/nobody's/rename", json={"to": "x"}).status_code == 404
    assert manager("POST", f"/teams/{old}/rename", json={"to": "x"}).status_code == 403
    assert {accounts.get(name).team for name in team} == {old}


def test_new_link_of_an_invitation_voids_the_old_one(
    admin_browser: Browser, admin: Caller, app: Any, accounts: Accounts, new_name: Callable[[str], str]
) -> None:
    name = new_name("invited")
    token = accounts.invite(by=admin.name, name=name, role="manager", team="Night", skills=["fr"], days=3)
    before = next(invitation for invitation in accounts.invitations() if invitation.name == name)
    page = admin_browser.post(f"/people/invitations/{before.id}/link").text
    link = element(page, "[data-copyable]").text()
    stranger = app.test_client()
    old_page, new_page = (
        stranger.get(f"/welcome?token={token}"),
        stranger.get(urlsplit(link)._replace(scheme="", netloc="").geturl()),
    )
    assert (old_page.status_code, new_page.status_code) == (403, 200)
    assert accounts.invitation(token) is None
    (after,) = (invitation for invitation in accounts.invitations() if invitation.name == name)
    assert (after.role, after.team, after.skills) == (before.role, before.team, before.skills)
    assert after.expires_at - after.created_at == before.expires_at - before.created_at
    with pytest.raises(Invalid, check=lambda error: error.rule == "sign_in"):
        accounts.accept(token, name, PASSWORD)
    response = admin("POST", f"/invitations/{after.id}/link", json={})
    newest = response.json["link"].partition("token=")[2]
    assert (response.status_code, accounts.invitation(link.partition("token=")[2])) == (201, None)
    assert accounts.accept(newest, "", PASSWORD).name == name
    for id in (after.id, response.json["id"], "0" * 12):
        assert admin("POST", f"/invitations/{id}/link", json={}).status_code == 404, "it was used or replaced"
        assert admin_browser.post(f"/people/invitations/{id}/link").status_code == 303
    assert not elements(admin_browser.get("/people").text, "[data-copyable]")
    assert text_of(admin_browser.get("/people").text)
