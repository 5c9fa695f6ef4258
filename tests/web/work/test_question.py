"""A question on the work page: who asks and until when, and the form that approves what a program will do."""

from __future__ import annotations

import pytest

import leaseq
from leaseq.form import approval
from tests.web.conftest import Browser
from tests.web.elements import attribute, attributes, element
from tests.web.work_pages import path, send, take

ARGUMENTS = {"amount": 80, "order": "40-1182"}
PAYLOAD = {"action": "refund", "arguments": ARGUMENTS, "context": "The parcel is **lost**."}


@pytest.fixture
def asked_lease(form_queue: leaseq.Queue, worker_browser: Browser) -> leaseq.Lease:
    with pytest.raises(leaseq.StillWaiting):
        form_queue.ask(
            PAYLOAD, id="q", form=approval("refund", ARGUMENTS), priority=0, wait=0, by="refund bot"
        )
    return take(form_queue, worker_browser)


def test_page_says_who_asks_and_until_when(
    form_queue: leaseq.Queue, worker_browser: Browser, asked_lease: leaseq.Lease
) -> None:
    assert (asked_lease.asked_by, asked_lease.has_own_form) == ("refund bot", True)
    assert asked_lease.needed_until == form_queue.get("q").expires
    page = worker_browser.get(path(form_queue)).text
    assert "refund bot" in element(page, ".asked").text()
    assert attribute(page, ".asked time", "datetime")
    form_queue.abandon(asked_lease, again=False)
    take(form_queue, worker_browser)
    assert not attributes(worker_browser.get(path(form_queue)).text, ".asked", "class")


def test_answer_that_the_program_was_told_is_not_undone(
    form_queue: leaseq.Queue, worker_browser: Browser, asked_lease: leaseq.Lease
) -> None:
    page = worker_browser.get(path(form_queue)).text
    fields = {name: attribute(page, f"[name={name}]", "value") for name in ("asked", "questions")}
    answer = {"answer.decision": "approve"}
    send(form_queue, worker_browser, asked_lease, "finish", **fields, **answer)
    assert not attributes(worker_browser.get("/").text, "form[action$='/undo']", "action")
    assert form_queue.wait_for("q").result == {"decision": "approve"}
    refused = send(form_queue, worker_browser, asked_lease, "undo")
    assert refused.status_code in (303, 409)
    assert form_queue.get("q").state == "finished"
    take(form_queue, worker_browser)
    assert not attributes(worker_browser.get(path(form_queue)).text, "[name=asked]", "value"), "no question"


def test_approval_preselects_nothing_and_prefills_arguments(
    form_queue: leaseq.Queue, worker_browser: Browser, asked_lease: leaseq.Lease
) -> None:
    page = worker_browser.get(path(form_queue)).text
    decisions = "[name='answer.decision']"
    assert attributes(page, decisions, "value") == ["approve", "edit", "reject", "respond"]
    assert not attributes(page, f"{decisions}[checked]", "value")
    assert attribute(page, "[name='answer.arguments.amount']", "value") == "80"
    assert element(page, "[name='answer.arguments.order']").text().strip() == "40-1182"
    version = {"questions": attribute(page, "[name=questions]", "value")}
    refused = send(
        form_queue, worker_browser, asked_lease, "finish", **version, **{"answer.decision": "reject"}
    )
    assert refused.status_code == 422
    changed = {
        "answer.decision": "edit",
        "answer.arguments.amount": "40",
        "answer.arguments.order": "40-1182",
        "answer.reason": "kept by the page, not asked",
    }
    send(form_queue, worker_browser, asked_lease, "finish", **version, **changed)
    assert form_queue.wait_for("q").result == {
        "decision": "edit",
        "arguments": {"amount": 40, "order": "40-1182"},
    }
