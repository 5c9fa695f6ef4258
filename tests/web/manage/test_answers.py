"""A manager corrects an answer, by reopening the item or by their own answer."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

import pytest

import leaseq
from tests.support.leases import take as reserve
from tests.web.conftest import Browser
from tests.web.work_pages import path, take

ANSWER = {"about": "refund", "urgent": True}


def item_path(queue: leaseq.Queue, *verb: str) -> str:
    return "/".join(("/manage", queue.name, "items", "one", *verb))


@pytest.fixture
def token(form_queue: leaseq.Queue) -> int:
    """The token of ann's answer to "one"."""
    lease = reserve(form_queue, "ann")
    form_queue.finish(lease, ANSWER)
    return lease.token


def test_reopened_item_shows_reason_to_assigned_person(
    form_queue: leaseq.Queue, manager_browser: Browser, worker_browser: Browser, token: int
) -> None:
    fields = {"token": str(token), "to": worker_browser.name, "reason": "it is a <delivery>"}
    assert manager_browser.post(item_path(form_queue, "reopen"), fields).location == item_path(form_queue)
    page = html.unescape(manager_browser.get(item_path(form_queue)).text)
    for text in (
        "earlier answer",
        "The answer from ann was set aside",
        "it is a <delivery>",
        "ann finished it",
    ):
        assert text in page
    assert f"{manager_browser.name} reopened it" in page
    assert "late answer" not in page
    assert take(form_queue, worker_browser).id == "one"
    work = worker_browser.get(path(form_queue)).text
    assert "Why it was reopened" in work
    assert "it is a &lt;delivery&gt;" in work


def test_author_sees_reason_and_earlier_answer_of_reopened_item(
    form_queue: leaseq.Queue, manager_browser: Browser, worker_browser: Browser
) -> None:
    lease = take(form_queue, worker_browser)
    form_queue.finish(lease, ANSWER)
    manager_browser.post(
        item_path(form_queue, "reopen"), {"token": str(lease.token), "reason": "look at the date"}
    )
    assert take(form_queue, worker_browser).draft == ANSWER
    assert "look at the date" in worker_browser.get(path(form_queue)).text


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"to": "nobody here"}, "nobody here"),
        ({"to": "ann"}, "ann"),
    ],
)
def test_refused_reopen_keeps_typed_reason(
    form_queue: leaseq.Queue, manager_browser: Browser, token: int, fields: dict[str, str], message: str
) -> None:
    data = {"token": str(token), "reason": "typed with care", **fields}
    response = manager_browser.post(item_path(form_queue, "reopen"), data)
    assert (response.status_code, message in html.unescape(response.text)) == (400, True)
    assert "typed with care" in response.text
    assert form_queue.get("one").state == "finished"


def test_an_answer_is_corrected_in_its_form(
    form_queue: leaseq.Queue, manager_browser: Browser, token: int
) -> None:
    form = manager_browser.get(item_path(form_queue, "correct"), query_string={"token": token}).text
    assert 'value="refund" checked' in " ".join(form.split()) or "checked" in form
    fields = {"token": str(token), "answer.about": "delivery", "answer.urgent": "false"}
    assert manager_browser.post(item_path(form_queue, "correct"), fields).location == item_path(form_queue)
    (answer,) = form_queue.get("one").answers
    assert (answer.person, answer.result) == (manager_browser.name, {"about": "delivery", "urgent": False})
    page = manager_browser.get(item_path(form_queue)).text
    assert f"{manager_browser.name} corrected the answer" in page
    assert "The answer from ann was corrected" in page
    assert "earlier answer" in page


def test_invalid_correction_is_refused_in_form(
    form_queue: leaseq.Queue, manager_browser: Browser, token: int
) -> None:
    response = manager_browser.post(
        item_path(form_queue, "correct"), {"token": str(token), "answer.about": "delivery"}
    )
    assert response.status_code == 422
    assert "Not saved yet:" in response.text
    assert form_queue.get("one").answers[0].result == ANSWER


def test_correction_of_replaced_answer_is_refused(
    form_queue: leaseq.Queue, manager_browser: Browser, token: int
) -> None:
    form_queue.reopen("one", token)
    response = manager_browser.get(item_path(form_queue, "correct"), query_string={"token": token})
    assert (response.status_code, "was replaced in the meantime" in response.text) == (409, True)
    fields = {"token": str(token), "answer.about": "delivery", "answer.urgent": "false"}
    response = manager_browser.post(item_path(form_queue, "correct"), fields)
    assert (response.status_code, "was replaced in the meantime" in response.text) == (422, True)


def test_reopen_and_correction_are_in_audit_log(
    form_queue: leaseq.Queue, manager_browser: Browser, token: int, sign_in_as: Callable[[str], Browser]
) -> None:
    fields: dict[str, Any] = {"token": str(token), "answer.about": "delivery", "answer.urgent": "false"}
    manager_browser.post(item_path(form_queue, "correct"), fields)
    (answer,) = form_queue.get("one").answers
    manager_browser.post(item_path(form_queue, "reopen"), {"token": str(answer.token), "reason": "once more"})
    log = sign_in_as("admin").get("/audit-log", query_string={"person": manager_browser.name}).text
    for text in ("corrected the answer to", "reopened", "once more"):
        assert text in log


def test_corrected_answer_is_not_listed_as_late(
    form_queue: leaseq.Queue, manager_browser: Browser, token: int
) -> None:
    form_queue.correct("one", token, ANSWER, by="meg")
    assert f'value="{token} one"' not in manager_browser.get(f"/manage/{form_queue.name}/late").text
