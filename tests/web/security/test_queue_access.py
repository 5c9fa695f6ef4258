"""Who may work on a queue and who may manage it, held for pages and REST alike."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any, cast

import pytest
from flask import Flask
from werkzeug.routing import Rule

import leaseq
from leaseq.webapp.security.authorization import OPEN_TO_ANYONE, need_of
from leaseq.webapp.store.accounts import Accounts, Person
from leaseq.webapp.store.queue_access import Access, Group, QueueAccess
from tests.support.taking import take
from tests.web.api_calls import problem
from tests.web.conftest import Answer, Browser, Caller

OF_NO_QUEUE = {
    "api": "people for admins; webhooks and the list of queues are asked for below",
    "auth": "one's own account, and signing in",
    "docs": "the description of REST",
    "health": "for load balancers",
    "language": "one's own",
    "manage.overview": "lists queues, which is asked for below",
    "manage.create": "makes a queue",
    "manage.create_from_file": "makes a queue",
    "manage.add_demo": "asks for the access to the demo queue itself",
    "metrics": "of all queues, which is asked for below",
    "people": "for admins; managers see what is of their queues (tests/web/people/test_managers.py)",
    "static": "files",
    "webhooks": "of all queues, which is asked for below",
    "work.commands": "lists queues, which is asked for below",
    "work.day": "one's own figures, and the queues to which one has access",
    "work.home": "lists queues, which is asked for below",
    "work.queues_menu": "lists queues, which is asked for below",
    "work.break_page": "one's own break",
    "work.take_break": "one's own break",
    "work.end_break": "one's own break",
    "work.session_now": "whether one is signed in",
}
"""Routes without a queue in their path, by endpoint or blueprint, and why access to queues is not asked."""


def rules(app: Flask) -> list[Rule]:
    return [rule for rule in app.url_map.iter_rules() if rule.endpoint not in OPEN_TO_ANYONE]


def test_each_route_of_a_queue_is_not_there_for_who_has_no_access(
    app: Flask, closed: leaseq.Queue, worker: Caller, manager: Caller, person: Browser, boss: Browser
) -> None:
    seen = 0
    for rule in rules(app):
        if "q" not in rule.arguments:
            assert {rule.endpoint, rule.endpoint.partition(".")[0]} & OF_NO_QUEUE.keys(), rule
            continue
        values: dict[str, Any] = {**dict.fromkeys(rule.arguments, "1"), "q": closed.name}
        path = app.url_map.bind("localhost").build(rule.endpoint, values, method=None)
        for method in (rule.methods or set()) - {"OPTIONS", "HEAD"}:
            in_api = rule.endpoint.startswith("api.")
            need = need_of(app, rule.endpoint)
            for who in (worker, manager) if in_api else (person, boss):
                if isinstance(who, Caller):
                    answer = who(method, path.removeprefix("/api/v1"), json={})
                else:
                    answer = cast("Answer", who.client.open(path, method=method))
                text = html.unescape(answer.text).lower()
                if who in (worker, person) and need != "worker":
                    assert (answer.status_code, f"requires the role {need}" in text) == (403, True), path
                elif (method, rule.endpoint) == ("PUT", "api.put_queue"):  # a name that is taken
                    assert (answer.status_code, "may not manage the queue" in text) == (403, True)
                else:
                    assert answer.status_code == 404, (who.name, method, path)
                    assert f"there is no queue '{closed.name}', or you have no access to it" in text, path
                    seen += 1
    assert seen > 100


@pytest.mark.parametrize("path", ["/q/{q}", "/q/{q}/why", "/manage/{q}", "/manage/{q}/items"])
def test_what_is_said_is_the_same_where_there_is_no_queue(
    closed: leaseq.Queue, person: Browser, boss: Browser, path: str
) -> None:
    browser = boss if path.startswith("/manage") else person

    def said(name: str) -> str:
        page = browser.get(path.format(q=name)).text.replace(name, "NAME")
        return re.sub(r'(nonce|value)="[^"]+"', "", page)

    assert said(closed.name) == said(f"{closed.name}.none")


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param({"json": {}}, id="an empty body, and no CSRF token"),
        pytest.param({"json": {}, "query_string": {"limit": "some"}}, id="a wrong query"),
        pytest.param({"data": "{", "content_type": "text/plain"}, id="another type"),
    ],
)
def test_nor_does_a_call_that_is_wrong_tell_the_two_apart(
    app: Flask, closed: leaseq.Queue, manager: Caller, boss: Browser, sent: dict[str, Any]
) -> None:
    def said(rule: Rule, method: str, name: str) -> tuple[int, str]:
        values: dict[str, Any] = {**dict.fromkeys(rule.arguments, "1"), "q": name}
        path = app.url_map.bind("localhost").build(rule.endpoint, values, method=None)
        if rule.endpoint.startswith("api."):
            answer = manager(method, path.removeprefix("/api/v1"), **sent)
        else:
            answer = cast("Answer", boss.client.open(path, method=method, **sent))
        text = answer.text.replace(name, "NAME")
        return answer.status_code, re.sub(r'(nonce=|value=|"request_id": )"[^"]+"', "", text)

    calls = [
        (rule, method)
        for rule in rules(app)
        for method in (rule.methods or set()) - {"OPTIONS", "HEAD"}
        if "q" in rule.arguments and (method, rule.endpoint) != ("PUT", "api.put_queue")
    ]
    assert len(calls) > 60
    assert not [
        (method, rule.endpoint)
        for rule, method in calls
        if said(rule, method, closed.name) != said(rule, method, f"{closed.name}.none")
    ]


def test_a_queue_without_access_is_in_no_list(
    closed: leaseq.Queue, worker: Caller, manager: Caller, person: Browser, boss: Browser
) -> None:
    pages = {
        person: ("/", "/queues", "/commands", "/account"),
        boss: ("/", "/manage", "/queues?manage=yes", "/commands"),
    }
    for browser, paths in pages.items():
        for path in paths:
            answer = browser.get(path, follow_redirects=True)
            assert answer.status_code == 200
            assert closed.name not in answer.text, path
    for caller in (worker, manager):
        assert closed.name not in [one["name"] for one in caller("GET", "/queues?limit=1000").json["queues"]]


def test_what_is_of_all_queues_is_for_those_who_may_manage_all(
    app: Flask, closed: leaseq.Queue, manager: Caller, boss: Browser, admin: Caller
) -> None:
    for who in (boss.get("/webhooks"), boss.get("/metrics"), manager("GET", "/webhooks")):
        assert who.status_code == 403
        assert "this is of all queues" in who.text.replace("This", "this")
    for rule in rules(app):
        if rule.endpoint.startswith("webhooks.") or "/webhooks" in rule.rule:
            assert getattr(app.view_functions[rule.endpoint], "all_queues", False), rule
    assert admin("GET", "/webhooks").status_code == 200


def test_a_form_that_is_too_large_to_be_read_is_not_shown_again(
    app: Flask, closed: leaseq.Queue, person: Browser
) -> None:
    fields = {"token": "1", "result": "x" * app.config["MAX_CONTENT_LENGTH"]}
    for name in (closed.name, f"{closed.name}.none"):
        assert person.client.post(f"/q/{name}/items/one/finish", data=fields).status_code == 404


def test_an_admin_and_who_is_named_have_access(
    closed: leaseq.Queue, access: QueueAccess, admin: Caller, worker: Caller, manager: Caller
) -> None:
    assert admin("GET", f"/queues/{closed.name}/access").status_code == 200
    access.set(closed.name, Access(Group(people=(worker.name,)), Group(people=(manager.name,))))
    assert worker("POST", f"/queues/{closed.name}/reserve", json={}).status_code == 200
    assert manager("GET", f"/queues/{closed.name}/stats").status_code == 200
    assert worker("GET", f"/queues/{closed.name}/stats").status_code == 403
    assert manager("GET", f"/queues/{closed.name}").status_code == 200, "who may manage it may work on it"
    access.set(closed.name, Access(Group(people=(manager.name,)), Group(people=("eva",))))
    assert manager("GET", f"/queues/{closed.name}").status_code == 200
    refused = manager("GET", f"/queues/{closed.name}/stats")
    assert (refused.status_code, "may not manage the queue" in refused.text) == (403, True)


@pytest.mark.parametrize(
    ("group", "lets"),
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
def test_a_group_is_of_names_skills_and_teams(accounts: Accounts, group: Group, lets: bool) -> None:
    at = accounts.find("group") or accounts.add("group", by="test")
    ann = Person("ann", "worker", ("fr",), "Refunds", False, 1, True, at.created_at)
    assert Access(group).lets_work(ann) is lets
    assert not Access(group).lets_manage(ann)
    boss = Person("ann", "manager", ("fr",), "Refunds", False, 1, True, at.created_at)
    assert Access(None, group).lets_manage(boss) is lets
    nobody = Person("eve", "worker", (), "", False, 1, True, at.created_at)
    assert not Access(group).lets_work(nobody)


def test_another_process_s_change_counts_within_a_second(server: Any, queue: leaseq.Queue) -> None:
    now = 100.0
    here = QueueAccess(server.client, monotonic=lambda: now)
    there = QueueAccess(server.client, monotonic=lambda: now)
    closed = Access(Group(teams=("Refunds",)))
    assert here.of(queue.name) == Access()
    there.set(queue.name, closed)
    assert there.of(queue.name) == closed
    now += 1.0
    assert here.of(queue.name) == closed
    there.set(queue.name, Access())


def test_a_person_s_team_is_set_by_page_rest_and_command_line(
    admin: Caller, visitor: Callable[[str], Browser], accounts: Accounts, person: Browser
) -> None:
    root = visitor("admin")
    page = f"/people/{person.name}"
    assert root.post(f"{page}/change", {"role": "worker", "team": " Refunds "}, page=page).status_code == 303
    assert accounts.get(person.name).team == "Refunds"
    answer = root.post(f"{page}/change", {"role": "worker", "team": "x" * 65}, page=page)
    assert answer.status_code == 400
    assert admin("PUT", f"/people/{person.name}", json={"team": "Returns"}).json["team"] == "Returns"
    assert admin("PUT", f"/people/{person.name}", json={"skills": ["fr"]}).json["team"] == "Returns"
    assert admin("PUT", f"/people/{person.name}", json={"team": "x" * 65}).status_code == 400


def test_an_item_is_assigned_only_to_who_may_work_on_the_queue(
    access: QueueAccess, queue: leaseq.Queue, manager: Caller, worker: Caller, boss: Browser
) -> None:
    """Nobody else would get it, and it would wait for ever."""
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
    for call, sent in calls:
        refused = problem(manager("POST", path + call, json=sent), 400, "invalid")
        assert f"{worker.name!r} has no access to this queue" in refused["detail"], call
    page = f"/manage/{queue.name}/items/one"
    assert boss.post(f"{page}/assign", body, page=page).status_code == 400
    access.set(queue.name, Access(Group(people=(worker.name,))))
    assert manager("POST", f"{path}/items/one/assign", json=body).status_code == 200
    access.set(queue.name, Access())
