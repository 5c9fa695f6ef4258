"""The form changes while a person works: what they typed is shown with the new form, and kept."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

import leaseq
from leaseq.webapp import context, create_app
from leaseq.webapp.settings import Settings
from tests.conftest import Server
from tests.web.conftest import CHEAP_PASSWORDS, SECRET, Browser
from tests.web.elements import attribute, element, elements, text_of
from tests.web.work_pages import path, send, take


def form_of(**properties: Any) -> Any:
    return {"show": ["text"], "ask": {"type": "object", "properties": properties}}


NOTE = form_of(note={"title": "Note", "type": "string", "maxLength": 500})
COMMENT = form_of(comment={"title": "Comment", "type": "string", "maxLength": 500})


@pytest.fixture
def notes(queue: leaseq.Queue) -> leaseq.Queue:
    queue.configure(form=NOTE)
    for number in (1, 2):
        queue.enqueue({"text": f"message {number}"}, id=f"m{number}")
    return queue


def questions_of(page: str) -> str:
    """The version of the questions that a page shows."""
    return attribute(page, "[name=questions]", "value")


def gone_in(page: str) -> list[tuple[str, str]]:
    """The answers to questions that are gone, as the page shows them."""
    boxes = elements(page, "#gone textarea[name^='gone.']")
    return [((box.attributes["name"] or "").removeprefix("gone."), box.text()) for box in boxes]


@pytest.mark.parametrize("has_version", [True, False])
def test_finish_of_earlier_form_shows_what_was_typed_with_the_new_one(
    notes: leaseq.Queue, worker_browser: Browser, has_version: bool
) -> None:
    lease = take(notes, worker_browser)
    version = {"questions": questions_of(worker_browser.get(path(notes)).text)} if has_version else {}
    notes.configure(form=COMMENT)
    response = send(notes, worker_browser, lease, "finish", **{"answer.note": "my <words>", **version})
    assert response.status_code == 422
    assert gone_in(response.text) == [("note", "my <words>")]
    assert notes.get(lease.id).answers == ()

    answer = {
        "gone.note": "my <words>",
        "answer.comment": "my",
        "questions": questions_of(response.text),
    }
    assert send(notes, worker_browser, lease, "finish", **answer).status_code == 303
    assert notes.get(lease.id).answers[0].result == {"comment": "my"}


def test_finish_is_not_sent_to_questions_that_its_person_has_not_seen(
    notes: leaseq.Queue, worker_browser: Browser
) -> None:
    scale = {"oneOf": [{"const": 1, "title": "bad"}, {"const": 2, "title": "good"}]}
    turned = {"oneOf": [{"const": 1, "title": "good"}, {"const": 2, "title": "bad"}]}
    notes.configure(form=form_of(mark=scale))
    lease = take(notes, worker_browser)
    version = questions_of(worker_browser.get(path(notes)).text)
    notes.configure(form=form_of(mark=turned))
    answer = {"answer.mark": "1", "questions": version}
    assert send(notes, worker_browser, lease, "finish", **answer).status_code == 422
    assert notes.get(lease.id).answers == ()


def test_change_of_what_is_shown_interrupts_nobody(notes: leaseq.Queue, worker_browser: Browser) -> None:
    lease = take(notes, worker_browser)
    version = questions_of(worker_browser.get(path(notes)).text)
    notes.configure(form={**NOTE, "show": ["text", "more"]})
    answer = {"answer.note": "words", "questions": version}
    assert send(notes, worker_browser, lease, "finish", **answer).status_code == 303


@pytest.mark.parametrize("verb", ["draft", "renew", "abandon", "fail", "ask"])
def test_every_act_keeps_what_was_typed_for_a_question_that_is_gone(
    notes: leaseq.Queue, worker_browser: Browser, verb: str
) -> None:
    lease = take(notes, worker_browser)
    notes.configure(form=COMMENT, retry_seconds=0)
    more = {"error": "cut off", "question": "What is it?", "message": "1"}
    response = send(notes, worker_browser, lease, verb, **{"answer.note": "words", **more})
    assert response.status_code < 400
    held = [one for one in notes.mine(worker_browser.name) if one.id == lease.id]
    if not held:
        notes.remove("m2")
        held = [take(notes, worker_browser)]
    assert held[0].draft == {"note": "words"}
    page = worker_browser.get(path(notes) + f"?item={lease.id}").text
    assert gone_in(page) == [("note", "words")]

    send(notes, worker_browser, held[0], "draft", **{"gone.note": "words", "answer.comment": "more"})
    page = worker_browser.get(path(notes)).text
    assert gone_in(page) == [("note", "words")], "a reload shows it too"
    notes.configure(form=NOTE)
    page = worker_browser.get(path(notes)).text
    assert element(page, "[name='answer.note']").text() == "words", "the question is back"
    assert gone_in(page) == [("comment", "more")]


def test_late_answer_of_earlier_form_is_not_sent_without_what_was_typed(
    notes: leaseq.Queue, worker_browser: Browser
) -> None:
    lease = take(notes, worker_browser)
    notes.release(lease.id)
    assert notes.reserve("somebody else")
    notes.configure(form=COMMENT)
    response = send(notes, worker_browser, lease, "finish", **{"answer.note": "words"})
    assert response.status_code == 422
    assert gone_in(response.text) == [("note", "words")]
    assert notes.get(lease.id).late_answers == ()


def test_option_that_is_gone_is_shown_with_its_question(notes: leaseq.Queue, worker_browser: Browser) -> None:
    notes.configure(form=form_of(about={"title": "About", "enum": ["delivery", "refund"]}))
    lease = take(notes, worker_browser)
    notes.save_draft(lease, {"about": "refund"})
    notes.configure(form=form_of(about={"title": "What about", "enum": ["delivery", "money"]}))
    page = worker_browser.get(path(notes)).text
    assert gone_in(page) == [("about", "refund")]
    assert "What about" in text_of(element(page, "#gone"))


def test_text_that_was_deleted_does_not_come_back(notes: leaseq.Queue, worker_browser: Browser) -> None:
    lease = take(notes, worker_browser)
    send(notes, worker_browser, lease, "draft", **{"answer.note": "words"})
    send(notes, worker_browser, lease, "draft", **{"answer.note": ""})
    assert "words" not in worker_browser.get(path(notes)).text


def test_correction_shows_what_the_form_no_longer_asks(notes: leaseq.Queue, manager_browser: Browser) -> None:
    notes.configure(form=form_of(note={"type": "string"}, mark={"type": "integer"}))
    lease = notes.reserve("ann")
    assert lease is not None
    notes.finish(lease, {"note": "ann's words", "mark": 3})
    notes.configure(form=form_of(mark={"type": "integer"}))
    url = f"/manage/{notes.name}/items/{lease.id}/correct"
    page = manager_browser.get(f"{url}?token={lease.token}").text
    assert gone_in(page) == [("note", "ann's words")]
    form = {"token": str(lease.token), "answer.mark": "4", "gone.note": "ann's words"}
    assert manager_browser.post(url, {**form, "questions": "of before"}).status_code == 422
    assert manager_browser.post(url, {**form, "questions": questions_of(page)}).status_code == 303
    assert notes.get(lease.id).answers[0].result == {"mark": 4}


@pytest.fixture
def other_app(server: Server) -> Flask:
    """The app in another process, with a policy cache of its own."""
    return create_app(Settings(redis_url=server.url, secret_key=SECRET), passwords=CHEAP_PASSWORDS)


@pytest.fixture
def stale_browser(
    notes: leaseq.Queue, other_app: Flask, worker_browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> Browser:
    """The worker, signed in to another process, which knows the form as it was before any further change."""
    browser = Browser(other_app, worker_browser.name)
    assert browser.sign_in().status_code == 303
    monkeypatch.setattr(context, "monotonic", lambda: 0.0)  # no second passes
    with other_app.app_context():
        assert context.lease_queue(notes.name).policy.form == NOTE
    return browser


@pytest.mark.parametrize("then", ["stop", "next"])
def test_process_with_an_earlier_form_takes_no_answer_to_it(
    notes: leaseq.Queue, worker_browser: Browser, stale_browser: Browser, then: str
) -> None:
    lease = take(notes, worker_browser)
    version = questions_of(worker_browser.get(path(notes)).text)
    notes.configure(form=COMMENT)
    answer = {"answer.note": "my <words>", "questions": version, "then": then}
    response = send(notes, stale_browser, lease, "finish", **answer)
    assert response.status_code == 422
    assert gone_in(response.text) == [("note", "my <words>")]
    assert questions_of(response.text) != version
    assert notes.mine(lease.person) == [lease]
    item = notes.get(lease.id)
    assert (item.answers, item.late_answers) == ((), ())

    answer = {"answer.comment": "my", "questions": questions_of(response.text)}
    assert send(notes, stale_browser, lease, "finish", **answer).status_code == 303
    assert notes.get(lease.id).answers[0].result == {"comment": "my"}


def test_process_with_an_earlier_form_takes_an_answer_if_the_questions_are_the_same(
    notes: leaseq.Queue, worker_browser: Browser, stale_browser: Browser
) -> None:
    lease = take(notes, worker_browser)
    version = questions_of(worker_browser.get(path(notes)).text)
    notes.configure(form={**NOTE, "show": ["text", "more"]})
    answer = {"answer.note": "words", "questions": version}
    assert send(notes, stale_browser, lease, "finish", **answer).status_code == 303
    assert notes.get(lease.id).answers[0].result == {"note": "words"}


@pytest.mark.parametrize(("verb", "status"), [("finish", 303), ("draft", 204)])
def test_process_with_an_earlier_form_takes_an_answer_to_the_new_one(
    notes: leaseq.Queue, worker_browser: Browser, stale_browser: Browser, verb: str, status: int
) -> None:
    notes.configure(form=form_of(note={"type": "integer"}, comment={"type": "boolean"}))
    lease = take(notes, worker_browser)
    version = questions_of(worker_browser.get(path(notes)).text)
    answer = {"answer.note": "3", "answer.comment": "true", "questions": version}
    assert send(notes, stale_browser, lease, verb, **answer).status_code == status
    stored = (
        [one.result for one in notes.get(lease.id).answers]
        if verb == "finish"
        else [one.draft for one in notes.mine(lease.person)]
    )
    assert stored == [{"note": 3, "comment": True}]


def test_draft_of_an_earlier_form_that_a_process_still_has_is_shown_with_the_new_one(
    notes: leaseq.Queue, worker_browser: Browser, stale_browser: Browser
) -> None:
    lease = take(notes, worker_browser)
    version = questions_of(worker_browser.get(path(notes)).text)
    notes.configure(form=COMMENT)
    answer = {"answer.note": "words", "questions": version}
    assert send(notes, stale_browser, lease, "draft", **answer).status_code == 204
    assert gone_in(worker_browser.get(path(notes)).text) == [("note", "words")]


def test_correction_is_not_taken_if_the_questions_change_meanwhile(
    notes: leaseq.Queue, manager_browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The questions change after the request has read the form."""
    before = form_of(note={"type": "string"}, mark={"type": "integer"})
    notes.configure(form=before)
    lease = notes.reserve("ann")
    assert lease is not None
    notes.finish(lease, {"note": "ann's words", "mark": 3})
    url, correct = f"/manage/{notes.name}/items/{lease.id}/correct", leaseq.Queue.correct
    version = questions_of(manager_browser.get(f"{url}?token={lease.token}").text)

    def change_and_correct(self: leaseq.Queue, *args: Any, **options: Any) -> leaseq.Item:
        monkeypatch.undo()
        notes.configure(form=form_of(comment={"type": "string"}, mark={"type": "integer"}))
        return correct(self, *args, **options)

    monkeypatch.setattr(leaseq.Queue, "correct", change_and_correct)
    form = {"token": str(lease.token), "answer.mark": "4", "answer.note": "more", "questions": version}
    response = manager_browser.post(url, form)
    assert response.status_code == 422
    assert gone_in(response.text) == [("note", "more")]
    assert attribute(response.text, "[name='answer.mark']", "value") == "4"
    assert notes.get(lease.id).answers[0].result == {"note": "ann's words", "mark": 3}
