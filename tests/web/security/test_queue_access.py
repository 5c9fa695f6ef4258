"""Access to work on a queue and to manage it, on pages and by REST."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any, cast

import pytest
from flask import Flask
from werkzeug.routing import Rule

import leaseq
from leaseq.webapp.security.authorization import OPEN_TO_ANYONE, need_of, needs_of
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.accounts.model import Person
from leaseq.webapp.store.queue_access import Access, Group, QueueAccess
from tests.support.leases import take
from tests.web.api_calls import assert_problem
from tests.web.conftest import Browser, Caller, Response

ROUTES_WITHOUT_QUEUE = {
    "api": "people for admins; webhooks and the list of queues are tested below",
    "auth": "one's own account, and signing in",
    "docs": "the description of REST",
    "guides": "the guides of docs/",
    "manage.overview": "lists queues, which is tested below",
    "manage.create": "makes a queue",
    "manage.create_from_file": "makes a queue",
    "manage.create_queue_of_job": "makes a queue",
    "manage.new_queue": "makes a queue",
    "manage.preview_new_queue": "of a file, before there is a queue",
    "manage.plan_new_queue": "of a file, before there is a queue",
    "manage.check_new_queue": "of a file, before there is a queue",
    "manage.add_demo": "asks for the access to the demo queue itself",
    "monitoring": "of all queues, which is tested below; for load balancers",
    "people": "for admins; managers see what is of their queues (tests/web/people/test_manager_view.py)",
    "static": "files",
    "webhooks": "of all queues, which is tested below",
    "work.commands": "lists queues, which is tested below",
    "work.day": "one's own figures, and the queues to which one has access",
    "work.home": "lists queues, which is tested below",
    "work.queues_menu": "lists queues, which is tested below",
    "work.break_page": "one's own break",
    "work.take_break": "one's own break",
    "work.end_break": "one's own break",
    "work.session_now": "whether one is signed in",
}
"""Routes without a queue in their path, by endpoint or blueprint, and why they need no such check."""


def guarded_rules(app: Flask) -> list[Rule]:
    return [rule for rule in app.url_map.iter_rules() if rule.endpoint not in OPEN_TO_ANYONE]


@pytest.mark.guard("queue-work")
def test_queue_routes_return_404_without_access(
    app: Flask,
    closed_queue: leaseq.Queue,
    worker: Caller,
    manager: Caller,
    worker_browser: Browser,
    manager_browser: Browser,
) -> None:
    not_found_count = 0
    for rule in guarded_rules(app):
        if "q" not in rule.arguments:
            assert {rule.endpoint, rule.endpoint.partition(".")[0]} & ROUTES_WITHOUT_QUEUE.keys(), rule
            continue
        values: dict[str, Any] = {**dict.fromkeys(rule.arguments, "1"), "q": closed_queue.name}
        path = app.url_map.bind("localhost").build(rule.endpoint, values, method=None)
        for method in (rule.methods or set()) - {"OPTIONS", "HEAD"}:
            in_api = rule.endpoint.startswith("api.")
            need = need_of(app, rule.endpoint)
            for client in (worker, manager) if in_api else (worker_browser, manager_browser):
                if isinstance(client, Caller):
                    response = client(method, path.removeprefix("/api/v1"), json={})
                else:
                    response = cast("Response", client.client.open(path, method=method))
                text = html.unescape(response.text).lower()
                if client in (worker, worker_browser) and need != "worker":
                    refusal = f"requires the role {need}" if in_api else f"only {need}s can open this page"
                    assert (response.status_code, refusal in text) == (403, True), path
                elif (method, rule.endpoint) == ("PUT", "api.put_queue"):  # the name is taken
                    assert (response.status_code, "may not manage the queue" in text) == (403, True)
                else:
                    assert response.status_code == 404, (client.name, method, path)
                    assert f"there is no queue '{closed_queue.name}', or you have no access to it" in text, (
                        path
                    )
                    not_found_count += 1
    assert not_found_count > 100


@pytest.mark.parametrize("path", ["/q/{q}", "/q/{q}/why", "/manage/{q}", "/manage/{q}/items"])
def test_page_without_access_equals_page_of_missing_queue(
    closed_queue: leaseq.Queue, worker_browser: Browser, manager_browser: Browser, path: str
) -> None:
    browser = manager_browser if path.startswith("/manage") else worker_browser

    def page_about(name: str) -> str:
        page = browser.get(path.format(q=name)).text.replace(name, "NAME")
        return re.sub(r'(nonce|value)="[^"]+"', "", page)

    assert page_about(closed_queue.name) == page_about(f"{closed_queue.name}.none")


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"json": {}}, id="an empty body, and no CSRF token"),
        pytest.param({"json": {}, "query_string": {"limit": "some"}}, id="an invalid query"),
        pytest.param({"data": "{", "content_type": "text/plain"}, id="a wrong content type"),
    ],
)
def test_bad_request_does_not_reveal_queue_without_access(
    app: Flask, closed_queue: leaseq.Queue, manager: Caller, manager_browser: Browser, options: dict[str, Any]
) -> None:
    def response_about(rule: Rule, method: str, name: str) -> tuple[int, str]:
        values: dict[str, Any] = {**dict.fromkeys(rule.arguments, "1"), "q": name}
        path = app.url_map.bind("localhost").build(rule.endpoint, values, method=None)
        if rule.endpoint.startswith("api."):
            response = manager(method, path.removeprefix("/api/v1"), **options)
        else:
            response = cast("Response", manager_browser.client.open(path, method=method, **options))
        text = response.text.replace(name, "NAME")
        return response.status_code, re.sub(r'(nonce=|value=|"request_id": )"[^"]+"', "", text)

    calls = [
        (rule, method)
        for rule in guarded_rules(app)
        for method in (rule.methods or set()) - {"OPTIONS", "HEAD"}
        if "q" in rule.arguments and (method, rule.endpoint) != ("PUT", "api.put_queue")
    ]
    assert len(calls) > 60
    assert not [
        (method, rule.endpoint)
        for rule, method in calls
        if response_about(rule, method, closed_queue.name)
        != response_about(rule, method, f"{closed_queue.name}.none")
    ]


def test_queue_without_access_is_not_listed(
    closed_queue: leaseq.Queue,
    worker: Caller,
    manager: Caller,
    worker_browser: Browser,
    manager_browser: Browser,
) -> None:
    pages = {
        worker_browser: ("/", "/queues", "/commands", "/account"),
        manager_browser: ("/", "/manage", "/queues?manage=yes", "/commands"),
    }
    for browser, paths in pages.items():
        for path in paths:
            response = browser.get(path, follow_redirects=True)
            assert response.status_code == 200
            assert closed_queue.name not in response.text, path
    for caller in (worker, manager):
        assert closed_queue.name not in [
            listed["name"] for listed in caller("GET", "/queues?limit=1000").json["queues"]
        ]


@pytest.mark.guard("queue-all")
def test_routes_about_all_queues_require_access_to_all(
    app: Flask, closed_queue: leaseq.Queue, manager: Caller, manager_browser: Browser, admin: Caller
) -> None:
    for response in (
        manager_browser.get("/webhooks"),
        manager_browser.get("/metrics"),
        manager("GET", "/webhooks"),
    ):
        assert response.status_code == 403
        assert "this concerns all queues" in response.text.replace("This", "this")
    for rule in guarded_rules(app):
        if rule.endpoint.startswith("webhooks.") or "/webhooks" in rule.rule:
            needs = needs_of(app, rule.endpoint)
            assert needs is not None
            assert needs.all_queues, rule
    assert admin("GET", "/webhooks").status_code == 200


def test_oversized_form_without_access_returns_404(
    app: Flask, closed_queue: leaseq.Queue, worker_browser: Browser
) -> None:
    fields = {"token": "1", "result": "x" * app.config["MAX_CONTENT_LENGTH"]}
    for name in (closed_queue.name, f"{closed_queue.name}.none"):
        assert worker_browser.client.post(f"/q/{name}/items/one/finish", data=fields).status_code == 404


@pytest.mark.guard("queue-manage")
def test_admins_and_named_people_have_access(
    closed_queue: leaseq.Queue, access: QueueAccess, admin: Caller, worker: Caller, manager: Caller
) -> None:
    assert admin("GET", f"/queues/{closed_queue.name}/access").status_code == 200
    access.set(closed_queue.name, Access(Group(people=(worker.name,)), Group(people=(manager.name,))))
    assert worker("POST", f"/queues/{closed_queue.name}/reserve", json={}).status_code == 200
    assert manager("GET", f"/queues/{closed_queue.name}/stats").status_code == 200
    assert worker("GET", f"/queues/{closed_queue.name}/stats").status_code == 403
    assert manager("GET", f"/queues/{closed_queue.name}").status_code == 200, (
        "those who may manage it may work on it"
    )
    access.set(closed_queue.name, Access(Group(people=(manager.name,)), Group(people=("eva",))))
    assert manager("GET", f"/queues/{closed_queue.name}").status_code == 200
    response = manager("GET", f"/queues/{closed_queue.name}/stats")
    assert (response.status_code, "may not manage the queue" in response.text) == (403, True)


@pytest.mark.parametrize(
    ("group", "may_work"),
    [
        (Group(people=("ann",)), True),
        (Group(people=("bob",)), False),
        (Group(skills=("fr", "de")), True),
        (Group(skills=("es",)), False),
        (Group(teams=("Refunds",)), True),
        (Group(teams=("Returns",)), False),
        (Group(people=("bob",), teams=("Refunds",)), True),
    ],
)
def test_group_matches_names_skills_and_teams(accounts: Accounts, group: Group, may_work: bool) -> None:
    record = accounts.find("group") or accounts.add("group", by="test")
    ann = Person("ann", "worker", ("fr",), "Refunds", False, 1, True, record.created_at)
    assert Access(group).lets_work(ann) is may_work
    assert not Access(group).lets_manage(ann)
    manager = Person("ann", "manager", ("fr",), "Refunds", False, 1, True, record.created_at)
    assert Access(None, group).lets_manage(manager) is may_work
    outsider = Person("eve", "worker", (), "", False, 1, True, record.created_at)
    assert not Access(group).lets_work(outsider)


def test_access_change_of_other_process_applies_within_a_second(server: Any, queue: leaseq.Queue) -> None:
    now = 100.0
    our_access = QueueAccess(server.client, monotonic=lambda: now)
    other_access = QueueAccess(server.client, monotonic=lambda: now)
    teams_only = Access(Group(teams=("Refunds",)))
    assert our_access.get(queue.name) == Access()
    other_access.set(queue.name, teams_only)
    assert other_access.get(queue.name) == teams_only
    now += 1.0
    assert our_access.get(queue.name) == teams_only
    other_access.set(queue.name, Access())


def test_team_of_person_is_set_by_page_and_rest(
    admin: Caller, sign_in_as: Callable[[str], Browser], accounts: Accounts, worker_browser: Browser
) -> None:
    admin_browser = sign_in_as("admin")
    path = f"/people/{worker_browser.name}"
    assert (
        admin_browser.post(f"{path}/change", {"role": "worker", "team": " Refunds "}, page=path).status_code
        == 303
    )
    assert accounts.get(worker_browser.name).team == "Refunds"
    response = admin_browser.post(f"{path}/change", {"role": "worker", "team": "x" * 65}, page=path)
    assert response.status_code == 400
    assert admin("PUT", f"/people/{worker_browser.name}", json={"team": "Returns"}).json["team"] == "Returns"
    assert admin("PUT", f"/people/{worker_browser.name}", json={"skills": ["fr"]}).json["team"] == "Returns"
    assert admin("PUT", f"/people/{worker_browser.name}", json={"team": "x" * 65}).status_code == 400


def test_item_is_assigned_only_to_person_with_access(
    access: QueueAccess, queue: leaseq.Queue, manager: Caller, worker: Caller, manager_browser: Browser
) -> None:
    """Otherwise nobody would get it, and it would wait forever."""
    queue.configure()
    queue.enqueue({}, id="one")
    queue.enqueue({}, id="done", priority=0)
    lease = take(queue, "somebody")
    queue.finish(lease, {})
    access.set(queue.name, Access(Group(people=("somebody",))))
    path, body = f"/queues/{queue.name}", {"person": worker.name}
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("/items/one/assign", body),
        ("/items/done/reopen", {"token": lease.token, "to": worker.name}),
        ("/bulk", {"action": "assign", "ids": ["one"], **body}),
    )
    for call, content in calls:
        error = assert_problem(manager("POST", path + call, json=content), 400, "invalid")
        assert f"{worker.name!r} has no access to this queue" in error["detail"], call
    page_path = f"/manage/{queue.name}/items/one"
    assert manager_browser.post(f"{page_path}/assign", body, page=page_path).status_code == 400
    access.set(queue.name, Access(Group(people=(worker.name,))))
    assert manager("POST", f"{path}/items/one/assign", json=body).status_code == 200
    access.set(queue.name, Access())
