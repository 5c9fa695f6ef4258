"""Bulk changes of people: skills, teams, access to queues, disabling and invitations."""

from __future__ import annotations

import html
import re
import secrets
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

import leaseq
from leaseq.webapp.context import State
from leaseq.webapp.people import bulk, index
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.queue_access import Access, Group, QueueAccess
from tests.support.leases import not_none, take
from tests.web.conftest import Browser


@pytest.mark.parametrize(
    ("act", "value", "field", "after"),
    [
        ("add-skills", "fr es", "skills", [("de", "es", "fr"), ("es", "fr")]),
        ("remove-skills", "de", "skills", [(), ()]),
        ("team", "Refunds", "team", ["Refunds", "Refunds"]),
        ("team", "", "team", ["", ""]),
    ],
)
def test_bulk_changes_skills_and_team_of_selected_people(
    admin_browser: Browser,
    accounts: Accounts,
    team: list[str],
    act: str,
    value: str,
    field: str,
    after: list[Any],
) -> None:
    ann, bob, eva = team
    accounts.change(ann, by="test", skills=["de"])
    before = accounts.get(eva)
    response = admin_browser.post("/people/bulk?sort=done", {"name": [ann, bob], "act": act, "value": value})
    assert response.headers["Location"] == "/people?sort=done"
    assert [getattr(accounts.get(name), field) for name in (ann, bob)] == after
    assert accounts.get(eva) == before
    assert "2 people are changed." in admin_browser.get("/people").text


def test_bulk_disables_and_enables_people(
    admin_browser: Browser, accounts: Accounts, form_queue: leaseq.Queue, team: list[str]
) -> None:
    take(form_queue, team[0])
    admin_browser.post("/people/bulk", {"name": team[:2], "disable": "yes", "act": "add-skills", "value": ""})
    assert [accounts.get(name).disabled for name in team] == [True, True, False]
    assert form_queue.mine(team[0]) == []
    admin_browser.post("/people/bulk", {"name": team, "act": "enable"})
    assert not any(accounts.get(name).disabled for name in team)


def test_bulk_grants_and_revokes_access_to_queue(
    admin_browser: Browser, team: list[str], queue: leaseq.Queue, state: State
) -> None:
    queue.configure()
    fields = {"name": team[:2], "value": queue.name}
    admin_browser.post("/people/bulk", {**fields, "act": "let-work"})
    assert "on which everybody may work" in admin_browser.get("/people").text
    state.access.set(queue.name, Access(Group(teams=("Refunds",))))
    admin_browser.post("/people/bulk", {**fields, "act": "let-work"})
    assert state.access.get(queue.name) == Access(Group(people=tuple(team[:2]), teams=("Refunds",)))
    admin_browser.post("/people/bulk", {**fields, "name": team[:1], "act": "let-not-work"})
    assert state.access.get(queue.name) == Access(Group(people=(team[1],), teams=("Refunds",)))
    state.access.set(queue.name, Access())


def test_bulk_keeps_access_granted_by_other_process(
    admin_browser: Browser, team: list[str], queue: leaseq.Queue, state: State, server: Any
) -> None:
    """The steps of a change may run in different web processes, which read the access once a second."""
    queue.configure()
    state.access.set(queue.name, Access(Group(people=(team[0],))))
    assert state.access.get(queue.name).work == Group(people=(team[0],))
    QueueAccess(server.client).set(queue.name, Access(Group(people=tuple(team[:2]))))
    admin_browser.post("/people/bulk", {"name": team[2:], "act": "let-work", "value": queue.name})
    assert state.access.get(queue.name) == Access(Group(people=tuple(team)))
    state.access.set(queue.name, Access())


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": [], "act": "team"}, "at least one person"),
        ({"act": "promote"}, "one of add-skills"),
        ({"act": "add-skills", "value": "  "}, "expected a value"),
        ({"act": "add-skills", "value": "Not Good"}, "each 1 to 64 characters of a-z"),
        ({"act": "team", "value": "x" * 65}, "a team of at most 64 printable characters"),
        ({"name": ["nobody at all"], "act": "team"}, "there is no person named"),
    ],
)
def test_invalid_bulk_change_is_refused_with_reason(
    admin_browser: Browser, accounts: Accounts, team: list[str], fields: dict[str, Any], message: str
) -> None:
    before = accounts.get(team[0])
    assert admin_browser.post("/people/bulk", {"name": [team[0]], **fields}).status_code == 303
    assert message in html.unescape(admin_browser.get("/people").text)
    assert accounts.get(team[0]) == before


def test_bulk_changes_all_matching_people_in_steps(
    admin_browser: Browser, accounts: Accounts, team: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "STEP", 2)
    monkeypatch.setattr(index, "PAGE", 2)
    path = f"/people?q={team[0][:-4]}"
    page = html.unescape(admin_browser.get(path).text)
    assert "Select all 3 people that match" in page
    fields = {"name": team[:1], "all": "yes", "act": "team", "value": "Refunds"}
    first_response = admin_browser.post(path.replace("?", "/bulk?"), fields)
    assert "2 people are changed." in first_response.text
    assert [accounts.get(name).team for name in team] == ["Refunds", "Refunds", team[0][:-4]]
    form = dict(
        re.findall(
            r'type="hidden" name="(\w+)" value="([^"]*)"', first_response.text.split('id="next-step"')[1]
        )
    )
    assert (form["after"], form["total"]) == (team[1], "3")
    last_response = admin_browser.post(path.replace("?", "/bulk?"), form)
    assert "3 people are changed." in last_response.text
    assert 'id="next-step"' not in last_response.text
    assert [accounts.get(name).team for name in team] == ["Refunds"] * 3
    assert admin_browser.post("/people/bulk?q=nobody+at+all", fields).status_code == 303
    assert "0 people are changed." in admin_browser.get("/people").text


def test_bulk_change_of_step_size_needs_only_one_step(
    admin_browser: Browser, accounts: Accounts, team: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "STEP", 3)
    path = f"/people/bulk?q={team[0][:-4]}"
    fields = {"name": team[:1], "all": "yes", "act": "team", "value": "Refunds"}
    assert admin_browser.post(path, fields).status_code == 303
    assert "3 people are changed." in admin_browser.get("/people").text
    assert [accounts.get(name).team for name in team] == ["Refunds"] * 3


def test_admin_cannot_disable_own_account_in_bulk(admin_browser: Browser, accounts: Accounts) -> None:
    admin_browser.post("/people/bulk", {"name": [admin_browser.name], "disable": "yes"})
    assert "you would be signed out" in admin_browser.get("/people").text
    assert not accounts.get(admin_browser.name).disabled


def test_bulk_access_to_missing_queue_is_refused(admin_browser: Browser, team: list[str]) -> None:
    fields = {"name": team, "act": "let-work", "value": "no-such-queue"}
    assert admin_browser.post("/people/bulk?sort=done", fields).location == "/people?sort=done"
    assert "Not changed: there is no queue 'no-such-queue'." in html.unescape(
        admin_browser.get("/people").text
    )


def test_hundred_refusals_are_all_listed(admin_browser: Browser) -> None:
    names = [f"{n:03} {secrets.token_hex(20)}" for n in range(100)]
    response = admin_browser.post("/people/bulk", {"name": names, "act": "team", "value": "Refunds"})
    assert response.status_code == 200
    assert all(f"{name}</a>: there is no person named" in html.unescape(response.text) for name in names)


@pytest.mark.parametrize(("count", "status"), [(10, 303), (11, 200)])
def test_more_than_ten_refusals_are_shown_on_separate_page(
    admin_browser: Browser, count: int, status: int
) -> None:
    names = [f"{n:02} {secrets.token_hex(20)}" for n in range(count)]
    response = admin_browser.post("/people/bulk", {"name": names, "act": "team", "value": "Refunds"})
    assert response.status_code == status
    page = html.unescape(response.text if status == 200 else admin_browser.get("/people").text)
    assert all(re.search(f"{name}.*: there is no person named", page) for name in names)


def test_later_step_reports_refusals_without_redirect(
    admin_browser: Browser,
    team: list[str],
    queue: leaseq.Queue,
    state: State,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The script would take a redirect for one to the sign-in page."""
    monkeypatch.setattr(bulk, "STEP", 2)
    queue.configure()
    state.access.set(queue.name, Access(Group(teams=("Refunds",))))
    fields = {"all": "yes", "act": "let-work", "value": queue.name}
    path = f"/people/bulk?q={team[0][:-4]}"
    admin_browser.post(path, fields)
    state.access.set(queue.name, Access())
    response = admin_browser.post(path, {**fields, "after": team[1], "done": 2, "total": 3})
    assert response.status_code == 200
    assert "2 people are changed." in response.text
    assert f"{team[2]}</a>: Queue: expected a queue that only some may work on" in response.text


def test_pasted_names_are_invited(
    app: Flask, admin_browser: Browser, accounts: Accounts, team: list[str], new_name: Callable[[str], str]
) -> None:
    new_names = [new_name("new") for _ in range(2)]
    text = f"{new_names[0]}\r\n\r\n  {new_names[1]} \r\n{team[0]}\r\n{new_names[0]}"
    response = admin_browser.post(
        "/people", {"name": text, "role": "worker", "skills": "fr", "team": "Refunds"}
    )
    assert response.status_code == 200
    page = html.unescape(response.text)
    links = re.findall(r"<b>([^<]+)</b> <code[^>]*>[^<]*(/welcome\?token=[\w-]+)", page)
    assert [name for name, _link in links] == new_names
    assert f"there is already a person named {team[0]!r}" in page
    assert f">{team[0]}</textarea>" in page, "names that were not invited stay in the box"
    token = links[0][1].partition("=")[2]
    person = accounts.accept(token, "", "correct horse battery")
    assert (person.name, person.team, person.skills) == (new_names[0], "Refunds", ("fr",))
    assert not_none(accounts.find(new_names[0])).team == "Refunds"


def test_maximum_number_of_names_is_invited(admin_browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leaseq.webapp.people.index.MAX_NAMES", 2)
    names = [f"as many as are taken {n}" for n in range(2)]
    page = admin_browser.post("/people", {"name": "\n".join(names), "role": "worker"}).text
    assert re.findall(r"<b>([^<]+)</b> <code", page) == names


def test_too_many_names_are_refused_and_kept_in_field(admin_browser: Browser) -> None:
    response = admin_browser.post("/people", {"name": "\n".join(f"name {n}" for n in range(501))})
    assert response.status_code == 400
    assert "at most 500 names at once, got 501" in response.text
    assert "name 500</textarea>" in response.text
