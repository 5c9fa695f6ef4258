"""Access to work on a queue and to manage it is set on a page and by REST."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

import pytest

import leaseq
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.queue_access import Access, Group, QueueAccess
from tests.web.conftest import Browser, Caller
from tests.web.elements import attributes, texts


def chosen(page: str, name: str) -> list[str]:
    """The names that are ticked in a list."""
    return attributes(page, f"[name='{name}'][checked]", "value")


def test_access_page_saves_access_and_writes_audit_log(
    manager_browser: Browser, accounts: Accounts, queue: leaseq.Queue, access: QueueAccess, worker: Caller
) -> None:
    queue.configure()
    path = f"/manage/{queue.name}/access"
    fields = {
        "work": "some",
        "work.people": f"{worker.name}\n\n",
        "work.teams": "Refunds\n Returns and more \n",
        "work.skills": "fr de",
        "manage": "",
        "manage.people": "left over",
    }
    page_text = html.unescape(manager_browser.post(path, fields, page=path).text)
    assert "“Refunds” matches 0 people" in page_text, "it asks first"
    assert (access.get(queue.name), 'name="confirmed"' in page_text) == (Access(), True)
    assert chosen(page_text, "work.teams") == ["Refunds", "Returns and more"], "nothing typed is lost"
    fields["confirmed"] = "yes"
    assert manager_browser.post(path, fields, page=path).status_code == 303
    assert access.get(queue.name) == Access(
        Group((worker.name,), ("de", "fr"), ("Refunds", "Returns and more")), None
    )
    page_text = manager_browser.get(path).text
    assert chosen(page_text, "work.teams") == ["Refunds", "Returns and more"]
    assert chosen(page_text, "work.people") == [worker.name]
    entry = accounts.log.page(person=queue.name).entries[0]
    assert (entry.by, entry.what) == (manager_browser.name, "queue.access")
    group = {"people": [worker.name], "teams": ["Refunds", "Returns and more"], "skills": ["de", "fr"]}
    assert entry.values == {"changes": {"work": [None, group]}}
    assert manager_browser.post(path, {"work": "", "manage": ""}, page=path).status_code == 303
    assert access.get(queue.name) == Access()


def test_page_says_whom_a_choice_matches_and_whom_it_shuts_out(
    manager_browser: Browser, accounts: Accounts, queue: leaseq.Queue, access: QueueAccess, worker: Caller
) -> None:
    queue.configure()
    path, suffix = f"/manage/{queue.name}/access", queue.name[-12:].lower()
    team, left = f"Team {suffix}", worker.name
    away = accounts.add(f"away {suffix}", by="test", team=team).name
    accounts.change(left, by="test", skills=[f"skill-{suffix}"])
    accounts.change(away, by="test", disabled=True)
    access.set(queue.name, Access(Group(skills=(f"skill-{suffix}",)), Group((manager_browser.name,))))
    page = manager_browser.get(path).text
    assert texts(page, "[data-matches]") == ["Matches 1 person.", "Matches 1 person."]
    assert chosen(page, "work.skills") == [f"skill-{suffix}"]
    assert chosen(page, "manage.people") == [manager_browser.name]
    assert away not in attributes(page, "[name='work.people']", "value"), "a disabled person can't be chosen"
    shut_out = {
        "work": "some",
        "work.people.others": away,
        "manage": "some",
        "manage.people": manager_browser.name,
    }
    meaning = manager_browser.post(f"{path}/matches", shut_out, page=path).json
    assert meaning["work"].startswith("Nobody would be able to work here")
    assert meaning["work"].endswith(f"1 person loses access: {left}.")
    question = manager_browser.post(path, shut_out, page=path).text
    assert (chosen(question, "work.people"), away in question) == ([], True)
    assert texts(question, "[role=alert] li") == [meaning["work"]]
    assert access.get(queue.name).work == Group(skills=(f"skill-{suffix}",)), "it asks first"
    confirmed = manager_browser.post(path, {**shut_out, "confirmed": "yes"}, page=path)
    assert confirmed.status_code == 303
    assert access.get(queue.name).work == Group(people=(away,))
    for nothing_yet in (
        {"work": "some", "manage": ""},
        {"work": "some", "work.skills.others": "Not A Skill"},
    ):
        meaning = manager_browser.post(f"{path}/matches", nothing_yet, page=path).json
        assert meaning["work"].startswith("Nobody would be able to work here")
    meaning = manager_browser.post(f"{path}/matches", {"work": "", "manage": ""}, page=path).json
    assert meaning == {"work": "", "manage": ""}


def test_picker_lists_only_people_whom_the_manager_may_see(
    manager_browser: Browser,
    server: Any,
    closed_queue: leaseq.Queue,
    access: QueueAccess,
    worker: Caller,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Those who may work on the queues that they manage. Other tests' queues are open to everybody."""
    calls: list[str] = []
    own_queue = leaseq.Queue(server.client, f"{closed_queue.name}.own")
    own_queue.configure()

    def managed(to: str) -> list[str]:
        calls.append(to)
        return [own_queue.name]

    monkeypatch.setattr("leaseq.webapp.manage.settings.access.queue_names", managed)
    path, group = f"/manage/{own_queue.name}/access", Group((manager_browser.name,))
    for work, is_listed in ((None, True), (group, False)):
        access.set(own_queue.name, Access(work, group))
        page = manager_browser.get(path).text
        names = attributes(page, "[name='work.people']", "value")
        assert (manager_browser.name in names, worker.name in names) == (True, is_listed)
        assert "not listed here" not in page
    assert len(calls) == 2, "the queues are read once for a page, not for each person"
    monkeypatch.setattr("leaseq.webapp.manage.settings.access.MAX_LISTED", 0)
    access.set(own_queue.name, Access(group))
    assert "not listed here" in manager_browser.get(path).text
    access.set(closed_queue.name, Access())
    access.forget_queue(own_queue.name)


def test_access_of_known_teams_and_skills_is_saved_at_once(
    manager_browser: Browser, manager: Caller, accounts: Accounts, queue: leaseq.Queue, worker: Caller
) -> None:
    queue.configure()
    path, suffix = f"/manage/{queue.name}/access", queue.name[-12:].lower()
    accounts.change(worker.name, by="test", team=f"Team {suffix}", skills=[f"skill-{suffix}"])
    fields = {"work": "some", "work.teams": f"Team {suffix}", "work.skills": f"skill-{suffix}"}
    assert manager_browser.post(path, fields, page=path).status_code == 303
    fields["work.teams"] = f"Taem {suffix}"
    page_text = manager_browser.post(path, fields, page=path).text
    assert ("Taem" in page_text, f"skill-{suffix}” matches" in page_text) == (True, False)
    work = {"teams": [f"Taem {suffix}"], "skills": [f"skill-{suffix}"]}
    response = manager("PUT", f"/queues/{queue.name}/access", json={"work": work, "manage": None})
    assert (response.status_code, response.headers["X-Leaseq-Unmatched"]) == (200, "1")
    accounts.change(worker.name, by="test", disabled=True)
    assert "matches 0 people" in manager_browser.post(path, fields, page=path).text


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"work": "some"}, "Who may work: expected at least one person, skill or team"),
        ({"work": "some", "work.people": "no such person"}, "there is no person named 'no such person'"),
        ({"work": "some", "work.skills": "Not A Skill"}, "each 1 to 64 characters"),
        ({"work": "some", "work.teams": "x" * 65}, "a team of at most 64 printable characters"),
        ({"work": "some", "work.teams": "\n".join(map(str, range(51)))}, "at most 50 teams, got 51"),
        ({"work": "some", "work.people": "\n".join(map(str, range(501)))}, "at most 500 people"),
        (
            {"manage": "some", "manage.teams": "Refunds"},
            "is in none of these groups, and could not change it back",
        ),
    ],
)
def test_invalid_access_is_refused_and_form_keeps_input(
    manager_browser: Browser, queue: leaseq.Queue, access: QueueAccess, fields: dict[str, str], reason: str
) -> None:
    queue.configure()
    path = f"/manage/{queue.name}/access"
    response = manager_browser.post(path, fields, page=path)
    assert response.status_code == 400
    text = html.unescape(response.text)
    assert reason in text
    for name, value in fields.items():
        assert all(line in text for line in value.splitlines()), name
    assert access.get(queue.name) == Access()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "work"),
        ({"work": None}, "manage"),
        ({"work": {}, "manage": None}, "work"),
        ({"work": {"people": "ann"}, "manage": None}, "work.people"),
        ({"work": {"people": ["nobody-there"]}, "manage": None}, "work"),
        ({"work": {"skills": ["NO"]}, "manage": None}, "skills"),
        ({"work": {"team": ["a"]}, "manage": None}, "work.team"),
        ({"work": None, "manage": {"teams": ["not mine"]}}, "manage"),
        ({"work": None, "manage": None, "read": None}, "read"),
    ],
)
def test_rest_refuses_invalid_access(
    manager: Caller, queue: leaseq.Queue, body: dict[str, Any], field: str
) -> None:
    queue.configure()
    response = manager("PUT", f"/queues/{queue.name}/access", json=body)
    assert response.status_code == 400
    assert response.json["field"] == field


def test_rest_returns_access_as_set(
    manager: Caller, worker: Caller, queue: leaseq.Queue, call: Callable[..., Any]
) -> None:
    queue.configure()
    path = f"/queues/{queue.name}/access"
    assert manager("GET", path).json == {"work": None, "manage": None}
    body = {"work": {"people": [worker.name], "skills": ["de"], "teams": []}, "manage": None}
    assert manager("PUT", path, json=body).json == body
    assert manager("GET", path).json == body
    assert worker("PUT", path, json={"work": None, "manage": None}).status_code == 403
    assert call("worker", "POST", f"/queues/{queue.name}/reserve", json={}).status_code == 404
    assert manager("PUT", path, json={"work": None, "manage": None}).status_code == 200
