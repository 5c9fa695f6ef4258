"""An item with a form of its own: its work page, its answers, and its page for managers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import leaseq
from tests.support.leases import take as reserve
from tests.web.conftest import Browser
from tests.web.elements import attribute, attributes, element, elements, texts
from tests.web.work_pages import path, send, take

REFUND = {"oneOf": [{"const": True, "title": "Pay it"}, {"const": False, "title": "Refuse it"}]}
OWN = {
    "show": ["sum"],
    "ask": {
        "type": "object",
        "required": ["refund"],
        "properties": {"refund": {"title": "Refund?", **REFUND}},
    },
    "keys": {"p": True},
}
NAMES = "#answer [name^='answer.']"


def asked(page: str) -> set[str]:
    return {name or "" for name in attributes(page, NAMES, "name")}


def test_own_form_is_asked_kept_and_finished(form_queue: leaseq.Queue, worker_browser: Browser) -> None:
    form_queue.enqueue({"sum": 80, "text": "not shown"}, id="own", form=OWN, priority=0)
    lease = take(form_queue, worker_browser)
    page = worker_browser.get(path(form_queue)).text
    assert asked(page) == {"answer.refund"}
    assert "not shown" not in element(page, "#item").text()
    version = {"questions": attribute(page, "[name=questions]", "value")}
    response = send(form_queue, worker_browser, lease, "finish", **version)
    assert (response.status_code, asked(response.text)) == (422, {"answer.refund"})
    answer = {**version, "answer.refund": "true"}
    assert send(form_queue, worker_browser, lease, "draft", **answer).status_code == 204
    page = worker_browser.get(path(form_queue)).text
    assert attribute(page, f"{NAMES}[checked]", "value") == "true"
    response = worker_browser.post(
        f"{path(form_queue)}/items/own/finish",
        {**answer, "token": str(lease.token), "then": "next"},
        headers={"X-Leaseq-Fragment": "1"},
    )
    assert form_queue.get("own").answers[0].result == {"refund": True}
    assert "answer.about" in asked(response.text), "the next item is asked the queue's questions"


def test_what_was_typed_in_an_own_form_stays_when_the_item_is_lost(
    form_queue: leaseq.Queue, worker_browser: Browser
) -> None:
    own = {"ask": {"type": "object", "properties": {"why": {"type": "string"}}}}
    form_queue.enqueue({"sum": 80}, id="own", form=own, priority=0)
    lease = take(form_queue, worker_browser)
    version = attribute(worker_browser.get(path(form_queue)).text, "[name=questions]", "value")
    answer = {"questions": version, "answer.why": "my <words>"}
    form_queue.cancel("own")
    response = send(form_queue, worker_browser, lease, "finish", **answer)
    assert element(response.text, "[name='answer.why']").text() == "my <words>"
    form_queue.remove("own")
    response = send(form_queue, worker_browser, lease, "finish", **answer)
    assert response.status_code == 404
    assert "my &lt;words&gt;" in response.text


def test_own_form_with_the_same_questions_is_finished(
    form_queue: leaseq.Queue, worker_browser: Browser
) -> None:
    form_queue.enqueue({"sum": 80}, id="own", form={**form_queue.policy.form, "show": ["sum"]}, priority=0)
    lease = take(form_queue, worker_browser)
    version = attribute(worker_browser.get(path(form_queue)).text, "[name=questions]", "value")
    answer = {"questions": version, "answer.about": "refund", "answer.urgent": "true"}
    assert send(form_queue, worker_browser, lease, "finish", **answer).status_code == 303


def test_item_page_shows_and_corrects_the_answer_by_the_own_form(
    form_queue: leaseq.Queue, manager_browser: Browser
) -> None:
    form_queue.enqueue({"sum": 80}, id="own", form=OWN, priority=0)
    lease = reserve(form_queue, "ann")
    form_queue.finish(lease, {"refund": True})
    base = f"/manage/{form_queue.name}/items/own"
    page = manager_browser.get(base).text
    assert [*texts(page, ".answer dt"), *texts(page, ".answer dd")] == ["Refund?", "Pay it"]
    correction = manager_browser.get(f"{base}/correct?token={lease.token}").text
    assert attribute(correction, "[name='answer.refund'][checked]", "value") == "true"
    fields = {
        "token": str(lease.token),
        "questions": attribute(correction, "[name=questions]", "value"),
        "answer.refund": "false",
    }
    assert manager_browser.post(f"{base}/correct", fields).status_code == 303
    assert form_queue.get("own").answers[0].result == {"refund": False}
    peek = manager_browser.get(f"/manage/{form_queue.name}/peek/own").text
    assert texts(peek, ".answer dt") == ["Refund?"]


def test_manager_sees_deadline_addressee_and_how_an_item_ended(
    queue: leaseq.Queue, manager_browser: Browser
) -> None:
    later = datetime.now(UTC) + timedelta(hours=1)
    queue.enqueue(1, id="open", expires=later, to="ann")
    queue.enqueue(1, id="cancelled")
    queue.cancel("cancelled", "withdrawn")
    queue.enqueue(1, id="late", expires=later - timedelta(hours=2))
    queue.clear()
    base = f"/manage/{queue.name}/items"
    page = manager_browser.get(f"{base}/open").text
    assert leaseq.validation.rfc3339(later) in attributes(page, "main time", "datetime")
    listed = manager_browser.get(f"{base}?state=inbound").text
    assert leaseq.validation.rfc3339(later) in attributes(listed, "tbody time", "datetime")
    assert any("ann" in text for text in texts(listed, "tbody td"))
    ended = {"cancelled": "Cancelled: withdrawn", "late": "Expired unanswered"}
    dead = manager_browser.get(f"{base}?state=dead").text
    for id, text in ended.items():
        page = manager_browser.get(f"{base}/{id}").text
        assert text in element(page, "main").text()
        assert element(page, ".facts b").text() == text.partition(":")[0]
        assert text in element(dead, "tbody").text()
    assert len(elements(dead, "tbody tr")) == 2
