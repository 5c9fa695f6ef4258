"""Bad input: each gives its documented error and changes nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import leaseq

from .conftest import Caller

DEEP = "[" * 3_000 + "]" * 3_000
HUGE = "9" * 5_000
SEEN: dict[str, Any] = {}

# What a body can be wrong in: the raw text, and the field that the error names.
BODIES = {
    "malformed": ('{"token": 1,', "body"),
    "not utf-8": (b'{"token": "\xff"}', "body"),
    "NaN": ('{"token": NaN}', "body"),
    "infinity": ('{"token": -Infinity}', "body"),
    "overflow": ('{"token": 1e999}', "body"),
    "a key twice": ('{"token": 1, "token": 2}', "body"),
    "a huge number": (f'{{"token": {HUGE}}}', "body"),
    "deep": (f'{{"token": {DEEP}}}', "body"),
    "no object": ("[]", "body"),
    "json in a string": (json.dumps('{"token": 1}'), "body"),
    "null": ("null", "body"),
    "an unknown field": ('{"token": 1, "person": "eve"}', "person"),
}

# Every call with a body, and one body that it takes.
HELD = {"token": 1}
CALLS: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "put queue": ("manager", "PUT", "/queues/{q}", {}),
    "put item": ("manager", "POST", "/queues/{q}/items", {"payload": 1}),
    "reserve": ("worker", "POST", "/queues/{q}/reserve", {}),
    "finish": ("worker", "POST", "/queues/{q}/items/one/finish", {**HELD, "result": {}}),
    "abandon": ("worker", "POST", "/queues/{q}/items/one/abandon", HELD),
    "fail": ("worker", "POST", "/queues/{q}/items/one/fail", {**HELD, "error": "x"}),
    "renew": ("worker", "POST", "/queues/{q}/items/one/renew", HELD),
    "draft": ("worker", "PUT", "/queues/{q}/items/one/draft", {**HELD, "draft": {}}),
    "adopt": ("manager", "POST", "/queues/{q}/items/one/adopt", HELD),
    "revive": ("manager", "POST", "/queues/{q}/items/one/revive", {}),
    "release": ("manager", "POST", "/queues/{q}/items/one/release", {}),
    "clear": ("manager", "POST", "/queues/{q}/clear", {}),
    "pause": ("manager", "POST", "/queues/{q}/pause", {}),
    "resume": ("manager", "POST", "/queues/{q}/resume", {}),
    "put person": ("admin", "PUT", "/people/somebody new", {}),
}


def everything(queue: leaseq.Queue) -> Any:
    """The whole state of a queue, as its own library tells it."""
    items = {state: queue.items(state) for state in leaseq.STATES}
    return queue.policy, queue.stats().counters, items, queue.journal(limit=1_000)


@contextmanager
def unchanged(queue: leaseq.Queue) -> Iterator[None]:
    before = everything(queue)
    yield
    assert everything(queue) == before


@pytest.fixture(scope="module")
def _callers() -> dict[str, Caller]:
    return {}


@pytest.fixture
def call(app: Any, accounts: Any, _callers: dict[str, Caller]) -> Callable[..., Any]:
    """Call as somebody with the role; one person a role for all of the table."""

    def as_role(role: str, method: str, path: str, **options: Any) -> Any:
        if role not in _callers:
            name = f"table {role}"
            if accounts.find(name) is None:
                accounts.add(name, by="test", role=role)
            _callers[role] = Caller(name, accounts.create_token(name, "t", by="test"), app.test_client())
        return _callers[role](method, path, **options)

    return as_role


def problem(answer: Any, status: int, code: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.mimetype == "application/problem+json"
    found: dict[str, Any] = answer.json
    assert (found["status"], found["code"]) == (status, code)
    assert found["title"]
    assert found["detail"]
    assert "Traceback" not in answer.text
    return found


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("name", CALLS)
def test_a_body_that_is_no_good(asking: leaseq.Queue, call: Callable[..., Any], name: str, body: str) -> None:
    role, method, path, _ = CALLS[name]
    raw, field = BODIES[body]
    if name == "put item" and body == "no object":
        raw = "3"
    with unchanged(asking):
        answer = call(role, method, path.format(q=asking.name), data=raw, content_type="application/json")
        found = problem(answer, 400, "invalid")
    assert found["limit"]
    if field == "body" and name != "put item":
        assert found["field"] == "body"


@pytest.mark.parametrize("name", CALLS)
def test_another_kind_of_content(asking: leaseq.Queue, call: Callable[..., Any], name: str) -> None:
    role, method, path, good = CALLS[name]
    with unchanged(asking):
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
            answer = call(role, method, path.format(q=asking.name), data=json.dumps(good), content_type=kind)
            problem(answer, 415, "unsupported-media-type")


@pytest.mark.parametrize("name", [name for name in CALLS if name not in ("put queue", "put person")])
def test_a_queue_that_is_not_there(call: Callable[..., Any], server: Any, name: str) -> None:
    role, method, path, good = CALLS[name]
    found = problem(call(role, method, path.format(q="not-there"), json=good), 404, "not-found")
    assert "not-there" in found["detail"]
    assert "not-there" not in leaseq.queues(server.client)


@pytest.mark.parametrize("name", [name for name in CALLS if name != "put person"])
@pytest.mark.parametrize("bad", ["UPPER", "sp%20ace", "x" * 65, "%E2%82%AC"])
def test_a_queue_name_that_can_not_be(call: Callable[..., Any], name: str, bad: str) -> None:
    role, method, path, good = CALLS[name]
    found = problem(call(role, method, path.format(q=bad), json=good), 400, "invalid")
    assert found["field"] == "queue"


@pytest.mark.parametrize("name", ["finish", "abandon", "fail", "renew", "draft"])
def test_a_token_that_is_not_the_holders(
    asking: leaseq.Queue, call: Callable[..., Any], name: str, worker: Caller
) -> None:
    role, method, path, good = CALLS[name]
    if name == "finish":
        good = {**good, "result": {"about": "other", "urgent": False}}
    old = asking.reserve("table worker")
    asking.abandon(old)
    held = asking.reserve(worker.name)
    assert old
    assert held
    for token in (old.token, held.token, held.token + 7):  # stale, foreign, never given
        before = asking.get("one")
        body = {**good, "token": token}
        found = problem(call(role, method, path.format(q=asking.name), json=body), 409, "lease-lost")
        assert found["state"] == "reserved"
        assert isinstance(found["answer_kept"], bool)
        after = asking.get("one")
        assert (after.state, after.leases, after.answers) == (before.state, before.leases, before.answers)


@pytest.mark.parametrize("token", ["1", 1.5, True, None, -1, 2**53 + 1, [1], {}])
def test_a_token_of_another_type(asking: leaseq.Queue, call: Callable[..., Any], token: Any) -> None:
    asking.reserve("table worker")
    with unchanged(asking):
        answer = call("worker", "POST", f"/queues/{asking.name}/items/one/renew", json={"token": token})
        assert problem(answer, 400, "invalid")["field"] == "token"


@pytest.mark.parametrize(
    ("name", "change", "field"),
    [
        ("put queue", {"lease_seconds": 0}, "lease_seconds"),
        ("put queue", {"lease_seconds": "60"}, "lease_seconds"),
        ("put queue", {"lease_seconds": 10**200}, "lease_seconds"),
        ("put queue", {"bands": [3, 2]}, "bands"),
        ("put queue", {"bands": [1]}, "bands"),
        ("put queue", {"title": "x" * 201}, "title"),
        ("put queue", {"title": None}, "title"),
        ("put queue", {"form": {"ask": {"type": "string"}}}, "form"),
        ("put queue", {"form": {"ask": {"type": "object", "$ref": "http://127.0.0.1:1/x"}}}, "form"),
        ("put queue", {"form": {"ask": {"type": "object", "$ref": "file:///etc/passwd"}}}, "form"),
        ("put queue", {"form": {"show": "text"}}, "form"),
        ("put item", {"id": ""}, "id"),
        ("put item", {"id": "x" * 201}, "id"),
        ("put item", {"id": "a\nb"}, "id"),
        ("put item", {"id": "\ud800"}, "id"),
        ("put item", {"id": 7}, "id"),
        ("put item", {"priority": 1.5}, "priority"),
        ("put item", {"priority": -1}, "priority"),
        ("put item", {"delay": -1}, "delay"),
        ("put item", {"delay": 10**400}, "body"),
        ("put item", {"due": "tomorrow"}, "due"),
        ("put item", {"due": "2026-11-21T10:05:00"}, "due"),
        ("put item", {"requires": "fr"}, "requires"),
        ("put item", {"requires": ["Not A Skill"]}, "requires"),
        ("put item", {"max_attempts": 0}, "max_attempts"),
        ("put item", {"payload": "x" * 262_143}, "payload"),
        ("finish", {"result": "x" * 262_143}, "result"),
        ("finish", {"then_reserve": "yes"}, "then_reserve"),
        ("draft", {"draft": "x" * 262_143}, "draft"),
        ("abandon", {"reason": "x" * 2_001}, "reason"),
        ("abandon", {"reason": 7}, "reason"),
        ("fail", {"error": "x" * 2_001}, "error"),
        ("fail", {"error": "\ud800"}, "error"),
        ("pause", {"reason": "x" * 2_001}, "reason"),
        ("put person", {"role": "boss"}, "role"),
        ("put person", {"skills": ["Not A Skill"]}, "skills"),
        ("put person", {"skills": "fr"}, "skills"),
        ("put person", {"disabled": "yes"}, "disabled"),
    ],
)
def test_a_field_that_is_no_good(
    asking: leaseq.Queue, call: Callable[..., Any], accounts: Any, name: str, change: Any, field: str
) -> None:
    role, method, path, good = CALLS[name]
    lease = asking.reserve("table worker")
    assert lease
    if "token" in good:
        good = {**good, "token": lease.token}
    with unchanged(asking):
        answer = call(role, method, path.format(q=asking.name), json={**good, **change})
        assert problem(answer, 400, "invalid")["field"] == field
    assert accounts.find("somebody new") is None


@pytest.mark.parametrize("name", ["put item", "finish", "abandon", "fail", "renew", "draft", "adopt"])
def test_a_field_that_is_missing(asking: leaseq.Queue, call: Callable[..., Any], name: str) -> None:
    role, method, path, good = CALLS[name]
    for field in good:
        less = {key: value for key, value in good.items() if key != field}
        with unchanged(asking):
            answer = call(role, method, path.format(q=asking.name), json=less)
            assert problem(answer, 400, "invalid")["field"] == field


@pytest.mark.parametrize(
    "name", ["finish", "abandon", "fail", "renew", "draft", "adopt", "revive", "release"]
)
def test_an_item_that_is_not_there(asking: leaseq.Queue, call: Callable[..., Any], name: str) -> None:
    role, method, path, good = CALLS[name]
    if name == "finish":
        good = {**good, "result": {"about": "other", "urgent": False}}
    with unchanged(asking):
        path = path.format(q=asking.name).replace("/one/", "/nowhere/")
        problem(call(role, method, path, json=good), 404, "not-found")


def test_a_manager_can_not_adopt_what_is_not_there_or_revive_what_is_done(
    asking: leaseq.Queue, call: Callable[..., Any]
) -> None:
    base = f"/queues/{asking.name}/items/one"
    with unchanged(asking):
        problem(call("manager", "POST", f"{base}/adopt", json={"token": 5}), 400, "invalid")
    asking.finish(asking.reserve("ann"), {"about": "other", "urgent": False})
    with unchanged(asking):
        problem(call("manager", "POST", f"{base}/revive"), 400, "invalid")


def test_a_body_that_is_too_large(asking: leaseq.Queue, call: Callable[..., Any]) -> None:
    big = b'{"payload": "' + b"x" * 9_000_000 + b'"}'
    with unchanged(asking):
        for name, (role, method, path, _) in CALLS.items():
            answer = call(role, method, path.format(q=asking.name), data=big, content_type="application/json")
            assert problem(answer, 413, "too-large"), name


def test_an_array_with_a_bad_item_adds_none(asking: leaseq.Queue, call: Callable[..., Any]) -> None:
    items = [{"payload": 1}, {"payload": 2, "id": ""}, {"payload": 3}]
    with unchanged(asking):
        found = problem(call("manager", "POST", f"/queues/{asking.name}/items", json=items), 400, "invalid")
    assert found["field"] == "1.id"
    assert "item 2" in found["detail"]


@pytest.mark.parametrize(
    "bad",
    ['{"payload": NaN}', '{"payload": 1, "x": 2}', "{", '{"payload": 1, "payload": 2}', DEEP, '"text"',
     '{"payload": "%s"}' % ("x" * 262_143), "x" * 2_200_000, "\xff"],
    ids=["nan", "unknown", "malformed", "twice", "deep", "text", "large", "long", "latin"],
)  # fmt: skip
def test_lines_stop_at_the_first_bad_one(asking: leaseq.Queue, call: Callable[..., Any], bad: str) -> None:
    lines = '{"payload": 1, "id": "a"}\n{"payload": 1, "id": "one"}\n' + bad + '\n{"payload": 4, "id": "d"}\n'
    answer = call(
        "manager", "POST", f"/queues/{asking.name}/items",
        data=lines.encode("latin-1"), content_type="application/x-ndjson",
    )  # fmt: skip
    found = problem(answer, 400, "invalid")
    assert (found["line"], found["added"], found["duplicates"]) == (3, 1, 1)
    assert "line 3" in found["detail"]
    assert asking.stats().inbound == 3, "nothing of that line and of those after it entered"


@pytest.mark.parametrize("key", ["", "x" * 201, "a\tb"])
def test_an_idempotency_key_that_is_no_good(asking: leaseq.Queue, call: Callable[..., Any], key: str) -> None:
    for name in ("put item", "reserve"):
        role, method, path, good = CALLS[name]
        with unchanged(asking):
            headers = {"Idempotency-Key": key}
            answer = call(role, method, path.format(q=asking.name), json=good, headers=headers)
            assert problem(answer, 400, "invalid")["field"] == "Idempotency-Key"


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
        ("/journal?after=x", "after"),
        ("/journal?limit=-1", "limit"),
        ("/answers?format=xml", "format"),
    ],
)
def test_a_query_that_is_no_good(
    asking: leaseq.Queue, call: Callable[..., Any], path: str, field: str
) -> None:
    found = problem(call("manager", "GET", f"/queues/{asking.name}{path}"), 400, "invalid")
    assert found["field"] == field


def test_what_flask_itself_refuses_is_a_problem_too(call: Callable[..., Any], app: Any) -> None:
    problem(call("worker", "GET", "/nowhere"), 404, "not-found")
    answer = call("worker", "DELETE", "/queues")
    problem(answer, 405, "method-not-allowed")
    assert "GET" in answer.headers["Allow"]
    problem(app.test_client().get("/api/v1/queues"), 401, "unauthorized")
    problem(
        app.test_client().get("/api/v1/queues", headers={"Authorization": "Basic eDp5"}), 401, "unauthorized"
    )
    assert (
        app.test_client().get("/api/v1/queues", headers={"Authorization": "Bearer \udcff"}).status_code == 401
    )


@pytest.mark.parametrize("name", ["%20x", "x" * 65, "a%0Ab"])
def test_a_person_that_can_not_be(call: Callable[..., Any], name: str) -> None:
    assert problem(call("admin", "PUT", f"/people/{name}", json={}), 400, "invalid")["field"] == "name"
