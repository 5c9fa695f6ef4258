"""A name or an id is one segment of a path: no slash in it makes it another page, call, item or person."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask, url_for

import leaseq
from leaseq import NewItem
from leaseq.webapp.paths import current_url
from leaseq.webapp.store.accounts import Accounts
from tests.web.api_calls import assert_problem

PEOPLE = "leaseq:{@accounts}:people"
NAMES = [
    "a/b",
    "a/correct",
    "../x",
    "../../qa/items/qa-4",
    "a%2Fb",
    "100%",
    "a?b#c",
    "a\\b",
    "é ü",
    "a//b",
    "/a",
    "a/",
    ";=&+",
]


@pytest.fixture
def keep_name(server: Any, accounts: Accounts, new_name: Callable[[str], str]) -> Callable[[str], str]:
    """Store a person under a name that earlier versions accepted."""

    def keep(name: str) -> str:
        good_name = accounts.add(new_name("kept"), by="test").name
        record = json.loads(server.redis.hget(PEOPLE, good_name))
        server.redis.hset(PEOPLE, name, json.dumps({**record, "name": name}))
        server.redis.hdel(PEOPLE, good_name)
        return name

    return keep


def dynamic_rules(app: Flask) -> list[Any]:
    return [rule for rule in app.url_map.iter_rules() if rule.arguments and rule.endpoint != "static"]


@pytest.mark.parametrize("name", NAMES)
def test_each_route_leads_back_to_its_own_view_and_name(app: Flask, name: str) -> None:
    """For each route of the app, with the name in each of its segments."""
    assert len(dynamic_rules(app)) > 100
    for rule in dynamic_rules(app):
        method = min((rule.methods or set()) - {"HEAD", "OPTIONS"})
        values: dict[str, Any] = dict.fromkeys(rule.arguments, name)
        with app.test_request_context():
            url = url_for(rule.endpoint, **values)
        assert url.count("/") == rule.rule.count("/"), "the name adds no segment"
        with app.test_request_context(url, method=method) as context:
            assert (context.request.endpoint, context.request.view_args) == (rule.endpoint, values)
            assert current_url() == url


CHOSEN = ("<q>", "<name>", "<item:id>")  # people choose these; all other ids are generated


def test_no_name_is_taken_for_a_word_of_another_route(app: Flask) -> None:
    """A person named `bulk`, a queue named `demo`: where another route has a word in place of a name, that
    word as a name still leads to the name's own view, with each of its methods."""
    rules = [rule for rule in app.url_map.iter_rules() if rule.endpoint != "static"]
    words_beside: dict[str, set[str]] = {}
    for rule in rules:
        segments = rule.rule.split("/")
        for position, word in enumerate(segments):
            if "<" not in word:
                words_beside.setdefault("/".join(segments[:position]), set()).add(word)
    ambiguous = []
    for rule in rules:
        segments = rule.rule.split("/")
        for position, argument in enumerate(segments):
            if argument not in CHOSEN:
                continue
            name = argument.strip("<>").rpartition(":")[2]
            for word in words_beside.get("/".join(segments[:position]), set()):
                values: dict[str, Any] = {**dict.fromkeys(rule.arguments, "x"), name: word}
                with app.test_request_context():
                    url = url_for(rule.endpoint, **values)
                for method in (rule.methods or set()) - {"OPTIONS"}:
                    with app.test_request_context(url, method=method) as context:
                        if (context.request.endpoint, context.request.view_args) != (rule.endpoint, values):
                            ambiguous.append(f"{method} {url}: {rule.endpoint} or {context.request.endpoint}")
    assert ambiguous == []


@pytest.mark.parametrize("name", [".", ".."])
def test_url_of_a_dot_segment_leads_nowhere(app: Flask, name: str) -> None:
    """A browser would remove it with the segment before it."""
    for rule in dynamic_rules(app):
        with app.test_request_context():
            values: dict[str, Any] = dict.fromkeys(rule.arguments, name)
            url = url_for(rule.endpoint, **values)
        assert not {".", "..", "%2E", "%2E%2E"} & set(url.split("/"))
        method = min((rule.methods or set()) - {"HEAD", "OPTIONS"})
        with app.test_request_context(url, method=method) as context:
            assert name not in (context.request.view_args or {}).values()


def test_redirect_to_a_path_without_double_slashes_keeps_what_is_escaped(app: Any) -> None:
    response = app.test_client().get("/api/v1//people/a%2Fb%25c")
    assert (response.status_code, response.location) == (308, "http://localhost/api/v1/people/a%2Fb%25c")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("PUT", "/people/{name}/export", 405),
        ("PUT", "/people/{name}/password-link", 405),
        ("DELETE", "/people/{name}/export", 405),
        ("PUT", "/people/{name}/anything", 404),
        ("DELETE", "/people/{name}/anything", 404),
    ],
)
def test_undeclared_call_under_a_person_is_refused_and_makes_nobody(
    call: Callable[..., Any],
    accounts: Accounts,
    new_name: Callable[[str], str],
    method: str,
    path: str,
    status: int,
) -> None:
    name = accounts.add(new_name("ann"), by="test").name
    call("admin", "GET", "/me")  # makes the admin's account
    before = accounts.people()
    response = call("admin", method, path.format(name=name), json={})
    assert response.status_code == status
    assert accounts.people() == before


@pytest.mark.parametrize(
    "name", ["alice%2Fexport", "boss%2Fpassword-link", "..%2Fpeople%2Fadmin2", "CORP%5Calice"]
)
def test_put_refuses_a_new_name_that_is_another_path(
    call: Callable[..., Any], accounts: Accounts, name: str
) -> None:
    call("admin", "GET", "/me")
    before = accounts.people()
    assert assert_problem(call("admin", "PUT", f"/people/{name}", json={}), 400, "invalid")["field"] == "name"
    assert accounts.people() == before


def test_stored_person_whose_name_is_another_path_is_reached(
    call: Callable[..., Any],
    accounts: Accounts,
    keep_name: Callable[[str], str],
    new_name: Callable[[str], str],
) -> None:
    victim = accounts.add(new_name("alice"), by="test", role="manager").name
    name = keep_name(f"{victim}/export")
    url = f"/people/{victim}%2Fexport"
    assert call("admin", "GET", url).json["name"] == name
    assert call("admin", "GET", f"/people/{victim}/export").json["name"] == victim
    assert call("admin", "PUT", url, json={"disabled": True}).status_code == 200
    assert accounts.get(name).disabled
    assert not accounts.get(victim).disabled
    assert call("admin", "DELETE", url).status_code == 204
    assert accounts.find(name) is None
    assert accounts.find(victim)


def test_item_whose_id_is_another_path_is_the_one_that_is_meant(
    call: Callable[..., Any], form_queue: leaseq.Queue
) -> None:
    """One that an escaped path names; without escapes, slashes belong to the id, too."""
    q = form_queue.name
    form_queue.restore(NewItem({"n": 1}, id="a"), [])
    form_queue.restore(NewItem({"n": 2}, id="a/finish"), [])
    for path in ("a%2Ffinish", "a/finish"):
        assert call("manager", "GET", f"/queues/{q}/items/{path}").json["id"] == "a/finish"
    response = call("manager", "DELETE", f"/queues/{q}/items/..%2F..%2F{q}%2Fitems%2Fa")
    assert (response.status_code, response.json["field"]) == (400, "id")
    assert form_queue.get("a").payload == {"n": 1}


def test_server_that_does_not_send_the_raw_path_still_finds_items(app: Flask) -> None:
    """WSGI does not define RAW_URI."""
    for raw in ("", "http://localhost/other", "/other%20path"):
        with app.test_request_context(
            "/api/v1/queues/q/items/a%2Fb%25", environ_overrides={"RAW_URI": raw}
        ) as context:
            assert context.request.view_args == {"q": "q", "id": "a/b%"}
