"""Prefilled questions on the work page."""

from __future__ import annotations

import html

import leaseq
from tests.web.conftest import FORM, Browser
from tests.web.elements import form_fields
from tests.web.manage.settings_calls import base
from tests.web.work_pages import path, take

PREFILL = {"about": "guess.about", "count": "guess.count", "note": "guess.note"}


def enqueue_guess(queue: leaseq.Queue) -> None:
    queue.configure(form={**FORM, "prefill": PREFILL})
    queue.enqueue({"guess": {"about": "refund", "count": 3, "note": "as <b>guessed</b>"}}, id="one")


def test_payload_prefills_form_unless_draft_exists(queue: leaseq.Queue, worker_browser: Browser) -> None:
    enqueue_guess(queue)
    take(queue, worker_browser)
    fields = form_fields(worker_browser.get(path(queue)).text, "answer")
    assert (fields["answer.about"], fields["answer.count"], fields["answer.note"]) == (
        "refund",
        "3",
        "as <b>guessed</b>",
    )
    lease = queue.mine(worker_browser.name)[0]
    queue.save_draft(lease, {"about": "other", "note": ""})
    fields = form_fields(worker_browser.get(path(queue)).text, "answer")
    assert (fields["answer.about"], fields.get("answer.count", ""), fields["answer.note"]) == (
        "other",
        "",
        "",
    )


def test_prefill_that_is_no_choice_selects_nothing(queue: leaseq.Queue, worker_browser: Browser) -> None:
    queue.configure(form={**FORM, "prefill": PREFILL})
    queue.enqueue({"guess": {"about": "something else", "count": "many"}}, id="one")
    take(queue, worker_browser)
    fields = form_fields(worker_browser.get(path(queue)).text, "answer")
    assert "answer.about" not in fields
    assert fields["answer.count"] == "many", "so that it can be seen and corrected"


def test_settings_warn_about_prefill_without_effect(queue: leaseq.Queue, manager_browser: Browser) -> None:
    queue.configure(form={**FORM, "prefill": {"subject": "guess.about", "note": "guess.note"}})
    queue.enqueue({"text": "x", "guess": {"about": 1}})
    page = html.unescape(manager_browser.get(base(queue)).text)
    assert "'subject' is not a question, so nothing is filled in." in page
    assert "None of the searched items has: guess.note." in page
