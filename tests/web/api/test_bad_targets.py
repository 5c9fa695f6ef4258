"""Calls with an unknown queue, item, token, path or query get their documented error and change nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest

import leaseq
from tests.support.leases import not_none
from tests.web.api_calls import CALLS, assert_problem, assert_unchanged
from tests.web.conftest import Caller


@pytest.mark.parametrize("name", [name for name in CALLS if name not in ("put queue", "put person")])
def test_unknown_queue_is_not_found(call: Callable[..., Any], server: Any, name: str) -> None:
    role, method, path, valid_body = CALLS[name]
    refusal = assert_problem(
        call(role, method, path.format(q="not-there"), json=valid_body), 404, "not-found"
    )
    assert "not-there" in refusal["detail"]
    assert "not-there" not in leaseq.queues(server.client)


@pytest.mark.parametrize("name", [name for name in CALLS if name != "put person"])
@pytest.mark.parametrize("bad_name", ["UPPER", "sp%20ace", "x" * 65, "%E2%82%AC"])
def test_invalid_queue_name_is_refused(call: Callable[..., Any], name: str, bad_name: str) -> None:
    role, method, path, valid_body = CALLS[name]
    refusal = assert_problem(call(role, method, path.format(q=bad_name), json=valid_body), 400, "invalid")
    assert refusal["field"] == "queue"


@pytest.mark.parametrize("name", ["finish", "abandon", "fail", "renew", "draft"])
def test_stale_or_foreign_token_is_refused_as_lease_lost(
    form_queue: leaseq.Queue, call: Callable[..., Any], name: str, worker: Caller
) -> None:
    role, method, path, valid_body = CALLS[name]
    if name == "finish":
        valid_body = {**valid_body, "result": {"about": "other", "urgent": False}}
    old_lease = form_queue.reserve("table worker")
    assert old_lease
    form_queue.release(old_lease.id)
    held_lease = form_queue.reserve(worker.name)
    assert held_lease
    # stale, foreign, never granted
    for token in (old_lease.token, held_lease.token, held_lease.token + 7):
        before = form_queue.get("one")
        body = {**valid_body, "token": token}
        refusal = assert_problem(
            call(role, method, path.format(q=form_queue.name), json=body), 409, "lease-lost"
        )
        assert refusal["state"] == "reserved"
        assert isinstance(refusal["answer_kept"], bool)
        after = form_queue.get("one")
        assert (after.state, after.leases, after.answers) == (before.state, before.leases, before.answers)


@pytest.mark.parametrize(
    "name", ["finish", "abandon", "fail", "renew", "draft", "adopt", "reopen", "correct", "revive", "release"]
)
def test_unknown_item_is_not_found(form_queue: leaseq.Queue, call: Callable[..., Any], name: str) -> None:
    role, method, path, valid_body = CALLS[name]
    if name == "finish":
        valid_body = {**valid_body, "result": {"about": "other", "urgent": False}}
    with assert_unchanged(form_queue):
        path = path.format(q=form_queue.name).replace("/one/", "/nowhere/")
        assert_problem(call(role, method, path, json=valid_body), 404, "not-found")


def test_unknown_answer_and_revive_of_finished_item_are_refused(
    form_queue: leaseq.Queue, call: Callable[..., Any]
) -> None:
    base = f"/queues/{form_queue.name}/items/one"
    with assert_unchanged(form_queue):
        assert_problem(call("manager", "POST", f"{base}/adopt", json={"token": 5}), 400, "invalid")
        assert_problem(call("manager", "POST", f"{base}/reopen", json={"token": 5}), 400, "invalid")
        assert_problem(
            call("manager", "POST", f"{base}/correct", json={"token": 5, "result": {}}), 400, "invalid"
        )
    form_queue.finish(not_none(form_queue.reserve("ann")), {"about": "other", "urgent": False})
    with assert_unchanged(form_queue):
        assert_problem(call("manager", "POST", f"{base}/revive"), 400, "invalid")


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/items", "state"),
        ("/items?state=lost", "state"),
        ("/items?state=inbound&limit=0", "limit"),
        ("/items?state=inbound&limit=1001", "limit"),
        ("/items?state=inbound&limit=x", "limit"),
        ("/items?state=inbound&after=x", "after"),
        ("/items?state=inbound&after=%00", "after"),
        ("/items?state=inbound&x=1", "x"),
        ("/due?limit=0", "limit"),
        ("/due?state=dead", "state"),
        ("/journal?after=x", "after"),
        ("/journal?limit=-1", "limit"),
        ("/answers?format=xml", "format"),
        ("/answers?to=", "to"),
        ("/answers?from=", "from"),
        ("/answers?from=2026-11-22&to=2026-11-21", "from"),
        ("/answers?to=%20", "to"),
        ("/answers?person=", "person"),
        ("/answers?late=", "late"),
        ("/items?state=inbound&after=", "after"),
        ("/due?after=", "after"),
        ("/mine?after=", "after"),
        ("/journal?after=", "after"),
        ("/late?after=x", "after"),
        ("/answers/new?after=x", "after"),
        ("/answers/new?after=", "after"),
        ("/answers/new?after=%00", "after"),
        ("/answers/new?after=another:0", "after"),
        ("/answers/new?after={q}:1/eA==", "after"),
        ("/answers/new?limit=0", "limit"),
        ("/answers/new?limit=1001", "limit"),
        ("/answers/new?limit=x", "limit"),
        ("/answers/new?person=ann", "person"),
        ("/events?after=", "after"),
        ("/items?state=inbound&state=dead", "state"),
        ("/items?state=inbound&limit=5&limit=5", "limit"),
        ("/answers?to=2026-11-21&to=2026-11-22", "to"),
        ("/stats?x=1&x=2", "x"),
        ("/events?after=1.0&after=2.0", "after"),
    ],
)
@pytest.mark.guard("one-value")
def test_rest_refuses_invalid_query_parameter(
    form_queue: leaseq.Queue, call: Callable[..., Any], path: str, field: str
) -> None:
    url = f"/queues/{form_queue.name}{path.format(q=form_queue.name)}"
    refusal = assert_problem(call("manager", "GET", url), 400, "invalid")
    assert refusal["field"] == field


BYTES = "%ff%fe"
"""Not valid UTF-8."""


@pytest.mark.parametrize(
    ("role", "method", "path"),
    [
        ("manager", "GET", f"/queues/{BYTES}"),
        ("manager", "PUT", f"/queues/{BYTES}"),
        ("manager", "GET", f"/queues/{{q}}/items/{BYTES}"),
        ("manager", "DELETE", f"/queues/{{q}}/items/one{BYTES}"),
        ("worker", "POST", f"/queues/{{q}}/items/{BYTES}/renew"),
        ("admin", "PUT", f"/people/{BYTES}"),
        ("worker", "GET", f"/nowhere/{BYTES}"),
        ("worker", "PATCH", f"/{BYTES}"),
    ],
)
@pytest.mark.guard("path-utf8")
def test_rest_refuses_path_with_invalid_utf_8(
    form_queue: leaseq.Queue, call: Callable[..., Any], accounts: Any, role: str, method: str, path: str
) -> None:
    path_info = unquote_to_bytes(f"/api/v1{path.format(q=form_queue.name)}").decode("latin-1")  # as in WSGI
    with assert_unchanged(form_queue):
        response = call(role, method, "/", json={}, environ_overrides={"PATH_INFO": path_info})
        assert assert_problem(response, 400, "invalid")["field"] == "path"
    assert [one.name for one in accounts.people() if "\ufffd" in one.name] == []


def test_rest_refuses_query_with_invalid_utf_8(form_queue: leaseq.Queue, call: Callable[..., Any]) -> None:
    """Otherwise the undecoded text would be taken for the name of another person."""
    for query in (f"person={BYTES}", f"{BYTES}=1"):
        response = call("manager", "GET", f"/queues/{form_queue.name}/answers?{query}")
        assert assert_problem(response, 400, "invalid")["field"] == "query"
    valid_response = call("manager", "GET", f"/queues/{form_queue.name}/answers?person=Zo%C3%AB")
    assert valid_response.status_code == 200


def test_page_path_with_invalid_utf_8_gets_html_error(app: Any) -> None:
    response = app.test_client().get("/", environ_overrides={"PATH_INFO": "/q/\xff\xfe"})
    assert (response.status_code, response.mimetype) == (400, "text/html")


def test_refusals_by_flask_are_problem_documents(call: Callable[..., Any], app: Any) -> None:
    assert_problem(call("worker", "GET", "/nowhere"), 404, "not-found")
    response = call("worker", "DELETE", "/queues")
    assert_problem(response, 405, "method-not-allowed")
    assert "GET" in response.headers["Allow"]
    assert_problem(app.test_client().get("/api/v1/queues"), 401, "unauthorized")
    assert_problem(
        app.test_client().get("/api/v1/queues", headers={"Authorization": "Basic eDp5"}), 401, "unauthorized"
    )
    assert (
        app.test_client().get("/api/v1/queues", headers={"Authorization": "Bearer \udcff"}).status_code == 401
    )


@pytest.mark.parametrize("name", ["%20x", "x" * 65, "a%0Ab"])
def test_invalid_person_name_is_refused(call: Callable[..., Any], name: str) -> None:
    assert assert_problem(call("admin", "PUT", f"/people/{name}", json={}), 400, "invalid")["field"] == "name"
