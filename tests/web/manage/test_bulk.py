"""A manager acts on many items in one step: the chosen ones, or all that a search finds."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

import leaseq
from leaseq.webapp.manage.bulk.moves import refused_item
from leaseq.webapp.services.bulk import Refusal, ids_in_words
from leaseq.webapp.store.accounts import Accounts
from tests.support.leases import not_none
from tests.web.conftest import Browser
from tests.web.elements import attributes, elements, text_of, texts
from tests.web.manage.settings_calls import base as settings_url
from tests.web.manage.settings_calls import change


def fields(page: str, action: str) -> dict[str, Any]:
    """The hidden fields of the page's form."""
    by_name: dict[str, Any] = {}
    for field in elements(page, f"form[method=post][action*='{action}'] input[type=hidden]"):
        by_name.setdefault(str(field.attributes["name"]), []).append(field.attributes["value"] or "")
    by_name.pop("csrf_token")
    return by_name


def ask(browser: Browser, queue: leaseq.Queue, move: str, search: str, **extra_fields: Any) -> Any:
    return browser.post(f"/manage/{queue.name}/bulk", {"move": move, "search": search, **extra_fields})


def do(browser: Browser, queue: leaseq.Queue, page: str, **extra_fields: Any) -> Any:
    return browser.post(f"/manage/{queue.name}/bulk/do", {**fields(page, "/bulk/do"), **extra_fields})


@pytest.mark.parametrize(
    ("move", "title", "state", "ids", "states"),
    [
        ("release", "Release 2 items", "reserved", ["held-1", "held-2"], {"inbound": 4}),
        ("revive", "Hand out 1 item again", "dead", ["dead-1"], {"dead": 1, "inbound": 3}),
        ("reopen", "Reopen 1 item", "finished", ["done-1"], {"finished": 0, "inbound": 3}),
        ("remove", "Remove 1 item", "finished", ["done-1"], {"finished": 0}),
    ],
)
def test_bulk_action_changes_selected_items_after_confirmation(
    manager_browser: Browser,
    mixed_queue: leaseq.Queue,
    accounts: Accounts,
    move: str,
    title: str,
    state: str,
    ids: list[str],
    states: dict[str, int],
) -> None:
    before = mixed_queue.journal(limit=1_000)
    question = ask(manager_browser, mixed_queue, move, f"state={state}", id=[*ids, *ids])
    assert question.status_code == 200
    assert texts(question.text, "h1") == [title]
    assert all(id in text_of(question.text) for id in ids)
    assert mixed_queue.journal(limit=1_000) == before, "asking changes nothing"
    page = do(manager_browser, mixed_queue, question.text).text
    assert f"{len(ids)} " in text_of(page)
    assert elements(page, "section#refusals[hidden]")
    after = mixed_queue.stats()
    assert {name: getattr(after, name) for name in states} == states
    entry = accounts.log.latest(1)[0]
    assert (entry.by, entry.about) == (manager_browser.name, mixed_queue.name)
    assert entry.what.startswith(f"item.{move}")
    assert all(id in entry.detail for id in ids)


def test_bulk_remove_keeps_item_that_was_answered_after_the_question(
    manager_browser: Browser, mixed_queue: leaseq.Queue
) -> None:
    question = ask(manager_browser, mixed_queue, "remove", "state=inbound", id=["wait-1", "wait-2"])
    mixed_queue.finish(not_none(mixed_queue.reserve("quick")), {"ok": True})
    page = do(manager_browser, mixed_queue, question.text)
    assert "wait-2 : somebody has just answered it" in text_of(page.text)
    assert mixed_queue.get("wait-2").answers
    with pytest.raises(leaseq.ItemNotFound):
        mixed_queue.get("wait-1")


def test_refusal_names_state_of_item_at_the_time_of_the_action(
    manager_browser: Browser, mixed_queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody gets the item after the action has read that it waits."""
    assign = leaseq.Queue.assign

    def assign_too_late(queue: leaseq.Queue, id: str, person: str, **options: Any) -> leaseq.Item:
        assert not_none(queue.reserve("quick")).id == id
        return assign(queue, id, person, **options)

    monkeypatch.setattr(leaseq.Queue, "assign", assign_too_late)
    question = ask(manager_browser, mixed_queue, "assign", "state=inbound", id="wait-2")
    page = do(manager_browser, mixed_queue, question.text, person=manager_browser.name)
    assert "wait-2 : it is not waiting, it is in work" in text_of(page.text)


@pytest.mark.parametrize(("end", "state"), [("abandon", "inbound"), ("fail", "scheduled")])
def test_refusal_does_not_call_an_item_busy_that_waits_again(
    manager_browser: Browser,
    mixed_queue: leaseq.Queue,
    monkeypatch: pytest.MonkeyPatch,
    end: str,
    state: leaseq.State,
) -> None:
    """Somebody has the item only while it is assigned."""
    mixed_queue.configure(max_attempts=9)
    assign = leaseq.Queue.assign

    def assign_meanwhile(queue: leaseq.Queue, id: str, person: str, **options: Any) -> leaseq.Item:
        lease = not_none(queue.reserve("quick"))
        try:
            return assign(queue, id, person, **options)
        finally:
            queue.abandon(lease) if end == "abandon" else queue.fail(lease, "torn")

    monkeypatch.setattr(leaseq.Queue, "assign", assign_meanwhile)
    question = ask(manager_browser, mixed_queue, "assign", "state=inbound", id="wait-2")
    text = text_of(do(manager_browser, mixed_queue, question.text, person=manager_browser.name).text)
    assert mixed_queue.get("wait-2").state == state
    assert ("wait-2 :" in text, "it is not waiting" in text) == (True, False)


@pytest.mark.parametrize("move", ["release", "remove"])
def test_bulk_action_refuses_malformed_id_and_changes_others(
    manager_browser: Browser, mixed_queue: leaseq.Queue, move: str
) -> None:
    question = ask(manager_browser, mixed_queue, move, "state=reserved", id="held-1")
    page = text_of(do(manager_browser, mixed_queue, question.text, id=["held-2", "x" * 300]).text)
    assert "1 was left unchanged." in page
    assert "1 to 200 printable characters" in page


def test_bulk_action_reports_unchanged_items_with_reason(
    manager_browser: Browser, mixed_queue: leaseq.Queue
) -> None:
    question = ask(manager_browser, mixed_queue, "release", "state=reserved", id=["held-1", "wait-1", "gone"])
    page = text_of(do(manager_browser, mixed_queue, question.text).text)
    assert "Released 1 item. 2 were left unchanged." in page
    assert "wait-1 : nobody holds it" in page
    assert "gone : it no longer exists" in page
    question = ask(manager_browser, mixed_queue, "revive", "state=dead", id=["done-1", "dead-1", "wait-2"])
    page = text_of(do(manager_browser, mixed_queue, question.text).text)
    assert "Handed out 1 item again. 2 were left unchanged." in page
    assert "done-1 : it has not failed, it is done" in page
    assert "wait-2 : it has not failed, it is waiting" in page
    assert mixed_queue.get("dead-1").state == "inbound"


def test_bulk_assign_requires_person_with_account(
    manager_browser: Browser, mixed_queue: leaseq.Queue, worker_browser: Browser
) -> None:
    question = ask(
        manager_browser, mixed_queue, "assign", "state=inbound", id=["wait-1", "wait-2", "held-1"]
    ).text
    response = do(manager_browser, mixed_queue, question, person="nobody of that name")
    assert response.status_code == 400
    assert "has no account" in response.text
    assert "nobody of that name" in attributes(response.text, "[name=person]", "value")
    page = text_of(do(manager_browser, mixed_queue, response.text, person=worker_browser.name).text)
    assert f"Assigned 2 items to {worker_browser.name}. 1 was left unchanged." in page
    assert "held-1 : it is not waiting, it is in work" in page
    assert mixed_queue.get("wait-1").assigned_to == (worker_browser.name,)
    page = text_of(do(manager_browser, mixed_queue, question, person=worker_browser.name).text)
    assert "wait-1 : they already have it" in page


def test_bulk_action_refuses_empty_selection_and_unknown_action(
    manager_browser: Browser, mixed_queue: leaseq.Queue
) -> None:
    response = ask(manager_browser, mixed_queue, "remove", "state=dead&person=ann")
    assert response.location == f"/manage/{mixed_queue.name}/items?state=dead&person=ann"
    assert "Select some items first." in manager_browser.get(response.location).text
    assert ask(manager_browser, mixed_queue, "eat", "state=dead", id="dead-1").status_code == 400
    assert (
        ask(manager_browser, mixed_queue, "remove", "state=dead", id=[str(n) for n in range(501)]).status_code
        == 400
    )


def test_bulk_action_on_search_runs_in_steps(
    manager_browser: Browser, queue: leaseq.Queue, accounts: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaseq.webapp.manage.bulk.pages.STEP", 10)
    monkeypatch.setattr("leaseq.webapp.manage.bulk.pages.SCAN_LIMIT", 40)
    queue.configure(max_attempts=1)
    queue.enqueue_many(leaseq.NewItem(n, id=f"item-{n:02}") for n in range(60))
    for n in range(60):
        queue.fail(not_none(queue.reserve("ann")), "rare" if n % 2 else "frequent")
    search = urlencode({"state": "dead", "text": "rare"})
    page = ask(manager_browser, queue, "revive", search, which="all").text
    assert "more than 20 items" in text_of(page), "the number of matches among the first 40"
    assert "comment contains “rare”" in text_of(page)
    queue.enqueue({}, id="later", priority=1)
    queue.fail(not_none(queue.reserve("ann")), "rare, but after the question")
    steps = 0
    response = do(manager_browser, queue, page)
    while 'id="next-step"' in response.text:
        steps += 1
        assert steps < 20
        response = do(manager_browser, queue, response.text)
    assert "Handed out 30 items again." in text_of(response.text)
    assert steps >= 2
    assert sorted(item.id for item in queue.items("inbound")) == [f"item-{n:02}" for n in range(1, 60, 2)]
    assert queue.get("later").state == "dead"
    entries = [entry for entry in accounts.log.latest(50) if entry.about == queue.name]
    assert len(entries) == 2, "one when it began, one when it ended"
    assert entries[0].values["count"] == 30
    assert entries[0].values["search"] == entries[1].values["search"] == {"state": "dead", "text": "rare"}


def test_bulk_release_keeps_leases_granted_after_question(
    manager_browser: Browser, mixed_queue: leaseq.Queue
) -> None:
    page = ask(manager_browser, mixed_queue, "release", "state=reserved", which="all").text
    assert "Release 2 items" in text_of(page)
    lease = not_none(mixed_queue.reserve("carol"))
    assert "Released 2 items." in text_of(do(manager_browser, mixed_queue, page).text)
    assert mixed_queue.get(lease.id).state == "reserved"


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, ""), (10, "0, 1, 2, 3, 4, 5, 6, 7, 8, 9"), (11, "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 + 1")],
)
def test_the_log_names_the_first_ten_items(count: int, text: str) -> None:
    assert ids_in_words([str(n) for n in range(count)]) == text


@pytest.fixture
def three_waited_for(queue: leaseq.Queue) -> leaseq.Queue:
    """Items with two answers that wait for a third one, one of them held, and one without answers."""
    queue.configure(answers=3)
    for n in range(6):
        queue.enqueue({}, id=f"two-{n}")
        for person in ("ann", "bob"):
            queue.finish(not_none(queue.reserve(person)), {"by": person})
    not_none(queue.reserve("cyd"))
    queue.enqueue({}, id="new")
    return queue


def test_fewer_answers_are_offered_for_items_that_wait_for_more(
    manager_browser: Browser,
    three_waited_for: leaseq.Queue,
    accounts: Accounts,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    queue = three_waited_for
    monkeypatch.setattr("leaseq.webapp.manage.bulk.pages.STEP", 4)
    saved = change(manager_browser, queue, "answers", answers="2")
    assert saved.location == f"/manage/{queue.name}/bulk/lower"
    question = manager_browser.get(saved.location).text
    assert "6 items" in text_of(question)
    assert queue.stats().finished == 12, "asking changes nothing"
    page = do(manager_browser, queue, question).text
    steps = 1
    while "next-step" in page:
        hidden_fields = fields(page, "/bulk/do")
        page = manager_browser.post(f"/manage/{queue.name}/bulk/do", hidden_fields).text
        steps += 1
    assert steps > 1
    states = {queue.get(f"two-{n}").state for n in range(6)}
    assert states == {"finished", "reserved"}
    assert [queue.get(f"two-{n}").state for n in range(6)].count("reserved") == 1
    assert queue.get("new").state == "inbound"
    entry = accounts.log.latest(1)[0]
    assert (entry.by, entry.what, entry.about) == (manager_browser.name, "item.changed", queue.name)
    assert entry.values["count"] == 6


@pytest.mark.parametrize("answers", ["3", "4", "2"])
def test_fewer_answers_are_offered_only_if_items_need_more(
    manager_browser: Browser, three_waited_for: leaseq.Queue, answers: str
) -> None:
    queue = three_waited_for
    for n in range(6 if answers == "2" else 0):
        queue.change(f"two-{n}", answers=2)
    saved = change(manager_browser, queue, "answers", answers=answers)
    assert saved.location == settings_url(queue, "answers")


@pytest.mark.parametrize("search", ["state=any", "state=inbound", "state=any&above=101"])
def test_fewer_answers_without_their_number_are_refused(
    manager_browser: Browser, three_waited_for: leaseq.Queue, search: str
) -> None:
    response = ask(manager_browser, three_waited_for, "lower", search, which="all")
    assert response.status_code == 400


def test_item_page_says_how_many_answers_the_item_needs(
    manager_browser: Browser, three_waited_for: leaseq.Queue
) -> None:
    queue = three_waited_for
    page = f"/manage/{queue.name}/items/two-0"
    queue.configure(answers=1)
    assert "2 of 3." in text_of(manager_browser.get(page).text), "it still waits for the third"
    queue.change("two-0", answers=2)
    assert "2 of 2." in text_of(manager_browser.get(page).text)


def test_fewer_answers_are_offered_however_the_policy_was_lowered(
    manager_browser: Browser, three_waited_for: leaseq.Queue
) -> None:
    """A program lowered it, so that nobody was on the settings page."""
    queue = three_waited_for
    base, offer = f"/manage/{queue.name}", f'href="/manage/{queue.name}/bulk/lower"'
    assert offer not in manager_browser.get(settings_url(queue, "answers")).text
    queue.configure(answers=2)
    assert offer in manager_browser.get(settings_url(queue, "answers")).text
    do(manager_browser, queue, manager_browser.get(f"{base}/bulk/lower").text)
    assert offer not in manager_browser.get(settings_url(queue, "answers")).text


def test_fewer_answers_are_offered_although_newer_items_fill_the_queue(
    manager_browser: Browser, three_waited_for: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = three_waited_for
    monkeypatch.setattr("leaseq.webapp.realtime.attention._SURPLUS_SCANNED", 30)
    queue.configure(answers=2)
    queue.enqueue_many(leaseq.NewItem(n) for n in range(200))
    assert f"{queue.name}/bulk/lower" in manager_browser.get(settings_url(queue, "answers")).text


def test_item_that_is_gone_by_now_is_said_to_exist_no_longer(app: Any, mixed_queue: leaseq.Queue) -> None:
    item = mixed_queue.get("held-1")
    with pytest.raises(leaseq.Invalid) as error:
        mixed_queue.assign(item.id, "cyd")
    refusal = Refusal(item.id, item, error.value)
    with app.test_request_context():
        before = refused_item(mixed_queue, "assign", refusal)
        mixed_queue.release(item.id)
        mixed_queue.remove(item.id)
        after = refused_item(mixed_queue, "assign", refusal)
        missing = refused_item(mixed_queue, "assign", Refusal(item.id, None, None))
    assert before.reason != after.reason == missing.reason
