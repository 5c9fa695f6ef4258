"""What a manager can do with many items, by state; what can be undone; and the download of items."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask

import leaseq
from leaseq import transfer
from leaseq.webapp.manage.bulk.moves import STATES_BY_MOVE, moves_for
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.jobs import undo
from leaseq.webapp.store.jobs.undo import Changed, UndoStore
from tests.support.leases import take
from tests.web.conftest import Browser, Caller
from tests.web.elements import attribute, elements, text_of, texts
from tests.web.manage.test_bulk import ask, do, fields


@pytest.fixture
def make_items(queue: leaseq.Queue) -> Callable[[str], dict[leaseq.State, str]]:
    """Makes an item in each state; returns their ids."""
    queue.configure(max_attempts=1, holds=100)

    def make(prefix: str) -> dict[leaseq.State, str]:
        ids: dict[leaseq.State, str] = {state: f"{prefix} {state}" for state in leaseq.STATES}
        for id in ids.values():
            queue.enqueue({"of": id}, id=id, delay=3_600 if "scheduled" in id else 0)
        for state in ("reserved", "finished", "dead"):
            queue.assign(ids[state], f"for {ids[state]}")
        take(queue, f"for {ids['reserved']}")
        queue.finish(take(queue, f"for {ids['finished']}"), {"ok": True})
        queue.fail(take(queue, f"for {ids['dead']}"), "torn")
        return ids

    return make


ACTS: dict[str, dict[str, Any]] = {
    "assign": {"action": "assign", "person": None},
    "reopen": {"action": "reopen"},
    "priority": {"action": "change", "priority": 7},
    "due": {"action": "change", "due": "2030-01-01T00:00:00Z"},
    "requires": {"action": "change", "requires": ["fr"]},
    "delay": {"action": "change", "delay": 60},
    "remove": {"action": "remove"},
}
"""The REST request of each act of the pages that is refused in other states."""


def test_each_act_changes_items_of_its_states_and_refuses_others(
    make_items: Callable[[str], dict[leaseq.State, str]], queue: leaseq.Queue, manager: Caller, worker: Caller
) -> None:
    for move, body in ACTS.items():
        ids = make_items(move)
        person = {"person": worker.name} if "person" in body else {}
        request = {**body, **person, "ids": list(ids.values())}
        result = manager("POST", f"/queues/{queue.name}/bulk", json=request).json
        refusals = {refusal["id"]: refusal["rule"] for refusal in result["refused"]}
        allowed = STATES_BY_MOVE[move]  # type: ignore[index]
        assert result["done"] == len(allowed), move
        assert refusals == {id: "state" for state, id in ids.items() if state not in allowed}, move
        for id in ids.values() if move != "remove" else ():
            queue.remove(id)


@pytest.mark.parametrize(
    ("move", "state", "refused"), [("release", "reserved", []), ("revive", "dead", ["x finished"])]
)
def test_release_and_revive_leave_items_in_other_states_as_they_are(
    make_items: Callable[[str], dict[leaseq.State, str]],
    queue: leaseq.Queue,
    manager: Caller,
    move: str,
    state: leaseq.State,
    refused: list[str],
) -> None:
    ids = make_items("x")
    request = {"action": move, "ids": list(ids.values())}
    result = manager("POST", f"/queues/{queue.name}/bulk", json=request).json
    assert [refusal["id"] for refusal in result["refused"]] == refused
    states = {old_state: queue.get(id).state for old_state, id in ids.items()}
    assert states == {**{name: name for name in leaseq.STATES}, state: "inbound"}


@pytest.mark.parametrize(
    ("list_name", "others"),
    [
        ("inbound", {"release", "reopen", "revive", "now"}),
        ("reserved", {"assign", "reopen", "revive", "priority", "due", "requires", "delay", "now"}),
        ("finished", set(STATES_BY_MOVE) - {"reopen", "export", "remove"}),
        ("dead", {"assign", "release", "reopen", "cancel", "delay", "now"}),
        ("due", {"reopen", "revive"}),
        ("any", set()),
    ],
)
def test_list_offers_acts_for_its_states(
    manager_browser: Browser, mixed_queue: leaseq.Queue, list_name: Any, others: set[str]
) -> None:
    assert {move for move, _ in moves_for(list_name)} == set(STATES_BY_MOVE) - others
    mixed_queue.change("wait-1", due=datetime(2030, 1, 1, tzinfo=UTC))
    page = manager_browser.get(f"/manage/{mixed_queue.name}/items?state={list_name}").text
    offered = [button.attributes["value"] for button in elements(page, "#bulk-form button[name=move]")]
    assert set(offered) == set(STATES_BY_MOVE) - others


def test_act_on_all_states_takes_only_items_that_it_applies_to(
    make_items: Callable[[str], dict[leaseq.State, str]], queue: leaseq.Queue, manager_browser: Browser
) -> None:
    ids = make_items("x")
    question = ask(manager_browser, queue, "priority", "state=any", which="all").text
    assert texts(question, "h1") == ["Set the priority of 3 items"]
    page = do(manager_browser, queue, question, priority="5").text
    assert elements(page, "section#refusals[hidden]")
    changed = {state for state, id in ids.items() if queue.get(id).priority == 5}
    assert changed == {"inbound", "scheduled", "dead"}


UNTIL = datetime.now(UTC) + timedelta(days=3)
UNDOABLE: list[tuple[str, dict[str, str], Callable[[leaseq.Item], Any]]] = [
    ("assign", {"person": "{manager}"}, lambda item: item.assigned_to),
    ("unassign", {}, lambda item: item.assigned_to),
    ("priority", {"priority": "5"}, lambda item: item.priority),
    ("due", {"due": "2031-05-01T12:00"}, lambda item: item.due),
    ("requires", {"requires": "en, fr", "confirmed": "yes"}, lambda item: set(item.requires)),
    (
        "delay",
        {"until": f"{UNTIL:%Y-%m-%dT%H:%M}"},
        lambda item: item.state_since if item.state == "scheduled" else None,
    ),
]


def before_change(monkeypatch: pytest.MonkeyPatch, id: str, act: Callable[[], object]) -> None:
    """Let somebody act on an item after it is read and before it is changed, once."""
    acts = [act]

    def then_act(name: str) -> Any:
        call = getattr(leaseq.Queue, name)

        def act_first(queue: leaseq.Queue, of: str, *arguments: Any, **options: Any) -> Any:
            if of == id and acts:
                acts.pop()()
            return call(queue, of, *arguments, **options)

        return act_first

    for name in ("assign", "unassign", "change"):
        monkeypatch.setattr(leaseq.Queue, name, then_act(name))


@pytest.mark.parametrize(("move", "typed", "value"), UNDOABLE, ids=[move for move, _, _ in UNDOABLE])
def test_act_is_undone_where_nobody_changed_the_item_since(
    queue: leaseq.Queue,
    manager_browser: Browser,
    accounts: Accounts,
    monkeypatch: pytest.MonkeyPatch,
    move: str,
    typed: dict[str, str],
    value: Callable[[leaseq.Item], Any],
) -> None:
    due = datetime(2030, 1, 1, tzinfo=UTC)
    for id in ("a", "b", "c", "d"):
        queue.enqueue({"text": f"letter {id}"}, id=id, priority=60, due=due, requires=["de"])
        queue.assign(id, "zoe")
    before = value(queue.get("a"))
    question = ask(manager_browser, queue, move, "state=inbound", id=["a", "b", "c", "d"])
    assert "You can undo it for an hour." in question.text
    inputs = {name: text.format(manager=manager_browser.name) for name, text in typed.items()}
    page = do(manager_browser, queue, question.text, **inputs).text
    after = value(queue.get("a"))
    assert after != before
    changes: dict[str, Any] = {"due": None, "priority": 9, "requires": ["it"], "delay": 999_999}

    def change_by_others(id: str) -> None:
        if move in ("assign", "unassign"):
            queue.assign(id, "yan")
        else:
            queue.change(id, **{move: changes[move]})

    change_by_others("b")
    by_others = value(queue.get("b"))
    queue.remove("c")
    before_change(monkeypatch, "d", lambda: change_by_others("d"))
    page = manager_browser.post(f"/manage/{queue.name}/bulk/undo", fields(page, "/bulk/undo")).text
    assert "Undone for 1 item. 3 were left unchanged." in text_of(page)
    for id in ("b", "d"):
        assert f"letter {id} {id} : somebody has changed it since" in text_of(page)
    assert "c : it no longer exists" in text_of(page)
    assert (value(queue.get("a")), value(queue.get("b"))) == (before, by_others)
    assert value(queue.get("d")) not in (before, after)
    assert accounts.log.latest(1)[0].what == "item.put-back"
    again = manager_browser.post(f"/manage/{queue.name}/bulk/undo", {"undo": "x"})
    assert again.location == f"/manage/{queue.name}/items?state=inbound"
    assert "This can't be undone any more." in text_of(manager_browser.get(again.location).text)


def test_undo_brings_back_what_another_manager_set_during_the_act(
    queue: leaseq.Queue, manager_browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue.enqueue({}, id="a", priority=60)
    question = ask(manager_browser, queue, "priority", "state=inbound", id=["a"]).text
    before_change(monkeypatch, "a", lambda: queue.change("a", priority=70))
    page = do(manager_browser, queue, question, priority="5").text
    assert queue.get("a").priority == 5
    manager_browser.post(f"/manage/{queue.name}/bulk/undo", fields(page, "/bulk/undo"))
    assert queue.get("a").priority == 70


def test_what_is_handed_out_now_waits_for_its_time_again_after_undo(
    manager_browser: Browser, queue: leaseq.Queue
) -> None:
    queue.enqueue({}, id="later", delay=3_600)
    time = queue.get("later").state_since
    question = ask(manager_browser, queue, "now", "state=scheduled", which="all").text
    page = do(manager_browser, queue, question).text
    assert queue.get("later").state == "inbound"
    manager_browser.post(f"/manage/{queue.name}/bulk/undo", fields(page, "/bulk/undo"))
    item = queue.get("later")
    assert item.state == "scheduled"
    assert abs(item.state_since - time) < timedelta(seconds=1)


@pytest.mark.parametrize(
    ("move", "state"), [("release", "reserved"), ("remove", "dead"), ("reopen", "finished")]
)
def test_other_acts_offer_no_undo(
    manager_browser: Browser, mixed_queue: leaseq.Queue, move: str, state: str
) -> None:
    question = ask(manager_browser, mixed_queue, move, f"state={state}", which="all").text
    assert "You can undo it" not in question
    page = do(manager_browser, mixed_queue, question).text
    assert elements(page, "form[action$='/bulk/undo']") == []


def test_long_act_and_its_undo_run_in_steps(
    manager_browser: Browser, queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaseq.webapp.manage.bulk.pages.STEP", 4)
    ids = [f"n{n}" for n in range(10)]
    queue.enqueue_many(leaseq.NewItem({}, id=id) for id in ids)

    def run_all(page: str, path: str) -> tuple[str, int]:
        steps = 1
        while elements(page, "#next-step"):
            page = manager_browser.post(
                f"/manage/{queue.name}/bulk/{path}", fields(page, f"/bulk/{path}")
            ).text
            steps += 1
        return page, steps

    for selection in ({"id": ids}, {"which": "all"}):
        question = ask(manager_browser, queue, "priority", "state=inbound", **selection).text
        page, steps = run_all(do(manager_browser, queue, question, priority="5").text, "do")
        assert "Set the priority of 10 items to 5." in text_of(page)
        assert (steps, {queue.get(id).priority for id in ids}) == (3, {5})
        undone = manager_browser.post(f"/manage/{queue.name}/bulk/undo", fields(page, "/bulk/undo")).text
        page, steps = run_all(undone, "undo")
        assert "Undone for 10 items." in text_of(page)
        assert (steps, {queue.get(id).priority for id in ids}) == (3, {100})


@pytest.mark.parametrize(
    ("move", "typed", "field"),
    [
        ("assign", {"person": "nobody of that name"}, "person"),
        ("reopen", {"person": "nobody of that name"}, "person"),
        ("reopen", {"reason": "x" * 2_001}, "reason"),
        ("priority", {"priority": "high"}, "priority"),
        ("priority", {"priority": ""}, "priority"),
        ("due", {"due": "soon"}, "due"),
        ("requires", {"requires": "No Good!"}, "requires"),
        ("delay", {"until": "2020-01-01T00:00"}, "until"),
        ("delay", {"until": ""}, "until"),
    ],
)
def test_refused_field_of_act_is_kept_and_nothing_changes(
    manager_browser: Browser, mixed_queue: leaseq.Queue, move: str, typed: dict[str, str], field: str
) -> None:
    before = mixed_queue.journal(limit=1_000)
    question = ask(manager_browser, mixed_queue, move, "state=inbound", id="wait-1").text
    response = do(manager_browser, mixed_queue, question, **typed)
    assert response.status_code == 400
    assert attribute(response.text, "[aria-invalid=true]", "name") == field
    assert attribute(response.text, f"[name={field}]", "value") == typed[field]
    assert mixed_queue.journal(limit=1_000) == before


def test_reopen_needs_neither_person_nor_reason(manager_browser: Browser, mixed_queue: leaseq.Queue) -> None:
    question = ask(manager_browser, mixed_queue, "reopen", "state=finished", which="all").text
    assert elements(question, "input[required]") == []
    assert elements(
        ask(manager_browser, mixed_queue, "assign", "", id="wait-1").text, "[name=person][required]"
    )


def test_skills_that_nobody_has_are_asked_about(manager_browser: Browser, mixed_queue: leaseq.Queue) -> None:
    question = ask(manager_browser, mixed_queue, "requires", "state=inbound", id="wait-2").text
    question = do(manager_browser, mixed_queue, question, requires="klingon").text
    assert "klingon" in text_of(question)
    assert mixed_queue.get("wait-2").requires == ()
    do(manager_browser, mixed_queue, question, requires="klingon", confirmed="yes")
    assert mixed_queue.get("wait-2").requires == ("klingon",)


def test_reopened_items_go_to_the_named_person_with_the_reason(
    manager_browser: Browser, worker_browser: Browser, queue: leaseq.Queue
) -> None:
    queue.configure(answers=2)
    queue.enqueue({}, id="a")
    for person in ("ann", "bob"):
        queue.finish(take(queue, person), {"by": person})
    question = ask(manager_browser, queue, "reopen", "state=finished", which="all").text
    queue.enqueue({}, id="later")
    for person in ("ann", "bob"):
        queue.finish(take(queue, person), {"by": person})
    page = do(manager_browser, queue, question, reason="all of it").text
    assert "Reopened 1 item." in text_of(page)
    item = queue.get("a")
    assert (item.state, len(item.answers), len(item.late_answers)) == ("inbound", 0, 2)
    assert {grant.reason for grant in item.history} == {"all of it"}
    assert len(queue.get("later").answers) == 2, "it was answered after the question"


def test_store_keeps_the_latest_acts_up_to_a_number_of_items(
    app: Flask, queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(undo, "MAX_ITEMS", 3)
    monkeypatch.setattr(undo, "MAX_ACTS", 2)
    store: UndoStore = app.extensions["leaseq"].undo
    changed = [Changed(f"{n}", {"priority": n}, {"priority": 5}) for n in range(4)]
    first = store.begin(queue.name)
    store.add(queue.name, first, changed[:3], earlier=0)
    assert {record.id for record in store.some(queue.name, first, 9)} == {"0", "1", "2"}
    store.add(queue.name, first, changed[3:], earlier=3)
    assert store.count(queue.name, first) == 0, "one item too many"
    acts = [store.begin(queue.name) for _ in range(3)]
    for act in acts:
        store.add(queue.name, act, changed[:1], earlier=0)
    assert [store.count(queue.name, act) for act in acts] == [0, 1, 1]
    store.forget_queue(queue.name)
    assert [store.count(queue.name, act) for act in acts] == [0, 0, 0]
    act = store.begin(queue.name)
    store.add(queue.name, act, changed[:1], earlier=0)
    store.forget_person("zoe")
    assert store.count(queue.name, act) == 0


@pytest.fixture
def answered_items(queue: leaseq.Queue) -> leaseq.Queue:
    """An item with two answers, one with one, and one that waits."""
    ask_form = {"type": "object", "properties": {"about": {"type": "string"}, "more": {"type": "string"}}}
    queue.configure(answers=2, form={"ask": ask_form})
    for id, people in (("two", ("ann", "bob")), ("one", ("ann",)), ("none", ())):
        queue.enqueue({"text": f"letter {id}"}, id=id)
        for person in people:
            queue.finish(take(queue, person), {"about": f"=by {person}"})
    return queue


def test_items_are_exported_with_their_answers_in_every_format(
    answered_items: leaseq.Queue, manager_browser: Browser, manager: Caller, server: Any
) -> None:
    queue = answered_items
    question = ask(manager_browser, queue, "export", "state=any", which="all").text
    assert texts(question, "h1") == ["Export 3 items"]
    offered = [node.attributes["value"] for node in elements(question, "[name=format]")]
    assert sorted(map(str, offered)) == sorted(transfer.FORMATS)
    files = {}
    for format in transfer.FORMATS:
        form = {**fields(question, "/bulk/export"), "format": format}
        response = manager_browser.post(f"/manage/{queue.name}/bulk/export", form)
        assert f'filename="{queue.name}-items.{format}"' in response.headers["Content-Disposition"]
        files[format] = response.get_data()
        if format != "xlsx":  # which contains the time at which it was made
            rest = manager("GET", f"/queues/{queue.name}/items/export?format={format}")
            assert rest.get_data() == files[format]
    items = {item["id"]: item for item in json.loads(files["json"])}
    assert {id: [answer["person"] for answer in item["answers"]] for id, item in items.items()} == {
        "two": ["ann", "bob"],
        "one": ["ann"],
        "none": [],
    }
    assert [json.loads(line) for line in files["jsonl"].splitlines()] == json.loads(files["json"])
    rows = list(csv.DictReader(io.StringIO(files["csv"].decode())))
    assert sorted((row["id"], row["person"], row["result.about"]) for row in rows) == [
        ("none", "", ""),
        ("one", "ann", "'=by ann"),
        ("two", "ann", "'=by ann"),
        ("two", "bob", "'=by bob"),
    ]
    assert "result.more" in rows[0], "a column for each question"
    assert {row["payload.text"] for row in rows} == {"letter two", "letter one", "letter none"}
    copies = leaseq.Queue(server.client, f"{queue.name}-copy")
    transfer.import_items(copies, transfer.read(io.BytesIO(files["jsonl"]), "jsonl", envelope=True))
    assert sorted(item.id for item in copies.items("inbound")) == ["none", "one", "two"]


def test_selected_items_and_items_of_a_search_are_exported(
    answered_items: leaseq.Queue, manager_browser: Browser, manager: Caller
) -> None:
    queue = answered_items
    question = ask(manager_browser, queue, "export", "state=any", id=["one", "gone", "none"]).text
    form = {**fields(question, "/bulk/export"), "format": "jsonl"}
    lines = manager_browser.post(f"/manage/{queue.name}/bulk/export", form).text.splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["one", "none"]
    for query, ids in (
        ("state=finished", {"two", "one"}),
        ("query=letter+two", {"two"}),
        ("query=zzz", set()),
    ):
        lines = manager("GET", f"/queues/{queue.name}/items/export?{query}").text.splitlines()
        assert {json.loads(line)["id"] for line in lines} == ids


def test_export_is_refused_to_workers_and_for_wrong_queries(
    answered_items: leaseq.Queue, manager: Caller, worker: Caller, manager_browser: Browser
) -> None:
    path = f"/queues/{answered_items.name}/items/export"
    assert worker("GET", path).status_code == 403
    for query, field in (
        ("state=lost", "state"),
        ("format=pdf", "format"),
        ("query=a%3C%3Dx", "find"),
        ("query=" + "x" * 501, "query"),
        ("find=x", "find"),
    ):
        refusal = manager("GET", f"{path}?{query}")
        assert (refusal.status_code, refusal.json["field"]) == (400, field), query
    page = f"/manage/{answered_items.name}/bulk/export"
    form = {"move": "export", "search": "state=any", "which": "all"}
    assert manager_browser.post(page, {**form, "format": "pdf"}).status_code == 400
    assert manager_browser.post(page, {"move": "export", "format": "csv"}).status_code == 303


def test_put_off_offers_tomorrow_at_nine(manager_browser: Browser, mixed_queue: leaseq.Queue) -> None:
    question = ask(manager_browser, mixed_queue, "delay", "state=inbound", which="all").text
    until = datetime.fromisoformat(attribute(question, "[name=until]", "value"))
    assert until.hour == 9
