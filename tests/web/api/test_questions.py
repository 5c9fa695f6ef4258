"""Questions over REST: a program asks, waits, cancels; it sees its own questions and nothing else."""

from __future__ import annotations

import json
import re
import secrets
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask

import leaseq
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.queue_access import Access, Group
from tests.support.bad_questions import BAD_QUESTIONS
from tests.support.waiting import eventually
from tests.web.api_calls import assert_problem
from tests.web.conftest import Caller

FORM = {"ask": {"type": "object", "properties": {"refund": {"enum": ["yes", "no"]}}, "required": ["refund"]}}
QUESTION = {"payload": {"text": "Refund 80?"}, "form": FORM}
YES = {"refund": "yes"}
NO_JSON = re.compile("NaN|Infinity")


@pytest.fixture
def make_asker(app: Flask, accounts: Accounts, queue: leaseq.Queue) -> Callable[..., Caller]:
    """Return a function that makes a program with a token of scope ask for the queue."""
    queue.configure(title="Refunds")

    def make(name: str = "", **options: Any) -> Caller:
        name = name or f"bot-{len(accounts.people())}"
        if accounts.find(name) is None:
            accounts.add(name, by="test", role="manager")
        token = accounts.create_token(
            name, "ask", by="test", **{"scope": "ask", "queue": queue.name, **options}
        )
        return Caller(name, token, app.test_client())

    return make


@pytest.fixture
def asker(make_asker: Callable[..., Caller]) -> Caller:
    return make_asker()


def answer(queue: leaseq.Queue, result: leaseq.Json = YES, person: str = "ann") -> None:
    lease = queue.reserve(person)
    assert lease is not None
    queue.finish(lease, result)


def test_question_is_answered(queue: leaseq.Queue, asker: Caller) -> None:
    response = asker("POST", f"/queues/{queue.name}/questions", json={**QUESTION, "id": "r/1"})
    assert response.status_code == 202
    assert response.json == {"id": "r/1", "state": "waiting", "reason": None}
    assert int(response.headers["Retry-After"]) > 0
    path = response.headers["Location"].partition("/api/v1")[2]
    assert asker("GET", path).status_code == 202
    item = queue.get("r/1")
    assert (item.asked_by, item.form) == (asker.name, FORM)
    assert item.expires is not None
    answer(queue)
    response = asker("GET", path)
    assert response.status_code == 200
    body = response.json
    assert {name: body[name] for name in ("id", "state", "result", "how", "late")} == {
        "id": "r/1",
        "state": "answered",
        "result": YES,
        "how": "single",
        "late": False,
    }
    assert [one["person"] for one in body["answers"]] == ["ann"]
    again = asker("POST", f"/queues/{queue.name}/questions", json={**QUESTION, "id": "r/1", "wait": 25})
    assert (again.status_code, again.json) == (200, body)


def test_waiting_call_gets_answer_at_once(queue: leaseq.Queue, make_asker: Callable[..., Caller]) -> None:
    asker, same_asker = (make_asker("bot") for _ in range(2))
    with ThreadPoolExecutor(2) as pool:
        body = {**QUESTION, "id": "one", "wait": 25}
        first = pool.submit(asker, "POST", f"/queues/{queue.name}/questions", json=body)
        eventually(lambda: queue.stats().inbound == 1)
        second = pool.submit(same_asker, "GET", f"/queues/{queue.name}/questions/one?wait=25")
        answer(queue)
        assert [call.result().status_code for call in (first, second)] == [200, 200]


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (lambda queue: queue.cancel("one"), "cancelled"),
        (lambda queue: queue.remove("one"), None),
        (lambda queue: queue.fail(queue.reserve("ann"), retry=False), "dead"),
        (lambda queue: queue.clear(), "expired"),
    ],
)
def test_question_that_nobody_answers_is_gone(
    queue: leaseq.Queue, asker: Caller, end: Callable[[leaseq.Queue], object], reason: str | None
) -> None:
    timeout = 0.05 if reason == "expired" else 60
    asker("POST", f"/queues/{queue.name}/questions", json={**QUESTION, "id": "one", "timeout": timeout})
    if reason == "expired":
        threading.Event().wait(0.06)  # by the server's clock
    end(queue)
    response = asker("GET", f"/queues/{queue.name}/questions/one")
    if reason is None:
        assert_problem(response, 404, "not-found")
        return
    problem = assert_problem(response, 410, "not-answered")
    assert (problem["id"], problem["reason"]) == ("one", reason)
    if reason != "expired":
        again = asker("POST", f"/queues/{queue.name}/questions", json={**QUESTION, "id": "one"})
        assert again.status_code == 410, "the same question, in whatever state"


def test_asker_cancels_its_question(queue: leaseq.Queue, asker: Caller) -> None:
    for id in ("one", "answered"):
        asker("POST", f"/queues/{queue.name}/questions", json={**QUESTION, "id": id})
    for _ in range(2):
        assert asker("DELETE", f"/queues/{queue.name}/questions/one").status_code == 204
    assert queue.get("one").died_of == "cancelled"
    answer(queue)
    assert asker("DELETE", f"/queues/{queue.name}/questions/answered").status_code == 204
    assert asker("GET", f"/queues/{queue.name}/questions/answered").status_code == 200


def test_question_of_another_asker_is_not_found(
    queue: leaseq.Queue, asker: Caller, make_asker: Callable[..., Caller]
) -> None:
    other = make_asker("other bot")
    path = f"/queues/{queue.name}/questions"
    other("POST", path, json={**QUESTION, "id": "one"})
    queue.enqueue(QUESTION["payload"], id="item", form=FORM)
    for id in ("one", "item", "missing"):
        for method in ("GET", "DELETE"):
            problem = assert_problem(asker(method, f"{path}/{id}"), 404, "not-found")
            assert problem["values"] == {"what": "item", "queue": queue.name, "id": id}
    for id in ("one", "item"):
        assert_problem(asker("POST", path, json={**QUESTION, "id": id}), 409, "conflict")
    changed = {**QUESTION, "payload": "x", "id": "one"}
    assert_problem(other("POST", path, json=changed), 409, "conflict")
    assert queue.get("one").state == "inbound"


def test_repeated_key_asks_once(queue: leaseq.Queue, asker: Caller) -> None:
    path, headers = f"/queues/{queue.name}/questions", {"Idempotency-Key": "k"}
    ids = {asker("POST", path, json=QUESTION, headers=headers).json["id"] for _ in range(2)}
    ids.add(asker("POST", path, json=QUESTION).json["id"])
    assert len(ids) == 2
    assert queue.stats().inbound == 2


@pytest.mark.parametrize("why", ["paused", "skills", "addressee", "access"])
def test_reason_why_nobody_can_answer_is_told(
    queue: leaseq.Queue, asker: Caller, accounts: Accounts, why: str
) -> None:
    path, skill, able = f"/queues/{queue.name}/questions", secrets.token_hex(4), secrets.token_hex(4)
    body: dict[str, Any] = {**QUESTION, "requires": [skill]}
    accounts.add(able, by="test", role="worker", skills=[skill])
    assert asker("POST", path, json=body).json["reason"] is None
    if why == "paused":
        queue.pause()
    if why == "skills":
        body["requires"] = [skill, "legal"]
    if why == "addressee":
        body["to"] = "nobody of this name"
    if why == "access":
        accounts.change(able, by="test", disabled=True)
    response = asker("POST", path, json=body)
    assert response.status_code == 202
    assert response.json["reason"] == ("paused" if why == "paused" else "nobody")


def test_answer_of_256_kb_arrives_whole(queue: leaseq.Queue, asker: Caller) -> None:
    asker("POST", f"/queues/{queue.name}/questions", json={"payload": "x", "id": "one"})
    text = "ä" * 131_000
    answer(queue, text)
    assert asker("GET", f"/queues/{queue.name}/questions/one").json["result"] == text


@pytest.mark.parametrize("way", ["disabled", "closed"])
def test_access_lost_while_waiting_tells_nothing(
    app: Flask, queue: leaseq.Queue, asker: Caller, accounts: Accounts, way: str
) -> None:
    with ThreadPoolExecutor(1) as pool:
        body = {**QUESTION, "id": "one", "wait": 25}
        call = pool.submit(asker, "POST", f"/queues/{queue.name}/questions", json=body)
        eventually(lambda: queue.stats().inbound == 1)
        if way == "disabled":
            accounts.change(asker.name, by="test", disabled=True)
        else:
            other = Group(people=("another",))
            app.extensions["leaseq"].access.set(queue.name, Access(work=other, manage=other))
        answer(queue)
        if way == "disabled":
            assert_problem(call.result(), 401, "unauthorized")
        else:
            assert_problem(call.result(), 404, "not-found")


def test_question_of_another_asker_with_the_id_by_now_is_not_told(
    queue: leaseq.Queue,
    asker: Caller,
    make_asker: Callable[..., Caller],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other, path = make_asker("other bot"), f"/queues/{queue.name}/questions"
    asker("POST", path, json={**QUESTION, "id": "one"})
    wait_for = leaseq.Queue.wait_for

    def replace_and_wait(self: leaseq.Queue, id: str, seconds: float) -> leaseq.Answered:
        queue.remove("one")
        with pytest.raises(leaseq.StillWaiting):
            queue.ask("x", id="one", wait=0, by=other.name)
        answer(queue, "secret")
        return wait_for(self, id, seconds)

    monkeypatch.setattr(leaseq.Queue, "wait_for", replace_and_wait)
    assert_problem(asker("GET", f"{path}/one"), 404, "not-found")


def test_token_to_ask_does_nothing_else(app: Flask, queue: leaseq.Queue, asker: Caller) -> None:
    """Each call of REST, with a token of scope ask for this queue, of a person who is a manager."""
    queue.enqueue({}, id="one")
    allowed = set()
    for rule in app.url_map.iter_rules():
        if rule.endpoint.partition(".")[0] != "api":
            continue
        path = re.sub(r"<(?:\w+:)?q>", queue.name, rule.rule.removeprefix("/api/v1"))
        path = re.sub(r"<[^>]*>", "one", path)
        for method in (rule.methods or set()) - {"OPTIONS", "HEAD"}:
            if asker(method, path, json={}).status_code != 403:
                allowed.add((method, rule.endpoint))
    assert allowed == {
        ("POST", "api.ask"),
        ("GET", "api.get_answer"),
        ("DELETE", "api.cancel_question"),
        ("GET", "api.get_me"),
    }
    assert queue.get("one").state == "inbound"


def test_token_to_ask_is_bound_to_its_queue(
    server: Any, queue: leaseq.Queue, asker: Caller, make_asker: Callable[..., Caller]
) -> None:
    other = leaseq.Queue(server.client, f"{queue.name}.other")
    other.configure()
    assert_problem(asker("POST", f"/queues/{other.name}/questions", json=QUESTION), 403, "forbidden")
    everywhere = make_asker(queue=None)
    assert everywhere("POST", f"/queues/{other.name}/questions", json=QUESTION).status_code == 202


@pytest.mark.parametrize("scope", ["read", "work", "enqueue"])
def test_other_narrow_tokens_ask_nothing(
    queue: leaseq.Queue, make_asker: Callable[..., Caller], scope: str
) -> None:
    caller = make_asker(scope=scope)
    for method, path in (("POST", ""), ("DELETE", "/one")):
        assert_problem(
            caller(method, f"/queues/{queue.name}/questions{path}", json=QUESTION), 403, "forbidden"
        )


def test_worker_asks_nothing(queue: leaseq.Queue, worker: Caller) -> None:
    queue.configure()
    assert_problem(worker("POST", f"/queues/{queue.name}/questions", json=QUESTION), 403, "forbidden")


def test_bad_question_is_refused(queue: leaseq.Queue, asker: Caller) -> None:
    bad: list[tuple[dict[str, Any], str]] = [
        *[(options, field) for options, field in BAD_QUESTIONS if not NO_JSON.search(json.dumps(options))],
        ({"wait": 31}, "wait"),
        ({"question": "x"}, "question"),
    ]
    path = f"/queues/{queue.name}/questions"
    for options, field in bad:
        response = asker("POST", path, json={"payload": "x", **options})
        assert response.status_code in (400, 413), options
        assert response.json["field"].partition(".")[0] == field, options
    assert assert_problem(asker("POST", path, json={}), 400, "invalid")["field"] == "payload"
    for wait in ("-1", "31", "nan", "inf", "x", "1e9"):
        problem = assert_problem(asker("GET", f"{path}/one?wait={wait}"), 400, "invalid")
        assert problem["field"] == "wait", wait
    assert queue.stats().inbound == 0


def test_large_form_is_refused(queue: leaseq.Queue, asker: Caller) -> None:
    form = {"ask": {"type": "object", "description": "x" * 65_536}}
    body = {"payload": "x", "form": form}
    problem = assert_problem(asker("POST", f"/queues/{queue.name}/questions", json=body), 413, "too-large")
    assert problem["field"] == "form"
