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
    assert "Refunds\n Returns and more" in page_text, "nothing typed is lost"
    fields["confirmed"] = "yes"
    assert manager_browser.post(path, fields, page=path).status_code == 303
    assert access.get(queue.name) == Access(
        Group((worker.name,), ("de", "fr"), ("Refunds", "Returns and more")), None
    )
    page_text = manager_browser.get(path).text
    assert "Refunds\nReturns and more</textarea>" in page_text
    assert f"{worker.name}</textarea>" in page_text
    entry = accounts.log.page(person=queue.name).entries[0]
    assert (entry.by, entry.what) == (manager_browser.name, "queue.access")
    assert entry.detail == (
        f"work: people {worker.name} skills de, fr teams Refunds, Returns and more; manage: everybody"
    )
    assert manager_browser.post(path, {"work": "", "manage": ""}, page=path).status_code == 303
    assert access.get(queue.name) == Access()


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
        assert value in text, name
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
