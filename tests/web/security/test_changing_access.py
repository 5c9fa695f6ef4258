"""Who may work on a queue and manage it is set by page and REST."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

import pytest

import leaseq
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.queue_access import Access, Group, QueueAccess
from tests.web.conftest import Browser, Caller


def test_the_page_sets_it_and_tells_the_log(
    boss: Browser, accounts: Accounts, queue: leaseq.Queue, access: QueueAccess, worker: Caller
) -> None:
    queue.configure()
    page = f"/manage/{queue.name}/access"
    fields = {
        "work": "some",
        "work.people": f"{worker.name}\n\n",
        "work.teams": "Refunds\n Returns and more \n",
        "work.skills": "fr de",
        "manage": "",
        "manage.people": "left over",
    }
    assert boss.post(page, fields, page=page).status_code == 303
    assert access.of(queue.name) == Access(
        Group((worker.name,), ("de", "fr"), ("Refunds", "Returns and more")), None
    )
    again = boss.get(page).text
    assert "Refunds\nReturns and more</textarea>" in again
    assert f"{worker.name}</textarea>" in again
    entry = accounts.log.page(person=queue.name).entries[0]
    assert (entry.by, entry.what) == (boss.name, "queue.access")
    assert entry.detail == (
        f"work: people {worker.name} skills de, fr teams Refunds, Returns and more; manage: everybody"
    )
    assert boss.post(page, {"work": "", "manage": ""}, page=page).status_code == 303
    assert access.of(queue.name) == Access()


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"work": "some"}, "work: at least one person, skill or team"),
        ({"work": "some", "work.people": "no such person"}, "nobody is named 'no such person'"),
        ({"work": "some", "work.skills": "Not A Skill"}, "each 1 to 64 characters"),
        ({"work": "some", "work.teams": "x" * 65}, "a team of at most 64 printable characters"),
        ({"work": "some", "work.teams": "\n".join(map(str, range(51)))}, "at most 50 teams; these are 51"),
        ({"work": "some", "work.people": "\n".join(map(str, range(501)))}, "at most 500 people"),
        (
            {"manage": "some", "manage.teams": "Refunds"},
            "is in none of these groups, and could not change it back",
        ),
    ],
)
def test_what_can_t_be_is_refused_and_kept_in_the_form(
    boss: Browser, queue: leaseq.Queue, access: QueueAccess, fields: dict[str, str], why: str
) -> None:
    queue.configure()
    page = f"/manage/{queue.name}/access"
    answer = boss.post(page, fields, page=page)
    assert answer.status_code == 400
    text = html.unescape(answer.text)
    assert why in text
    for name, value in fields.items():
        assert value in text, name
    assert access.of(queue.name) == Access()


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
def test_rest_refuses_what_can_t_be(
    manager: Caller, queue: leaseq.Queue, body: dict[str, Any], field: str
) -> None:
    queue.configure()
    answer = manager("PUT", f"/queues/{queue.name}/access", json=body)
    assert answer.status_code == 400
    assert answer.json["field"] == field


def test_rest_reads_back_what_was_set(
    manager: Caller, worker: Caller, queue: leaseq.Queue, call: Callable[..., Any]
) -> None:
    queue.configure()
    path = f"/queues/{queue.name}/access"
    assert manager("GET", path).json == {"work": None, "manage": None}
    wanted = {"work": {"people": [worker.name], "skills": ["de"], "teams": []}, "manage": None}
    assert manager("PUT", path, json=wanted).json == wanted
    assert manager("GET", path).json == wanted
    assert worker("PUT", path, json={"work": None, "manage": None}).status_code == 403
    assert call("worker", "POST", f"/queues/{queue.name}/reserve", json={}).status_code == 404
    assert manager("PUT", path, json={"work": None, "manage": None}).status_code == 200
